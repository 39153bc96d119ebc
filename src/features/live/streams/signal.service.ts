import type { AppendEvent, Events } from '../../../events/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import type { AppError } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import { PLANS } from '../../../kernel/plans.ts';
import type {
  IngestEnd,
  IngestSession,
  PublishGrant,
  PublishRequest,
  RejectionIssue,
} from '../../../media/contract/index.ts';
import type { Bus } from '../../../platform/bus.ts';
import { hasAny } from '../../../platform/db/has-any.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { StreamHealth } from '../../../platform/db/json-columns.ts';
import type { Logger } from '../../../platform/logger.ts';
import { createSecretLookups } from '../../../platform/secret-lookups.ts';
import type { UsageEvents } from '../../insight/usage-events/index.ts';
import * as bridges from './bridges.repository.ts';
import type { BroadcastChange, BroadcastRecorder } from './broadcast.service.ts';
import { admitRecording, countStart, endBroadcast, startLocked, stopLocked } from './broadcast.service.ts';
import * as grants from './grants.service.ts';
import { heartbeatNode } from './nodes.repository.ts';
import type { StreamRow } from './repository.ts';
import * as repository from './repository.ts';
import * as rules from './rules.ts';
import { STREAM_TOPIC } from './service.ts';
import {
  announceUpcoming,
  emitRejection,
  recordRejection,
  reportHealth,
  selectNotices,
  sweepHealth,
} from './stream-notifications.service.ts';
import { commitTransition, type StreamTransitionHook, stateOf } from './transitions.ts';

/**
 * Silence after which a node has lost its encoders, unless the grace period is longer
 * (docs/decisions/streams.md#signal-grace-period).
 */
const NODE_LOST_MS = 20_000;
/** Duration of a sweep during which the database was probably unavailable. */
const SLOW_SWEEP_MS = 5000;
/** Time for a takeover, enough to record the next session of the stream. */
const TAKEOVER_MS = 2000;

export interface StreamSignalDeps {
  db: Db;
  events: Events;
  bus: Bus;
  clock: Clock;
  log: Logger;
  recorder: BroadcastRecorder;
  follower: StreamTransitionHook;
  facts: Pick<UsageEvents, 'append'>;
  /** Time in which a broken connection may return before the signal ends. */
  graceMs: number;
}

/** Signals of the media plane about streams, and the periodic work on them. */
export interface StreamSignals {
  /** Returns what the stream key may publish; null when it may not. */
  authorise(request: PublishRequest): Promise<PublishGrant | null>;
  /** Returns the publish grant of a bridge for this stream, or the reason of the rejection as a text. */
  admitBridge(streamId: string): Promise<PublishGrant | string>;
  /**
   * Admits an encoder by WHIP, which replaces the current publisher. @returns the reason as a text when it is
   * rejected.
   */
  admitEncoder(streamId: string): Promise<PublishGrant | string>;
  /**
   * Reports whether an encoder by WHIP may connect and publish later. Locks the stream until the transaction
   * ends.
   *
   * @returns the error that rejects it: UNAUTHORIZED for a grant that is no longer valid; QUOTA_EXCEEDED, of
   *   which the
   * creator is notified.
   */
  admitOffer(change: { tx: Tx; append: AppendEvent }, grant: PublishGrant): Promise<AppError | null>;
  /** Idempotent by session id. A session of the same stream that is still open is replaced without events. */
  publishStarted(session: IngestSession): Promise<void>;
  /** Notifies the creator of the reason why the publish, which is still open, will be ended. */
  publishRejected(session: IngestSession, issue: RejectionIssue): Promise<void>;
  publishEnded(end: IngestEnd): Promise<void>;
  mediaChanged(session: IngestSession): Promise<void>;
  /** Handles the start of a media node: its previous connections get their reconnect window from now on. */
  nodeStarted(nodeId: string): Promise<void>;
  /**
   * Stores that the node is alive, which extends the lease of its sessions.
   *
   * @param sessionIds all sessions of the node.
   *
   * @returns the IDs of sessions to disconnect: kicked, of a suspended account, or ended here but still open
   *   on the node.
   */
  heartbeat(nodeId: string, sessionIds: readonly string[]): Promise<string[]>;
  reportHealth(streamId: string, health: StreamHealth): Promise<void>;
  /**
   * Ends sessions after their reconnect window, emits suppressed events that are due, stops broadcasts that
   * ran too long.
   */
  sweep(): Promise<void>;
}

