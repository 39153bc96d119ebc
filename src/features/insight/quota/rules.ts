import type { PlanLimits, ResourceKey } from '../../../kernel/plans.ts';

export const UNITS = ['BYTES', 'COUNT', 'MINUTES'] as const;

/** Meter of one resource, provided by the feature that owns it. */
export interface ResourceMeter {
  key: ResourceKey;
  unit: (typeof UNITS)[number];
  /** Returns the limit of the plan; null: unlimited. */
  limit(plan: PlanLimits): number | null;
  used(workspaceId: string): Promise<number>;
  /** Returns when `used` restarts; absent: it falls as things end. */
  resetsAt?(): Date;
  /** Shared by both workspaces of the account: only the live one emits events. */
  isOfAccount?: true;
  /**
   * Period of one event per level, for concurrent use, which rises and falls by itself. Default: until usage
   * falls.
   */
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

/**
 * Returns the reading of a resource. Usage may exceed the limit: the operator creates keys without it, and
 * plans change.
 */
export function readingOf(meter: ResourceMeter, limit: number | null, used: number): Reading {
  const { key, unit } = meter;
  const remaining = limit === null ? null : Math.max(0, limit - used);
  return { key, unit, limit, used, remaining, resetsAt: meter.resetsAt?.() ?? null };
}

export const NOTIFICATION_LEVELS = [80, 95, 100] as const;

/** Emitted level of a resource of a workspace in its period. */
export interface NotifiedState {
  /** Highest emitted level; 0 for none. */
  told: number;
  /** Usage at that time. */
  toldUsed: number;
  /** Limit of the plan at that time. */
  toldLimit: number;
  periodStart: Date | null;
}

export interface QuotaStatus {
  used: number;
  limit: number;
  /** Whether a request for more was just rejected. */
  isRefused: boolean;
  /** Start of the period; null for usage that falls as things are deleted. */
  periodStart: Date | null;
}

/**
 * Returns the event to emit and the new state: each level once per period, or until usage falls below it or
 * the limit is raised. A rejection emits level 100 at any usage, and holds until usage falls below its value
 * then.
 *
 * @returns null when nothing changes.
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

/** Lowers the emitted level under a higher limit, where the earlier usage is a smaller share. */
function underLimit(before: NotifiedState, limit: number): NotifiedState {
  if (limit <= before.toldLimit) return before;
  return { ...before, told: Math.min(before.told, levelOf(before.toldUsed, limit)), toldLimit: limit };
}

/**
 * Returns the level of a usage. A limit of one is reached by normal use, so only a rejection emits an event.
 */
function levelOf(used: number, limit: number): number {
  return limit === 1 ? 0 : (NOTIFICATION_LEVELS.findLast((one) => used * 100 >= one * limit) ?? 0);
}
