import type { Clock } from '../../../kernel/clock.ts';
import { normalizeTimezone } from '../../../kernel/timezone.ts';
import type { Db } from '../../../platform/db/index.ts';
import { timezoneOf } from '../../../platform/db/workspace.ts';
import type { AvailabilityRow } from './repository.ts';
import * as repository from './repository.ts';
import { type AvailabilityRules, parseBlackouts, parseWeekly } from './rules.ts';
import type { AvailabilityIn } from './schemas.ts';

/** When the creators of workspaces have time (docs/concepts/booking-availability.md). */
export interface Availability {
  /** Returns the stored rules, or the defaults. */
  of(db: Db, workspaceId: string): Promise<AvailabilityRules>;
  /**
   * Replaces the rules; omitted fields get their defaults.
   *
   * @throws {AppError} BAD_REQUEST naming the input.
   */
  put(workspaceId: string, input: AvailabilityIn): Promise<AvailabilityRules>;
}

const DEFAULTS = { minNoticeMin: 60, maxAdvanceDays: 60 } as const;

export function createAvailability({ db, clock }: { db: Db; clock: Clock }): Availability {
  return {
    of: availabilityOf,
    put: (workspaceId, input) =>
      db.transaction().execute(async (tx) => {
        const timezone = normalizeTimezone(input.timezone ?? (await timezoneOf(tx, workspaceId)));
        const row = await repository.upsertAvailability(tx, {
          workspace_id: workspaceId,
          weekly: parseWeekly(input.weeklyJson),
          timezone,
          blackouts: JSON.stringify(parseBlackouts(input.blackoutsJson ?? [], timezone)),
          min_notice_min: input.minNoticeMin ?? DEFAULTS.minNoticeMin,
          max_advance_days: input.maxAdvanceDays ?? DEFAULTS.maxAdvanceDays,
          updated_at: clock.now(),
        });
        return fromRow(row);
      }),
  };
}

async function availabilityOf(db: Db, workspaceId: string): Promise<AvailabilityRules> {
  const row = await repository.findAvailability(db, workspaceId);
  if (row !== undefined) return fromRow(row);
  const timezone = await timezoneOf(db, workspaceId);
  return { weekly: {}, timezone, blackouts: [], ...DEFAULTS, updatedAt: null };
}

/** Reports whether any weekday has an availability window. */
export async function hasWindows(db: Db, workspaceId: string): Promise<boolean> {
  const { weekly } = await availabilityOf(db, workspaceId);
  return Object.values(weekly).some((windows) => windows.length > 0);
}

function fromRow(row: AvailabilityRow): AvailabilityRules {
  return {
    weekly: parseWeekly(row.weekly),
    timezone: row.timezone,
    blackouts: row.blackouts,
    minNoticeMin: row.min_notice_min,
    maxAdvanceDays: row.max_advance_days,
    updatedAt: row.updated_at,
  };
}