export function createStreamSignals(deps: StreamSignalDeps): StreamSignals {
  const { db, clock, bus } = deps;
  const streamKeys = createSecretLookups({ read: (hashes) => repository.existingKeyHashes(db, hashes) });
  return {
    authorise: (request) => grants.authorise({ db, streamKeys }, request),
    admitBridge: (streamId) => grants.admitBridge(db, streamId),
    admitEncoder: (streamId) => grants.admitEncoder(db, streamId),
    admitOffer: (change, grant) => grants.admitOffer(clock.now(), change, grant),
    publishStarted: (session) => publishStarted(deps, session),
    publishRejected: (session, issue) => recordRejection(deps, session, issue),
    async publishEnded(end) {
      const now = clock.now();
      const grace = graceOf(end.reason, deps.graceMs);
      if (grace > 0) {
        const graceUntil = dateFromMs(now.getTime() + grace);
        await repository.updateIngest(db, end.sessionId, { lost_at: now, grace_until: graceUntil });
      } else {
        await endIngest(deps, end.sessionId, end.streamId, end.reason);
      }
    },
    async mediaChanged(session) {
      await repository.updateIngest(db, session.sessionId, {
        video: session.video ?? null,
        audio: session.audio ?? null,
      });
      bus.publish(STREAM_TOPIC, session.streamId);
    },
    async nodeStarted(nodeId) {
      await repository.disconnectNodeIngests(db, nodeId, clock.now(), dateFromMs(clock.ms() + deps.graceMs));
      await heartbeatNode(db, nodeId, clock.now());
    },
    heartbeat: (nodeId, sessionIds) => heartbeat(deps, nodeId, sessionIds),
    reportHealth: (streamId, health) => reportHealth(deps, streamId, health),
    sweep: createSweep(deps),
  };
}

async function heartbeat(
  { db, clock }: StreamSignalDeps,
  nodeId: string,
  sessionIds: readonly string[],
): Promise<string[]> {
  const now = clock.now();
  await heartbeatNode(db, nodeId, now);
  const open = await repository.listNodeIngests(db, nodeId);
  const onNode = new Set(sessionIds);
  // Usually none: sessions that have started, and sessions whose end could not be stored.
  const found = open.filter(({ id, isMissing }) => isMissing && onNode.has(id));
  const lost = open.filter(({ id, isMissing }) => !isMissing && !onNode.has(id));
  await repository.setLastSeen(db, idsOf(found), null);
  await repository.setLastSeen(db, idsOf(lost), now);
  const wanted = open.filter((row) => row.isAllowed && row.disconnect_reason === null);
  const wantedIds = new Set(idsOf(wanted));
  return sessionIds.filter((id) => !wantedIds.has(id));
}

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);

/** Returns the time the signal may outlive the connection. A clean end or a long silence gets none. */
function graceOf(reason: IngestEnd['reason'], graceMs: number): number {
  if (reason === 'closed' || reason === 'shutdown') return graceMs;
  // Its successor is being announced; if that fails, the signal still ends.
  if (reason === 'replaced') return Math.max(graceMs, TAKEOVER_MS);
  return 0;
}

