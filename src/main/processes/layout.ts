import type { Config } from '../../platform/config.ts';

/** Reports whether a role of this node has several processes (docs/decisions/processes.md). */
export function hasSeveralProcesses(config: Config): boolean {
  return (
    countOf(config, 'api') > 1 ||
    countOf(config, 'worker') > 1 ||
    (config.ROLES.includes('media') && config.MEDIA_PROCESSES > 1)
  );
}

/** Returns the number of processes of a role on this node. */
export function countOf(config: Config, role: 'api' | 'worker'): number {
  if (!config.ROLES.includes(role)) return 0;
  return role === 'api' ? config.API_PROCESSES : config.WORKER_PROCESSES;
}

/** Connections of a process besides its pool: for notifications, probes and counts. */
const EXTRA_CONNECTIONS = 3;

/** Returns the maximum database connections of this node. */
export function maxConnections(config: Config): number {
  const media = config.ROLES.includes('media') ? config.MEDIA_PROCESSES : 0;
  // The first process, or the one that runs the API and the worker, counts once.
  const processes = countOf(config, 'api') + countOf(config, 'worker') + media + 1;
  return processes * (config.DATABASE_POOL + EXTRA_CONNECTIONS);
}
