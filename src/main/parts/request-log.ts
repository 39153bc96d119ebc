import { createRequestLog, type RequestLog, requestLogRoutes } from '../../features/request-log/index.ts';
import { BASE_PATH } from '../../http/app.ts';
import type { Built } from '../part.ts';
import type { Base } from '../wiring.ts';

export function requestLogPart(base: Base): Built<{ requestLog: RequestLog }> {
  const { config, metrics, cursors } = base;
  const requestLog = createRequestLog({
    ...base,
    basePath: BASE_PATH,
    isOn: config.REQUEST_LOG,
    onDropped: metrics.requestsUnrecorded,
  });
  return {
    gives: { requestLog },
    part: {
      routes: () => requestLogRoutes({ requestLog, cursors }),
      services: { api: () => ({ leave: () => requestLog.close() }) },
    },
  };
}
