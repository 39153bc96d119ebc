import { type AppendEvent, type Events, nextSequence } from '../../events/index.ts';
import { type Clock, dateFromMs } from '../../kernel/clock.ts';
import type { IngestSession, RefusalIssue } from '../../media/contract/index.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import type { StreamHealth } from '../../platform/db/json-columns.ts';
import { ANNOUNCED_MS, emitScheduled } from './emit.ts';
import { streamHealthChanged } from './events.ts';
import * as notices from './notices.repository.ts';
import type { StreamRow } from './repository.ts';
import * as repository from './repository.ts';
import { logStatus } from './status.ts';

interface Deps {
  db: Db;
  events: Events;
  clock: Clock;
}

/** `stream.health_changed` comes at most so often (docs/api/events.md). */
const HEALTH_MS = 60_000;

/**
 * Keeps the last measurement, and tells when the issues are others than those last told of. A change within
 * the minute is told with the first measurement after it.
 */
export async function reportHealth(deps: Deps, streamId: string, health: StreamHealth): Promise<void> {
  const { db, events, clock } = deps;
  const now = clock.now();
  const said = await db.transaction().execute(async (tx) => {
    const row = await notices.writeHealth(tx, streamId, JSON.stringify(health), now);
    if (row !== undefined) await logStatus(tx, { ...row, health: row.health_before }, row, now);
    return row;
  });
  const issues = [...new Set(health.issues)].sort();
  if (said === undefined || !isNews(said, issues, now)) return;
  await events.transaction(async (tx, append) => {
    const row = await repository.lockAnyStream(tx, streamId);
    if (row === undefined || row.deleted_at !== null || !isNews(row, issues, now)) return;
    await repository.updateStream(tx, streamId, { health_said_issues: issues, health_said_at: now });
    const sequence = await nextSequence(tx, 'stream', streamId);
    const data = { streamId, healthy: issues.length === 0, issues, sequence };
    await append(streamHealthChanged, row.workspace_id, data);
  });
}

/** The issue is the last word on a signal that has gone: in `health`, on its session, and as an event at once. */
export async function reportRefusal(deps: Deps, session: IngestSession, issue: RefusalIssue): Promise<void> {
  const { events, clock } = deps;
  const now = clock.now();
  await events.transaction(async (tx, append) => {
    const row = await repository.lockAnyStream(tx, session.streamId);
    const open = await repository.findIngest(tx, session.sessionId);
    if (row === undefined || row.deleted_at !== null || open === undefined || open.ended_at !== null) return;
    if (row.current_session_id !== null) {
      await repository.updateSession(tx, row.current_session_id, { error: issue });
    }
    await emitRefusal(tx, append, row, { session, issue, now });
  });
}

/** Under the lock of the stream: `health`, and `stream.health_changed` unless that was the last word already. */
export async function emitRefusal(
  tx: Tx,
  append: AppendEvent,
  row: StreamRow,
  { session, issue, now }: { session: IngestSession; issue: RefusalIssue; now: Date },
): Promise<void> {
  const { video, audio } = session;
  const { width = 0, height = 0, fps = 0 } = video ?? {};
  const codec = video?.codec ?? audio?.codec ?? '';
  const health: StreamHealth = { bitrateKbps: 0, fps, width, height, codec, issues: [issue] };
  await notices.keepRefusal(tx, row.id, JSON.stringify(health));
  await logStatus(tx, row, { ...row, health }, now);
  if (row.health_said_issues.join() === issue) return;
  await repository.updateStream(tx, row.id, { health_said_issues: [issue], health_said_at: now });
  const sequence = await nextSequence(tx, 'stream', row.id);
  const data = { streamId: row.id, healthy: false, issues: [issue], sequence };
  await append(streamHealthChanged, row.workspace_id, data);
}

function isNews(
  said: { health_said_issues: string[]; health_said_at: Date | null },
  issues: readonly string[],
  now: Date,
): boolean {
  const last = said.health_said_at?.getTime() ?? 0;
  return said.health_said_issues.join() !== issues.join() && now.getTime() - last >= HEALTH_MS;
}

/** `stream.scheduled` 15 minutes before each planned start. */
export async function announceUpcoming(deps: Deps, now: Date): Promise<void> {
  const horizon = dateFromMs(now.getTime() + ANNOUNCED_MS);
  for (const { id } of await notices.upcomingStreams(deps.db, now, horizon)) {
    await deps.events.transaction(async (tx, append) => {
      const row = await repository.lockAnyStream(tx, id);
      if (row === undefined || row.deleted_at !== null || row.scheduled_start_at === null) return;
      if (row.schedule_said_for?.getTime() === row.scheduled_start_at.getTime()) return;
      await emitScheduled(tx, append, row, now);
    });
  }
}
