import type { AppendEvent, Events } from '../../../events/index.ts';
import { STREAM_LOG_TOPIC } from '../../../events/stream-log.ts';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { claimLeases } from '../../../kernel/lease.ts';
import { truncate } from '../../../kernel/truncate.ts';
import {
  type DesiredPush,
  PUSH_LEASE_MS,
  type PushReport,
  type RestreamPort,
} from '../../../media/contract/index.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import { targetConnected, targetDisconnected, targetFailed } from './events.ts';
import { notifyChanged } from './locked.ts';
import { logTarget } from './log.ts';
import type { RestreamRow, TargetRow } from './repository.ts';
import * as repository from './repository.ts';
import { emitTarget } from './restream-events.ts';
import { passphraseContext } from './target-validation.ts';
import { reconcile, releaseTarget, resetTarget } from './transitions.ts';

export interface RestreamRunDeps {
  db: Db;
  events: Events;
  secrets: Secrets;
  bus: Bus;
  clock: Clock;
  log: Logger;
}

/** Runs of restreams: which node sends to which target, and the results. */
export interface RestreamRuns {
  /** Port for the media plane. */
  readonly port: RestreamPort;
  /** Reconciles restreams with their streams, and releases targets of lost nodes. */
  sweep(): Promise<void>;
}

const MAX_MESSAGE = 300;
const ENCODER_GONE = 'The encoder did not reconnect within the reconnect window of the stream.';
const NODE_GONE = 'The sending process ended unexpectedly.';
const BAD_KEY = 'The stored stream key can no longer be decrypted. Enter it again.';

export function createRestreamRuns(deps: RestreamRunDeps): RestreamRuns {
  const { db, clock } = deps;
  return {
    port: {
      async started(nodeId) {
        for (const target of await repository.listLeasedTargets(db, nodeId)) {
          await letGo(deps, target, NODE_GONE, (row) => row.node_id === nodeId);
        }
      },
      async wanted(nodeId, bitrates) {
        await repository.setBitrates(db, nodeId, bitrates);
        await settleAll(deps);
        return claimWanted(deps, nodeId);
      },
      report: (nodeId, report) => takeReport(deps, nodeId, report),
    },
    async sweep() {
      await settleAll(deps);
      for (const target of await repository.listExpiredLeases(db, clock.now())) {
        await letGo(
          deps,
          target,
          NODE_GONE,
          ({ lease_until: until }) => until !== null && until <= clock.now(),
        );
      }
    },
  };
}

async function settleAll({ db, events, bus, clock, log }: RestreamRunDeps): Promise<void> {
  for (const id of await repository.listOutOfSync(db, clock.now())) {
    try {
      const streamId = await events.transaction(async (tx, append) => {
        const row = await repository.lockAnyRestream(tx, id);
        if (row !== undefined) await reconcile({ tx, append, now: clock.now() }, row);
        return row?.stream_id;
      });
      if (streamId !== undefined) notifyChanged({ bus }, id, streamId);
    } catch (error) {
      log.error({ err: error, restreamId: id }, 'a restream could not be updated from its stream');
    }
  }
}

async function claimWanted(deps: RestreamRunDeps, nodeId: string): Promise<DesiredPush[]> {
  const { db, clock } = deps;
  const now = clock.now();
  const rows = await repository.listDesiredTargets(db, nodeId, now);
  const mine = await claimLeases(rows, {
    ...{ nodeId, now, leaseMs: PUSH_LEASE_MS },
    claim: (ids, until) => repository.claimTargets(db, nodeId, ids, now, until),
  });
  const wanted = new Set(mine.map(({ id }) => id));
  for (const target of await repository.listLeasedTargets(db, nodeId)) {
    if (!wanted.has(target.id)) await letGo(deps, target, ENCODER_GONE, (row) => row.node_id === nodeId);
  }
  const pushes = await Promise.all(mine.map((row) => toWanted(deps, nodeId, row)));
  return pushes.filter((push) => push !== null);
}

