import type { PlanLimits } from '../../kernel/plans.ts';

/** What plans count. */
export const RESOURCE_KEYS = [
  'STORAGE_BYTES',
  'OPEN_UPLOADS',
  'CONCURRENT_STREAMS',
  'ENCODERS',
  'RESTREAM_TARGETS',
  'ROOM_PARTICIPANTS',
  'ROOM_MINUTES',
  'TEAM_SEATS',
  'WEBHOOKS',
  'API_KEYS',
  'INTEGRATION_DOMAINS',
] as const;
export type ResourceKey = (typeof RESOURCE_KEYS)[number];

export const UNITS = ['BYTES', 'COUNT', 'MINUTES'] as const;

/** One resource, as the feature that owns it counts it. */
export interface Meter {
  key: ResourceKey;
  unit: (typeof UNITS)[number];
  /** null: unlimited. */
  limit(plan: PlanLimits): number | null;
  used(workspaceId: string): Promise<number>;
  /** When `used` begins anew; without, it falls as things end. */
  resetsAt?(): Date;
}

export interface Reading {
  key: ResourceKey;
  unit: (typeof UNITS)[number];
  limit: number | null;
  used: number;
  remaining: number | null;
  resetsAt: Date | null;
}

/** More may be used than the plan includes: the operator makes keys without it, and plans change. */
export function readingOf(meter: Meter, limit: number | null, used: number): Reading {
  const { key, unit } = meter;
  const remaining = limit === null ? null : Math.max(0, limit - used);
  return { key, unit, limit, used, remaining, resetsAt: meter.resetsAt?.() ?? null };
}
