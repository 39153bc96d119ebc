import { type AppendEvent, type Events, nextSequence } from '../../../events/index.ts';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import type { IngestSession, RejectionIssue } from '../../../media/contract/index.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { StreamHealth } from '../../../platform/db/json-columns.ts';
import { emitScheduled, SCHEDULE_NOTICE_MS } from './emit.ts';
import { streamHealthChanged } from './events.ts';
import * as health from './health.repository.ts';
import type { StreamRow } from './repository.ts';
import * as repository from './repository.ts';
import { logStatus } from './status.ts';
import * as notices from './stream-notifications.repository.ts';

interface Deps {
  db: Db;
  events: Events;
  clock: Clock;
}

/** Minimum interval between `stream.health_changed` events (docs/concepts/events.md). */
const HEALTH_MS = 60_000;
/** Silence after which a source of measurements is unreachable; measurements come every five seconds. */
const UNMEASURED_MS = 12_000;
const UNMEASURED = 'NO_MEASUREMENT';

/** Last emitted health, and the time at which a suppressed change is due. */
type EmittedHealth = Pick<StreamRow, 'notified_health_issues' | 'health_notified_at' | 'health_notify_at'>;

/** Stores the last measurement, and emits an event when the issues differ from the last emitted ones. */
export async function reportHealth(deps: Deps, streamId: string, measured: StreamHealth): Promise<void> {
  const now = deps.clock.now();
  const said = await deps.db.transaction().execute(async (tx) => {
    const row = await notices.writeHealth(tx, streamId, JSON.stringify(measured), now);
    if (row !== undefined) await logStatus(tx, { ...row, health: row.health_before }, row, now);
    return row;
  });
  if (said !== undefined && !isTold(said, measured.issues, now)) await tellHealth(deps, streamId, now);
}

/** Reports whether there is nothing to write: the issues were emitted, or will be when they are due. */
function isTold(said: EmittedHealth, issues: readonly string[], now: Date): boolean {
  if (isSame(said, issues)) return said.health_notify_at === null;
  return said.health_notify_at !== null && said.health_notify_at > now && !mayTell(said, now);
}

function isSame(said: EmittedHealth, issues: readonly string[]): boolean {
  return said.notified_health_issues.join() === wordsOf(issues).join();
}

function wordsOf(issues: readonly string[]): string[] {
  return [...new Set(issues)].sort();
}

/** Reports whether an event may be emitted now, including after the clock was set back. */
function mayTell({ health_notified_at: at }: EmittedHealth, now: Date): boolean {
  return at === null || Math.abs(now.getTime() - at.getTime()) >= HEALTH_MS;
}

async function tellHealth({ events }: Deps, streamId: string, now: Date): Promise<void> {
  await events.transaction(async (tx, append) => {
    const row = await repository.lockAnyStream(tx, streamId);
    if (row !== undefined) await tellLocked(tx, append, row, now);
  });
}

/**
 * Emits the health under the lock of the stream when it is new and a minute has passed since the last event.
 * Otherwise schedules another check, so that a receiver never keeps a wrong state.
 */
async function tellLocked(tx: Tx, append: AppendEvent, row: StreamRow, now: Date): Promise<void> {
  const issues = wordsOf(row.health?.issues ?? row.notified_health_issues);
  if (row.deleted_at !== null || isSame(row, issues)) {
    if (row.health_notify_at !== null) await repository.updateStream(tx, row.id, { health_notify_at: null });
    return;
  }
  if (!mayTell(row, now)) {
    const dueMs = Math.min(row.health_notified_at?.getTime() ?? 0, now.getTime()) + HEALTH_MS;
    await repository.updateStream(tx, row.id, { health_notify_at: dateFromMs(dueMs) });
    return;
  }
  const change = { notified_health_issues: issues, health_notified_at: now, health_notify_at: null };
  await repository.updateStream(tx, row.id, change);
  const sequence = await nextSequence(tx, 'stream', row.id);
  const data = { streamId: row.id, healthy: issues.length === 0, issues, sequence };
  await append(streamHealthChanged, row.workspace_id, data);
}

