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
