import type { Insertable } from 'kysely';
import { dateFromMs } from '../../src/kernel/clock.ts';
import type { Db } from '../../src/platform/db/index.ts';
import type {
  AnalyticsBreakdownDimension,
  AnalyticsBreakdownTable,
  AnalyticsTotalTable,
} from '../../src/platform/db/tables.generated.ts';

type Measures = Partial<
  Omit<
    Insertable<AnalyticsTotalTable>,
    'workspace_id' | 'subject_kind' | 'subject_id' | 'interval_min' | 'at' | 'is_owner' | 'peak_viewers'
  >
>;

/** Measures counted at one time, for a video or stream, or only for the account. */
export interface Counted {
  at: string | Date;
  subject?: { kind: 'VIDEO' | 'STREAM'; id: string };
  isSelf?: boolean;
  sums: Measures & { peak_viewers?: number };
  /** Breakdown values of the viewer. */
  shares?: Partial<Record<AnalyticsBreakdownDimension, string>>;
}

const QUARTER_MS = 900_000;

/**
 * Adds to the quarter-hour rollups of the subject and of its account; the worker recreates those of longer
 * intervals.
 */
export async function addSums(db: Db, workspaceId: string, counted: readonly Counted[]): Promise<void> {
  const totals = new Map<string, Insertable<AnalyticsTotalTable>>();
  const shares = new Map<string, Insertable<AnalyticsBreakdownTable>>();
  for (const { at, subject, isSelf = false, sums, shares: by = {} } of counted) {
    const ms = typeof at === 'string' ? Date.parse(at) : at.getTime();
    const account = { kind: 'ACCOUNT', id: '' } as const;
    for (const { kind, id } of subject === undefined ? [account] : [account, subject]) {
      const row = {
        workspace_id: workspaceId,
        subject_kind: kind,
        subject_id: id,
        interval_min: 15,
        at: dateFromMs(Math.floor(ms / QUARTER_MS) * QUARTER_MS),
        is_owner: isSelf,
      } as const;
      add(totals, { ...row, ...sums });
      const { views = 0, unique_viewers = 0, watch_ms = 0 } = sums;
      for (const [name, value] of Object.entries(by)) {
        add(shares, { ...row, dimension: dimension(name), value, views, unique_viewers, watch_ms });
      }
    }
  }
  await db.transaction().execute(async (tx) => {
    await tx.updateTable('rollup_state').set({ compacted_until: null }).execute();
    if (totals.size > 0)
      await tx
        .insertInto('analytics_total')
        .values([...totals.values()])
        .execute();
    if (shares.size > 0)
      await tx
        .insertInto('analytics_breakdown')
        .values([...shares.values()])
        .execute();
  });
}

function dimension(name: string): AnalyticsBreakdownDimension {
  const names = ['country', 'device', 'browser', 'os', 'referrer', 'quality', 'source'] as const;
  const known = names.find((one) => one === name);
  if (known === undefined) throw new Error(`nothing is counted by ${name}`);
  return known;
}

const KEYS = [
  'workspace_id',
  'subject_kind',
  'subject_id',
  'interval_min',
  'at',
  'is_owner',
  'dimension',
  'value',
];

/** Numbers that are no part of the key are added up; of the peak the highest counts. */
function add<R extends { at: unknown }>(rows: Map<string, R>, row: R): void {
  const cells = Object.entries<unknown>(row);
  const key = JSON.stringify(cells.filter(([name]) => KEYS.includes(name)));
  const before = new Map<string, unknown>(Object.entries(rows.get(key) ?? {}));
  const sums = cells.map(([name, value]) => {
    const old = before.get(name);
    before.delete(name);
    if (KEYS.includes(name) || typeof value !== 'number' || typeof old !== 'number') return [name, value];
    return [name, name === 'peak_viewers' ? Math.max(old, value) : old + value];
  });
  rows.set(key, Object.assign({}, row, Object.fromEntries([...before, ...sums])));
}
