import { appendToLog } from '../../../events/stream-log.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { RestreamRow, TargetRow } from './repository.ts';
import * as repository from './repository.ts';
import { restreamStatus } from './rules.ts';
import { showRestream, toTarget } from './schemas.ts';

// Restream entries in the tail of a stream (docs/concepts/tails.md#restreams).

const place = (streamId: string) => ({ streamId, tail: 'RESTREAM' as const });

function restreamBody(row: RestreamRow, targets: TargetRow[], isDeleted: boolean, at: Date) {
  const restream = showRestream({ row, targets });
  return { streamId: row.stream_id, restream, deleted: isDeleted, at: at.toISOString() };
}

/** Appends the new state of a restream and its targets to the log, under its lock. */
export async function logRestream(
  tx: Tx,
  { id }: { id: string },
  now: Date,
  isDeleted = false,
): Promise<void> {
  const row = await repository.lockAnyRestream(tx, id);
  if (row === undefined) return;
  const targets = await repository.targetsOf(tx, [id]);
  const body = restreamBody(row, targets, isDeleted, now);
  await appendToLog(tx, place(row.stream_id), 'restream', { body: () => body, at: now });
}

/** Appends the new state of a target to the log, under the lock of its restream. */
export async function logTarget(tx: Tx, row: RestreamRow, target: TargetRow, now: Date): Promise<void> {
  const targets = await repository.targetsOf(tx, [row.id]);
  const body = {
    streamId: row.stream_id,
    restreamId: row.id,
    restreamStatus: restreamStatus(row, targets),
    target: toTarget(target),
    at: now.toISOString(),
  };
  await appendToLog(tx, place(row.stream_id), 'restream_target', { body: () => body, at: now });
}

/** Returns the current restreams of a stream for a new tail. */
export async function restreamSnapshot(
  { db, clock }: { db: Db; clock: Clock },
  streamId: string,
): Promise<{ event: string; body: object }[]> {
  const rows = await repository.listByStream(db, streamId);
  const targets = await repository.targetsOf(
    db,
    rows.map(({ id }) => id),
  );
  const at = clock.now();
  return rows.map((row) => {
    const own = targets.filter(({ restream_id: restreamId }) => restreamId === row.id);
    return { event: 'restream', body: restreamBody(row, own, false, at) };
  });
}
