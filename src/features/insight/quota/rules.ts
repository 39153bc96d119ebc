import type { PlanLimits, ResourceKey } from '../../../kernel/plans.ts';

export const UNITS = ['BYTES', 'COUNT', 'MINUTES'] as const;

/** One resource, as the feature that owns it counts it. */
export interface ResourceMeter {
  key: ResourceKey;
  unit: (typeof UNITS)[number];
  /** null: unlimited. */
  limit(plan: PlanLimits): number | null;
  used(workspaceId: string): Promise<number>;
  /** When `used` begins anew; without, it falls as things end. */
  resetsAt?(): Date;
  /** Both of its workspaces share it: the live one is told. */
  isOfAccount?: true;
  /** How long what was told of it holds: what is on at once rises and falls by itself. Default: until it fell. */
  toldFor?: 'DAY' | 'MONTH';
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
export function readingOf(meter: ResourceMeter, limit: number | null, used: number): Reading {
  const { key, unit } = meter;
  const remaining = limit === null ? null : Math.max(0, limit - used);
  return { key, unit, limit, used, remaining, resetsAt: meter.resetsAt?.() ?? null };
}

export const NOTIFICATION_LEVELS = [80, 95, 100] as const;

/** What was told of a resource of a workspace, in its period. */
export interface NotifiedState {
  /** The highest level; 0 for none. */
  told: number;
  /** What was used then. */
  toldUsed: number;
  /** What the plan had then. */
  toldLimit: number;
  periodStart: Date | null;
}

export interface QuotaStatus {
  used: number;
  limit: number;
  /** More of it was refused just now. */
  isRefused: boolean;
  /** Null for what falls as things are removed. */
  periodStart: Date | null;
}

/**
 * What there is to tell, and what is told from then on: each level once in a period, or until it fell below, or the
 * limit was raised. After a refusal, which tells 100 whatever is used, that is when less is used than then.
 *
 * @returns null where nothing changes.
 */
export function nextNotification(
  before: NotifiedState | undefined,
  { used, limit, isRefused, periodStart }: QuotaStatus,
): { after: NotifiedState; level: number | null } | null {
  const isSamePeriod = before?.periodStart?.getTime() === periodStart?.getTime();
  const known = before !== undefined && isSamePeriod ? underLimit(before, limit) : undefined;
  const told = known?.told ?? 0;
  const reached = isRefused ? 100 : levelOf(used, limit);
  const after = { told: reached, toldUsed: used, toldLimit: limit, periodStart };
  if (reached > told) return { after, level: reached };
  if (known === undefined) return null;
  const hasFallen = periodStart === null && reached < told && used < known.toldUsed;
  if (hasFallen) return { after, level: null };
  return known === before ? null : { after: known, level: null };
}

/** Under a higher limit what was used then stands for less, and so does what was told. */
function underLimit(before: NotifiedState, limit: number): NotifiedState {
  if (limit <= before.toldLimit) return before;
  return { ...before, told: Math.min(before.told, levelOf(before.toldUsed, limit)), toldLimit: limit };
}

/** A limit of one is full by being used: there, only a refusal is news. */
function levelOf(used: number, limit: number): number {
  return limit === 1 ? 0 : (NOTIFICATION_LEVELS.findLast((one) => used * 100 >= one * limit) ?? 0);
}
