import { createRequestLog, requestLogRoutes } from '../../features/request-log/index.ts';
import type { Tally } from '../../features/usage/index.ts';
import { BASE_PATH } from '../../http/app.ts';
import type { RequestRecorder } from '../../http/ports.ts';
import type { Built } from '../part.ts';
import type { Base } from '../wiring.ts';

export function requestLogPart(base: Base & { tally: Tally }): Built<{ requestLog: RequestRecorder }> {
  const { config, metrics, cursors, tally } = base;
  const requestLog = createRequestLog({
    ...base,
    basePath: BASE_PATH,
    isOn: config.REQUEST_LOG,
    onDropped: metrics.requestsUnrecorded,
  });
  return {
    gives: {
      requestLog: {
        note: requestLog.note,
        count: (request) => tally.add({ kind: 'REQUEST', ...request, amount: 1 }),
      },
    },
    part: {
      routes: () => requestLogRoutes({ requestLog, cursors }),
      services: { api: () => ({ leave: () => requestLog.close() }) },
    },
  };
}
