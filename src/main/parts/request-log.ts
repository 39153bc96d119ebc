import type { UsageAggregator } from '../../features/insight/usage/index.ts';
import { createRequestLog, requestLogRoutes } from '../../features/integration/request-log/index.ts';
import { BASE_PATH } from '../../http/app.ts';
import type { RequestRecorder } from '../../http/ports.ts';
import type { ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

export function requestLogPart(
  base: BaseContext & { tally: UsageAggregator },
): ModuleWithExports<{ requestLog: RequestRecorder }> {
  const { config, metrics, cursors, tally } = base;
  const requestLog = createRequestLog({
    ...base,
    basePath: BASE_PATH,
    isOn: config.REQUEST_LOG,
    onRowsDropped: metrics.requestsUnrecorded,
  });
  return {
    exports: {
      requestLog: {
        note: requestLog.note,
        count: (request) => tally.add({ kind: 'REQUEST', ...request, amount: 1 }),
      },
    },
    module: {
      routes: () => requestLogRoutes({ requestLog, cursors }),
      services: { api: () => ({ dispose: () => requestLog.close() }) },
    },
  };
}
