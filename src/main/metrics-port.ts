import type { Logger } from '../platform/logger.ts';
import { metricsServer } from '../platform/metrics.ts';
import type { HeldPort } from './held-ports.ts';
import type { Closers, NodeState } from './lifecycle.ts';

interface MetricsPortOptions {
  log: Logger;
  port: HeldPort;
  closers: Closers;
  state: NodeState;
}

/** Serves the metrics, `/healthz` and `/readyz` of this node. */
export async function openMetrics(
  source: Parameters<typeof metricsServer>[0],
  { log, port, closers, state }: MetricsPortOptions,
): Promise<void> {
  const server = metricsServer(source, {
    status() {
      if (state.isStopping) return 'DRAINING';
      return state.isStarted && state.hasAllRoles() ? 'OK' : 'STARTING';
    },
  });
  await port.giveTo(server);
  log.info({ address: server.address() }, 'metrics are served');
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
}
