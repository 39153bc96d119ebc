import type { FeatureModule, Service } from '../features/module.ts';

/** Cleanup functions, run in reverse order, so that nothing is closed under what still needs it. */
export type Closers = (() => Promise<void> | void)[];

/** What the probes of this node report. */
export interface NodeState {
  /** The start is complete. */
  isStarted: boolean;
  /** Reports whether each role has a running process. */
  hasAllRoles(): boolean;
  isStopping: boolean;
}

export function startServices(modules: readonly FeatureModule[], role: 'api' | 'worker'): Service[] {
  return modules.flatMap(({ services }) => services?.[role]?.() ?? []);
}

/** @param others of the role that stop with them. */
export async function stopServices(
  services: readonly Service[],
  others: readonly Required<Pick<Service, 'stop'>>[] = [],
): Promise<void> {
  await Promise.all([...services, ...others].map((service) => service.stop?.()));
  for (const service of services) await service.dispose?.();
}

/** The database has just been migrated. */
export async function notifyMigrated(modules: readonly FeatureModule[]): Promise<void> {
  for (const module of modules) await module.onMigrated?.();
}

/** Recovers the modules on the embedded database, before the role starts. */
export async function recover(modules: readonly FeatureModule[], role: 'api' | 'worker'): Promise<void> {
  for (const module of modules) await module.recover?.[role]?.();
}
