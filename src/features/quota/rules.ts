import type { PlanLimits } from '../../kernel/plans.ts';

/** What plans count. */
export const RESOURCE_KEYS = [
  'STORAGE_BYTES',
  'OPEN_UPLOADS',
  'CONCURRENT_STREAMS',
  'ENCODERS',
  'RESTREAM_TARGETS',
  'ROOM_PARTICIPANTS',
  'WEBHOOKS',
  'API_KEYS',
  'INTEGRATION_DOMAINS',
] as const;
export type ResourceKey = (typeof RESOURCE_KEYS)[number];

export const UNITS = ['BYTES', 'COUNT'] as const;

/** One resource, as the feature that owns it counts it. */
export interface Meter {
  key: ResourceKey;
  unit: (typeof UNITS)[number];
  limit(plan: PlanLimits): number;
  used(workspaceId: string): Promise<number>;
}

export interface Reading {
  key: ResourceKey;
  unit: (typeof UNITS)[number];
  limit: number;
  used: number;
  remaining: number;
}

/** More may be used than the plan includes: the operator makes keys without it, and plans change. */
export function readingOf({ key, unit }: Meter, limit: number, used: number): Reading {
  return { key, unit, limit, used, remaining: Math.max(0, limit - used) };
}