async function publishStarted(deps: StreamSignalDeps, session: IngestSession): Promise<void> {
  const now = deps.clock.now();
  const isAccepted = await deps.events.transaction(async (tx, append) => {
    const granted = await grants.lockGranted(tx, session.grant);
    if (granted === null) throw new Error('the stream was deleted or disabled, or its key was changed');
    const { row, account } = granted;
    const { workspace_id: workspaceId } = row;
    if ((await repository.findIngest(tx, session.sessionId)) !== undefined) return true;
    const { encoders } = PLANS[account.plan];
    if (!row.has_signal && (await bridges.countEncoders(tx, workspaceId, row.id)) >= encoders) {
      await emitRejection(tx, append, row, { session, issue: 'ENCODERS_OVER_PLAN', now });
      return false;
    }
    const open = await repository.findOpenIngest(tx, row.id);
    if (open !== undefined) {
      await repository.updateIngest(tx, open.id, { ended_at: now, end_reason: 'replaced' });
    }
    await repository.insertIngest(tx, {
      id: session.sessionId,
      stream_id: row.id,
      node_id: session.nodeId,
      protocol: session.protocol,
      started_at: session.startedAt,
      last_seen_at: now,
      video: session.video ?? null,
      audio: session.audio ?? null,
    });
    if (row.has_signal) return true;
    const { concurrent } = rules.livePlan(account.plan, account.mode);
    await raiseSignal(
      deps,
      { tx, append, recorder: deps.recorder, follower: deps.follower, facts: deps.facts, now },
      row,
      concurrent,
    );
    return true;
  });
  if (!isAccepted) throw new Error('the encoder limit of the plan is reached');
  deps.bus.publish(STREAM_TOPIC, session.streamId);
}

/** @param concurrent the maximum broadcasts up to which a stream with autoStart may start; 0 for others. */
async function raiseSignal(
  deps: StreamSignalDeps,
  change: BroadcastChange,
  row: StreamRow,
  concurrent: number,
): Promise<void> {
  const { tx, now } = change;
  const wants = row.auto_start && !row.is_live && concurrent > 0;
  const starting = wants && (await repository.countLive(tx, row.workspace_id)) < concurrent;
  if (wants && !starting) {
    deps.log.warn({ streamId: row.id }, 'autoStart: the plan limit of concurrent broadcasts is reached');
  }
  let transition = rules.onSignalUp(stateOf(row), now);
  if (starting) {
    // With autoStart: the signal starts the broadcast, so the event carries ACTIVE
    // (docs/decisions/streams.md#the-four-events).
    transition = {
      ...transition,
      events: transition.events.map((event) =>
        event.type === 'stream.live' ? { ...event, data: { ...event.data, status: 'ACTIVE' } } : event,
      ),
    };
  }
  const sessionId = await openSession(change, row);
  const up = await commitTransition(change, row, transition, {
    current_session_id: sessionId,
    last_signal_at: now,
    signal_lost_at: null,
    health: null,
  });
  if (starting) await startLocked(change, up, concurrent);
}

/** Continues the session when the gap was within the stream's reconnect window; otherwise opens a new one. */
async function openSession(change: BroadcastChange, row: StreamRow): Promise<string> {
  const { tx, now } = change;
  const last =
    row.current_session_id === null ? undefined : await repository.findSession(tx, row.current_session_id);
  const goesOn =
    last?.signal_ended_at != null &&
    now.getTime() - last.signal_ended_at.getTime() <= row.reconnect_window_sec * 1000 &&
    (last.broadcast_ended_at === null || !row.is_live);
  if (last !== undefined && goesOn) {
    await repository.updateSession(tx, last.id, {
      signal_ended_at: null,
      // The encoder may have been fixed since.
      error: rules.isRejectionIssue(last.error) ? null : last.error,
      broadcast_started_at: row.is_live ? (last.broadcast_started_at ?? now) : last.broadcast_started_at,
    });
    if (row.is_live && last.broadcast_started_at === null) {
      await countStart(change, row);
      await admitRecording(change, row, last.id);
    }
    return last.id;
  }
  if (last !== undefined && last.broadcast_started_at !== null && last.broadcast_ended_at === null) {
    await endBroadcast(change, last.id, last.signal_ended_at ?? now);
  }
  const id = newId('ses');
  await repository.insertSession(tx, {
    id,
    stream_id: row.id,
    workspace_id: row.workspace_id,
    signal_started_at: now,
    broadcast_started_at: row.is_live ? now : null,
  });
  if (row.is_live) {
    await countStart(change, row);
    await admitRecording(change, row, id);
  }
  return id;
}

