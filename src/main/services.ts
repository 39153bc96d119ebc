import type { Part, Service } from './part.ts';

export function startServices(parts: readonly Part[], role: 'api' | 'worker'): Service[] {
  return parts.flatMap(({ services }) => services?.[role]?.() ?? []);
}

/** @param others of the role that stop with them. */
export async function endServices(
  services: readonly Service[],
  others: readonly Required<Pick<Service, 'stop'>>[] = [],
): Promise<void> {
  await Promise.all([...services, ...others].map((service) => service.stop?.()));
  for (const service of services) await service.leave?.();
}

/** The database has just been migrated. */
export async function tellMigrated(parts: readonly Part[]): Promise<void> {
  for (const part of parts) await part.migrated?.();
}

/** On the embedded database, before the role starts. */
export async function recover(parts: readonly Part[], role: 'api' | 'worker'): Promise<void> {
  for (const part of parts) await part.recover?.[role]?.();
}
