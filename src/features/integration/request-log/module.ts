/** Responses to each workspace's requests, `/me/requests`: the last 7 days. */
import { BASE_PATH } from '../../../http/app.ts';
import type { RequestRecorder } from '../../../http/ports.ts';
import type { UsageAggregator } from '../../insight/usage/index.ts';
import type { FeatureModule } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import { requestLogRoutes } from './routes.ts';
import { createRequestLog } from './service.ts';

interface RequestLogDeps extends Pick<Platform, 'clock' | 'config' | 'cursors' | 'db' | 'log' | 'metrics'> {
  tally: UsageAggregator;
}

export function createRequestLogModule(
  deps: RequestLogDeps,
): FeatureModule & { requestLog: RequestRecorder } {
  const { config, metrics, cursors, tally } = deps;
  const requestLog = createRequestLog({
    ...deps,
    basePath: BASE_PATH,
    isOn: config.REQUEST_LOG,
    onRowsDropped: metrics.requestsUnrecorded,
  });
  return {
    requestLog: {
      note: requestLog.note,
      count: (request) => tally.add({ kind: 'REQUEST', ...request, amount: 1 }),
    },

    routes: () => requestLogRoutes({ requestLog, cursors }),
    services: { api: () => ({ dispose: () => requestLog.close() }) },
  };
}