/** Marks streams that are no longer measured as unhealthy, and emits health changes that are due. */
export async function sweepHealth(deps: Deps, now: Date): Promise<void> {
  const { db } = deps;
  const deadline = dateFromMs(now.getTime() - UNMEASURED_MS);
  for (const { id } of await health.selectUnmeasured(db, deadline, UNMEASURED).execute()) {
    await missHealth(deps, id, { deadline, now });
  }
  for (const { id } of await health.selectDueHealth(db, now).execute()) await tellHealth(deps, id, now);
}

/** Selects the streams that `sweepHealth` and `announceUpcoming` process. */
export function selectNotices(db: Db, now: Date) {
  return [
    health.selectUnmeasured(db, dateFromMs(now.getTime() - UNMEASURED_MS), UNMEASURED),
    health.selectDueHealth(db, now),
    notices.selectUpcoming(db, now, dateFromMs(now.getTime() + SCHEDULE_NOTICE_MS)),
  ];
}

async function missHealth(
  { events }: Deps,
  streamId: string,
  { deadline, now }: { deadline: Date; now: Date },
) {
  await events.transaction(async (tx, append) => {
    const row = await repository.lockAnyStream(tx, streamId);
    // The stream was measured in between, or is deleted.
    if (!row?.has_signal || row.last_signal_at === null || row.last_signal_at >= deadline) return;
    const last = unmeasured(row.health);
    await notices.setFinalHealth(tx, streamId, JSON.stringify(last));
    await logStatus(tx, row, { ...row, health: last }, now);
    await tellLocked(tx, append, { ...row, health: last }, now);
  });
}

function unmeasured(last: StreamHealth | null): StreamHealth {
  const { width = 0, height = 0, codec = '' } = last ?? {};
  return { ...NOTHING, width, height, codec, issues: [UNMEASURED] };
}

const NOTHING = {
  bitrateKbps: 0,
  fps: 0,
  keyframeIntervalSec: null,
  droppedFrames: 0,
  lateFrames: 0,
  avDriftMs: null,
};

/** Records the issue as the final state of the ended signal: in `health`, on its session, and as an event. */
export async function recordRejection(
  deps: Deps,
  session: IngestSession,
  issue: RejectionIssue,
): Promise<void> {
  const { events, clock } = deps;
  const now = clock.now();
  await events.transaction(async (tx, append) => {
    const row = await repository.lockAnyStream(tx, session.streamId);
    const open = await repository.findIngest(tx, session.sessionId);
    if (row === undefined || row.deleted_at !== null || open === undefined || open.ended_at !== null) return;
    if (row.current_session_id !== null) {
      await repository.setSessionError(tx, row.current_session_id, issue);
    }
    await emitRejection(tx, append, row, { session, issue, now });
  });
}

/** Writes `health` under the lock of the stream, and emits `stream.health_changed` unless it is unchanged. */
export async function emitRejection(
  tx: Tx,
  append: AppendEvent,
  row: StreamRow,
  {
    session,
    issue,
    now,
  }: { session: Pick<IngestSession, 'video' | 'audio'>; issue: RejectionIssue; now: Date },
): Promise<void> {
  const { video, audio } = session;
  const { width = 0, height = 0, fps = 0 } = video ?? {};
  const codec = video?.codec ?? audio?.codec ?? '';
  const last: StreamHealth = { ...NOTHING, fps, width, height, codec, issues: [issue] };
  await notices.setFinalHealth(tx, row.id, JSON.stringify(last));
  await logStatus(tx, row, { ...row, health: last }, now);
  await tellLocked(tx, append, { ...row, health: last }, now);
}

/** Emits `stream.scheduled` 15 minutes before each planned start. */
export async function announceUpcoming(deps: Deps, now: Date): Promise<void> {
  const horizon = dateFromMs(now.getTime() + SCHEDULE_NOTICE_MS);
  for (const { id } of await notices.selectUpcoming(deps.db, now, horizon).execute()) {
    await deps.events.transaction(async (tx, append) => {
      const row = await repository.lockAnyStream(tx, id);
      if (row === undefined || row.deleted_at !== null || row.scheduled_start_at === null) return;
      if (row.schedule_notified_for?.getTime() === row.scheduled_start_at.getTime()) return;
      await emitScheduled(tx, append, row, now);
    });
  }
}
