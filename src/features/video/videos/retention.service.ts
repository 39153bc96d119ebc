import { type Events, nextSequence } from '../../../events/index.ts';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import { AppError } from '../../../kernel/errors.ts';
import { PLANS } from '../../../kernel/plans.ts';
import type { Db } from '../../../platform/db/index.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import { videoExpiring } from './events.ts';
import type { AgingRecording } from './repository.ts';
import * as repository from './repository.ts';

/** Time between the notification of the owner and the deletion of a recording. */
const NOTICE_MS = 7 * DAY_MS;

/** Retention of recordings, which depends on the plan (docs/concepts/plans.md#recordings). */
export interface Retention {
  /**
   * Notifies owners of recordings that will be deleted in seven days, and deletes those past their retention.
   */
  run(): Promise<void>;
}

interface Deps {
  db: Db;
  events: Events;
  clock: Clock;
  /** @throws {AppError} NOT_FOUND. */
  remove(workspaceId: string, id: string): Promise<void>;
  /** Returns those of the videos that a buyer has paid for and may still watch. */
  paidVideos(db: Db, ids: readonly string[], now: Date): Promise<Set<string>>;
}

export function createRetention(deps: Deps): Retention {
  const { db, clock, paidVideos } = deps;
  return {
    async run() {
      for (const plan of VALUES.account.plan) {
        const days = PLANS[plan].recordingRetentionDays;
        if (days === null) continue;
        const keptMs = days * DAY_MS;
        for (let after = ''; ; ) {
          const now = clock.now();
          const before = dateFromMs(now.getTime() - keptMs + NOTICE_MS);
          const rows: AgingRecording[] = await repository.agingRecordings(db, plan, before, after);
          const ids = rows.map(({ id }) => id);
          const paid = await paidVideos(db, ids, now);
          for (const row of rows) if (!paid.has(row.id)) await age(deps, row, keptMs);
          const last = rows.at(-1);
          if (last === undefined || rows.length < repository.BATCH) break;
          after = last.id;
        }
      }
    },
  };
}

/**
 * Deletes a recording only when its owner was notified seven days before, for this plan: after a downgrade
 * the time starts again.
 */
async function age(deps: Deps, row: AgingRecording, keptMs: number): Promise<void> {
  const nowMs = deps.clock.ms();
  const until = dateFromMs(row.created_at.getTime() + keptMs);
  const { retention_notified_at: saidAt, retention_notified_for: saidFor } = row;
  if (saidAt === null || saidFor?.getTime() !== until.getTime()) return notifyOwner(deps, row, until);
  if (until.getTime() >= nowMs || saidAt.getTime() + NOTICE_MS >= nowMs) return;
  // Another worker, or its owner, may have been faster.
  await deps.remove(row.workspace_id, row.id).catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error;
  });
}

async function notifyOwner(
  { events, clock }: Deps,
  { id, workspace_id }: AgingRecording,
  until: Date,
): Promise<void> {
  await events.transaction(async (tx, append) => {
    const row = await repository.lockVideo(tx, workspace_id, id);
    if (row === undefined || row.retention_notified_for?.getTime() === until.getTime()) return;
    const now = clock.now();
    await repository.updateVideo(tx, id, { retention_notified_at: now, retention_notified_for: until });
    const deletesAt = dateFromMs(Math.max(until.getTime(), now.getTime() + NOTICE_MS));
    await append(videoExpiring, workspace_id, {
      videoId: id,
      title: row.title,
      deletesAt: deletesAt.toISOString(),
      sequence: await nextSequence(tx, 'video', id),
    });
  });
}
