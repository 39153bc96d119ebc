import { hash, randomBytes } from 'node:crypto';
import { type AppendEvent, type Events, nextSequence } from '../../../events/index.ts';
import { memoize } from '../../../kernel/cache.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { AppError, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Bus } from '../../../platform/bus.ts';
import { createBatchReader, createDeduplicatingReader } from '../../../platform/db/batch.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { readByIds } from '../../../platform/db/read-by-ids.ts';
import { lockWorkspace } from '../../../platform/db/workspace.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import type { AssertOwnTiers } from '../../commerce/tiers/index.ts';
import type { UsageEvents } from '../../insight/usage-events/index.ts';
import { countEncoders } from './bridges.repository.ts';
import type { BroadcastRecorder } from './broadcast.service.ts';
import { admitLateRecording, startLocked, stopLocked } from './broadcast.service.ts';
import { emitCreated, emitUpdated } from './emit.ts';
import { streamDeleted, streamKeyRotated } from './events.ts';
import { streamFields } from './fields.ts';
import * as lists from './lists.repository.ts';
import type { ListedSession, StreamRow } from './repository.ts';
import * as repository from './repository.ts';
import * as rules from './rules.ts';
import type { StreamIn, StreamPatch } from './schemas.ts';
import * as simulations from './simulation.repository.ts';
import { logChatSettings, logStatus } from './status.ts';
import type { StreamTransitionHook } from './transitions.ts';

/** Bus topic of streams whose flags or right to publish changed. */
export const STREAM_TOPIC = 'streams';
/** Bus topic of deleted streams, whose files can be removed. */
export const STREAM_DELETED_TOPIC = 'streams.deleted';

export interface StreamDeps {
  db: Db;
  events: Events;
  secrets: Secrets;
  bus: Bus;
  clock: Clock;
  recorder: BroadcastRecorder;
  follower: StreamTransitionHook;
  facts: Pick<UsageEvents, 'append'>;
  assertOwnTiers: AssertOwnTiers;
  endWhip: EndWhipSessions;
}

/** Ends the WHIP sessions of a stream, including those without a publish; set in module.ts. */
export type EndWhipSessions = (tx: Tx, streamId: string) => Promise<void>;

interface StreamListRequest {
  workspaceId: string;
  filter: lists.StreamFilter;
  page: PageRequest;
}

/** A row and its stream key in clear. */
export interface StreamWithKey {
  row: StreamRow;
  streamKey: string;
}

/**
 * Operations of partners and creators on streams. Every ID is looked up in the workspace and otherwise gets
 * NOT_FOUND.
 */
export interface Streams {
  create(workspaceId: string, input: StreamIn): Promise<StreamWithKey>;
  /** Concurrent equal calls share the rows: do not change them. */
  list(workspaceId: string, filter: lists.StreamFilter, page: PageRequest): Promise<lists.StreamDetails[]>;
  /** Counts broadcasts, as the plan does. */
  countLive(workspaceId: string): Promise<number>;
  /** Counts connected encoders and bridges, as the plan does. */
  countEncoders(workspaceId: string): Promise<number>;
  /** Concurrent calls share the row: do not change it. */
  get(workspaceId: string, id: string): Promise<lists.ListedStream>;
  keyOf(row: lists.StreamRowWithKey): string;
  update(workspaceId: string, id: string, input: StreamPatch): Promise<StreamRow>;
  /** Deletes the stream and disconnects the encoder. @throws {AppError} CONFLICT while the stream is live. */
  remove(workspaceId: string, id: string): Promise<void>;
  /** Starts the broadcast. Idempotent. @throws {AppError} QUOTA_EXCEEDED, CONFLICT when disabled. */
  start(workspaceId: string, id: string): Promise<StreamRow>;
  /** Ends the broadcast. Idempotent. */
  stop(workspaceId: string, id: string): Promise<StreamRow>;
  /** Replaces the stream key and disconnects the publisher that uses the old one. */
  rotateKey(workspaceId: string, id: string): Promise<StreamWithKey>;
  sessions(workspaceId: string, id: string, page: PageRequest): Promise<ListedSession[]>;
}

/** 32 random bytes (docs/decisions/streams.md#keys). */
function mintKey(secrets: Secrets): { streamKey: string; key_hash: Buffer; key_encrypted: Uint8Array } {
  const streamKey = randomBytes(32).toString('base64url');
  return { streamKey, key_hash: hashStreamKey(streamKey), key_encrypted: secrets.encrypt(streamKey) };
}

const KEY_CACHE = 2000;

/** Creates a cache of stream keys in clear: to decrypt one costs more than the rest of a read. */
function createKeyCache(secrets: Secrets): (row: lists.StreamRowWithKey) => string {
  const keyOf = memoize(KEY_CACHE, (encrypted) => secrets.decrypt(Buffer.from(encrypted, 'latin1')));
  return (row) => keyOf(Buffer.from(row.key_encrypted).toString('latin1'));
}

