import type { FeatureModule, Service } from './feature-module.ts';

export function startServices(parts: readonly FeatureModule[], role: 'api' | 'worker'): Service[] {
  return parts.flatMap(({ services }) => services?.[role]?.() ?? []);
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
export async function notifyMigrated(parts: readonly FeatureModule[]): Promise<void> {
  for (const part of parts) await part.onMigrated?.();
}

/** Recovers the modules on the embedded database, before the role starts. */
export async function recover(parts: readonly FeatureModule[], role: 'api' | 'worker'): Promise<void> {
  for (const part of parts) await part.recover?.[role]?.();
}