/** Returns null, and fails the target, when its key cannot be read. */
async function toWanted(
  deps: RestreamRunDeps,
  nodeId: string,
  row: TargetRow & { stream_id: string },
): Promise<DesiredPush | null> {
  const { id: targetId, revision, stream_id: streamId, platform, url } = row;
  try {
    const streamKey = row.stream_key === null ? null : deps.secrets.decrypt(row.stream_key, row.id);
    const passphrase =
      row.passphrase === null ? null : deps.secrets.decrypt(row.passphrase, passphraseContext(row.id));
    return { targetId, revision, streamId, platform, url, streamKey, passphrase };
  } catch {
    const failure = { state: 'ERRORED', severity: 'FATAL', message: BAD_KEY } as const;
    await takeReport(deps, nodeId, { targetId, revision, ...failure, retryCount: 0, retryInMs: null });
    return null;
  }
}

/** Releases the target from the node. */
async function letGo(
  deps: RestreamRunDeps,
  target: { id: string; restream_id: string },
  why: string,
  isStill: (row: TargetRow) => boolean,
): Promise<void> {
  await withTarget(deps, target.id, target.restream_id, async (tx, append, restream, row) => {
    if (!isStill(row)) return;
    const rested = await resetTarget(
      { tx, append },
      restream.workspace_id,
      row,
      restream.is_running ? why : null,
    );
    await releaseTarget(tx, row.id);
    if (rested.state !== row.state) await logTarget(tx, restream, rested, deps.clock.now());
  });
}

async function withTarget(
  { events, bus }: RestreamRunDeps,
  id: string,
  restreamId: string,
  work: (tx: Tx, append: AppendEvent, restream: RestreamRow, row: TargetRow) => Promise<void>,
): Promise<void> {
  const streamId = await events.transaction(async (tx, append) => {
    const restream = await repository.lockAnyRestream(tx, restreamId);
    const row = restream && (await repository.lockTarget(tx, restreamId, id));
    if (restream !== undefined && row !== undefined) await work(tx, append, restream, row);
    return restream?.stream_id;
  });
  // Sending nodes report these changes themselves, so only the tails are notified.
  if (streamId !== undefined) bus.publish(STREAM_LOG_TOPIC, streamId);
}

async function takeReport(deps: RestreamRunDeps, nodeId: string, report: PushReport): Promise<void> {
  const restreamId = await repository.restreamIdOf(deps.db, report.targetId);
  if (restreamId === undefined) return;
  await withTarget(deps, report.targetId, restreamId, async (tx, append, restream, row) => {
    const isStale = row.revision !== report.revision || row.node_id !== nodeId || !row.enabled;
    if (isStale || !restream.is_running) return;
    const updated = await repository.updateTarget(tx, row.id, changeOf(deps, row, report));
    for (const event of eventsOf(row, updated)) {
      await emitTarget({ tx, append }, event, restream.workspace_id, updated, report.message);
    }
    await logTarget(tx, restream, updated, deps.clock.now());
  });
}

function changeOf({ clock }: RestreamRunDeps, row: TargetRow, report: PushReport): repository.TargetChange {
  const { state, severity, retryCount, retryInMs } = report;
  const now = clock.now();
  const message = report.message === null ? null : truncate(report.message, MAX_MESSAGE);
  const isFailed = state === 'ERRORED';
  const isSending = state === 'BROADCASTING';
  return {
    state,
    error_severity: isFailed ? (severity ?? 'NORMAL') : null,
    error_message: isFailed ? message : null,
    retry_count: retryCount,
    next_retry_at: retryInMs === null ? null : dateFromMs(now.getTime() + retryInMs),
    connected_at: isSending ? (row.connected_at ?? now) : null,
    bitrate_kbps: isSending ? row.bitrate_kbps : null,
    ...(isFailed ? { last_failure_at: now, last_failure: message } : {}),
  };
}

/**
 * Returns the events to emit for a change. Of consecutive failures only the first is reported, until one is
 * FATAL.
 */
function eventsOf(before: TargetRow, after: TargetRow) {
  const wasSending = before.state === 'BROADCASTING';
  if (after.state === 'BROADCASTING') return wasSending ? [] : [targetConnected];
  const gone = wasSending ? [targetDisconnected] : [];
  if (after.error_severity === 'FATAL') {
    return before.error_severity === 'FATAL' ? [] : [...gone, targetFailed];
  }
  if (wasSending) return gone;
  return after.state === 'ERRORED' && before.retry_count === 0 ? [targetFailed] : [];
}