export function hashStreamKey(key: string): Buffer {
  return Buffer.from(hash('sha256', key, 'hex'), 'hex');
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: an object of short methods around one lock.
export function createStreams(deps: StreamDeps): Streams {
  const { db, events, secrets, bus, clock, recorder, follower, facts, endWhip } = deps;

  /** Locks the stream, runs the work, commits, and notifies playback and ingest. */
  const locked = async <T>(
    workspaceId: string,
    id: string,
    work: (tx: Tx, row: StreamRow, append: AppendEvent) => Promise<T>,
  ): Promise<T> => {
    const result = await events.transaction(async (tx, append) => {
      const row = await repository.lockStream(tx, workspaceId, id);
      if (row === undefined) throw notFound();
      return work(tx, row, append);
    });
    bus.publish(STREAM_TOPIC, id);
    return result;
  };
  const readStream = createBatchReader(readByIds(db, lists.selectListedStreams));
  const readList = createDeduplicatingReader(({ workspaceId, filter, page }: StreamListRequest) =>
    lists.listStreams(db, workspaceId, filter, page),
  );
  const keys = createKeyCache(secrets);
  const get = async (workspaceId: string, id: string) => {
    const row = await readStream(id);
    if (row === undefined || row.workspace_id !== workspaceId) throw notFound();
    return row;
  };

  return {
    get,
    async create(workspaceId, input) {
      const { streamKey, ...key } = mintKey(secrets);
      const id = newId('str', clock);
      const { title, visibility } = { visibility: 'PUBLIC' as const, ...input };
      const row = await events.transaction(async (tx, append) => {
        await deps.assertOwnTiers(tx, workspaceId, input.tierIds);
        const now = clock.now();
        const at = { created_at: now, updated_at: now };
        const settings = {
          ...streamFields.toColumns(input),
          ...key,
          ...at,
          id,
          title,
          visibility,
          event_sequence: 1,
        };
        const made = await repository.insertStream(tx, workspaceId, settings);
        await emitCreated(tx, append, made, now);
        return made;
      });
      return { row, streamKey };
    },
    list: (workspaceId, filter, page) => readList({ workspaceId, filter, page }),
    countLive: (workspaceId) => repository.countLive(db, workspaceId),
    countEncoders: (workspaceId) => countEncoders(db, workspaceId),
    keyOf: keys,
    update: (workspaceId, id, input) =>
      locked(workspaceId, id, async (tx, row, append) => {
        await deps.assertOwnTiers(tx, workspaceId, input.tierIds);
        if (input.enabled === true) assertNotTakenDown(row);
        if (input.enabled === false && row.is_live)
          throw liveConflict('A live stream cannot be disabled.', 'enabled');
        if (input.enabled === false) await disconnectPublisher({ tx, endWhip }, id, 'disabled');
        const now = clock.now();
        const updated = await repository.updateStream(tx, id, {
          ...streamFields.toColumns(input),
          updated_at: now,
        });
        if (!row.record) await admitLateRecording({ tx, recorder }, updated);
        await logStatus(tx, row, updated, now);
        await logChatSettings(tx, row, updated, now);
        await emitUpdated(tx, append, row, updated, now);
        return updated;
      }),
    async remove(workspaceId, id) {
      await locked(workspaceId, id, async (tx, row, append) => {
        if (row.is_live) throw liveConflict('Stop the broadcast before deleting the stream.');
        await disconnectPublisher({ tx, endWhip }, id, 'deleted');
        const now = clock.now();
        await repository.updateStream(tx, id, { deleted_at: now });
        const sequence = await nextSequence(tx, 'stream', id);
        await append(streamDeleted, workspaceId, { streamId: id, deletedAt: now.toISOString(), sequence });
      });
      bus.publish(STREAM_DELETED_TOPIC, id);
    },
    start: async (workspaceId, id) => {
      const row = await events.transaction(async (tx, append) => {
        // Locks the workspace first: this serializes starts, so that concurrent ones cannot exceed the limit
        // of the plan.
        const { plan, mode } = await lockWorkspace(tx, workspaceId);
        const stream = await repository.lockStream(tx, workspaceId, id);
        if (stream === undefined) throw notFound();
        const change = { tx, append, recorder, follower, facts, now: clock.now() };
        return startLocked(change, stream, rules.livePlan(plan, mode).concurrent);
      });
      bus.publish(STREAM_TOPIC, id);
      return row;
    },
    stop: (workspaceId, id) =>
      locked(workspaceId, id, (tx, row, append) =>
        stopLocked({ tx, append, recorder, follower, facts, now: clock.now() }, row),
      ),
    rotateKey: (workspaceId, id) =>
      locked(workspaceId, id, async (tx, _row, append) => {
        const { streamKey, ...key } = mintKey(secrets);
        await disconnectPublisher({ tx, endWhip }, id, 'key rotated');
        const now = clock.now();
        const sequence = await nextSequence(tx, 'stream', id);
        await append(streamKeyRotated, workspaceId, { streamId: id, rotatedAt: now.toISOString(), sequence });
        return { row: await repository.updateStream(tx, id, { ...key, updated_at: now }), streamKey };
      }),
    async sessions(workspaceId, id, page) {
      await get(workspaceId, id);
      return repository.listSessions(db, workspaceId, id, page);
    },
  };
}

function liveConflict(message: string, field?: string): AppError {
  return new AppError('CONFLICT', field === undefined ? { message } : { field, message });
}

function assertNotTakenDown({ takedown_reason: reason }: StreamRow): void {
  if (reason === null) return;
  const message = `The operator took the stream down: ${reason}`;
  throw new AppError('CONFLICT', { field: 'enabled', message });
}

/**
 * Disconnects the publisher under the lock of the stream, including pending publishes by WHIP or of a
 * simulated signal.
 */
export async function disconnectPublisher(
  { tx, endWhip }: { tx: Tx; endWhip: EndWhipSessions },
  streamId: string,
  reason: string,
): Promise<void> {
  const open = await repository.findOpenIngest(tx, streamId);
  if (open !== undefined) await repository.updateIngest(tx, open.id, { disconnect_reason: reason });
  await endWhip(tx, streamId);
  await simulations.end(tx, streamId);
}