async function endIngest(
  deps: StreamSignalDeps,
  sessionId: string,
  streamId: string,
  reason: string,
): Promise<void> {
  const now = deps.clock.now();
  await deps.events.transaction(async (tx, append) => {
    const row = await repository.lockAnyStream(tx, streamId);
    const session = await repository.findIngest(tx, sessionId);
    if (session === undefined || session.ended_at !== null) return;
    await repository.updateIngest(tx, sessionId, { ended_at: now, end_reason: reason });
    if (row === undefined || !row.has_signal) return;
    if (row.current_session_id !== null) {
      await repository.updateSession(tx, row.current_session_id, { signal_ended_at: now });
    }
    await commitTransition(
      { tx, append, now, follower: deps.follower },
      row,
      rules.onSignalDown(stateOf(row), now),
      {
        signal_lost_at: now,
        last_signal_at: now,
      },
    );
  });
  deps.bus.publish(STREAM_TOPIC, streamId);
}

/**
 * Returns the sweep. After an outage of the database no node counts as lost for a while, because none could
 * extend its leases.
 */
function createSweep(deps: StreamSignalDeps): () => Promise<void> {
  const lostMs = Math.max(NODE_LOST_MS, deps.graceMs);
  let outageEndedMs = Number.NEGATIVE_INFINITY;
  return async () => {
    const now = deps.clock.now();
    const startedMs = performance.now();
    let isOutage = true;
    try {
      const isPaused = now.getTime() - outageEndedMs < lostMs;
      await sweep(deps, now, dateFromMs(isPaused ? 0 : now.getTime() - lostMs));
      isOutage = performance.now() - startedMs > SLOW_SWEEP_MS;
    } finally {
      if (isOutage) outageEndedMs = deps.clock.ms();
    }
  };
}

/** @param lostBefore a node without a heartbeat since then is lost. */
async function sweep(deps: StreamSignalDeps, now: Date, lostBefore: Date): Promise<void> {
  const { db, log } = deps;
  const lost = repository.selectLostIngests(db, now, lostBefore);
  const due = repository.selectDueStreams(db, now);
  // Runs twice a second and usually finds nothing.
  if (!(await hasAny(db, [lost, due, ...selectNotices(db, now)]))) return;
  for (const session of await lost.execute()) {
    const reason = session.grace_until === null ? 'node-lost' : 'closed';
    await endIngest(deps, session.id, session.stream_id, reason);
  }
  await announceUpcoming(deps, now);
  await sweepHealth(deps, now);
  for (const { id } of await due.execute()) {
    await tellDue(deps, id, now).catch((error: unknown) => {
      log.error({ err: error, streamId: id }, 'a stream could not be updated');
    });
  }
}

async function tellDue(deps: StreamSignalDeps, id: string, now: Date): Promise<void> {
  await deps.events.transaction(async (tx, append) => {
    const row = await repository.lockAnyStream(tx, id);
    if (row === undefined) return;
    const { recorder, follower, facts } = deps;
    const change = { tx, append, recorder, follower, facts, now };
    const limit = liveLimit(row, now);
    if (limit !== null) {
      await stopLocked(change, row, limit === 'duration' ? 'DURATION_EXCEEDED' : null);
    } else {
      await commitTransition(change, row, rules.emitBroadcastState(stateOf(row), now));
    }
  });
  deps.bus.publish(STREAM_TOPIC, id);
}

/** Returns the limit of the stream that the broadcast has reached. */
function liveLimit(row: StreamRow, now: Date): 'duration' | 'no-signal' | null {
  if (!row.is_live || row.live_since === null) return null;
  const over = (since: Date, seconds: number) => now.getTime() >= since.getTime() + seconds * 1000;
  if (row.max_duration_sec !== null && over(row.live_since, row.max_duration_sec)) return 'duration';
  if (row.has_signal || row.auto_stop_after_sec === null) return null;
  const quietSince =
    row.signal_lost_at !== null && row.signal_lost_at > row.live_since ? row.signal_lost_at : row.live_since;
  return over(quietSince, row.auto_stop_after_sec) ? 'no-signal' : null;
}
