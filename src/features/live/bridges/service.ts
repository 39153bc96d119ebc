import type { Events } from '../../../events/index.ts';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { AppError, badRequest, notFound, quotaExceeded } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import { PLANS } from '../../../kernel/plans.ts';
import type { PullUrl } from '../../../kernel/pull-url.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { lockWorkspace } from '../../../platform/db/workspace.ts';
import { GuardError, type Outbound } from '../../../platform/outbound/index.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import type { BridgeParticipants } from '../../rooms/index.ts';
import type { BridgeFilter, BridgeRow } from './repository.ts';
import * as repository from './repository.ts';
import { readSource } from './rules.ts';
import type { BridgeIn } from './schemas.ts';
import { end } from './transitions.ts';

/** Bus topic of bridges that must start or stop running. */
export const BRIDGE_TOPIC = 'bridges';

export interface BridgeDeps {
  db: Db;
  events: Events;
  secrets: Secrets;
  bus: Bus;
  clock: Clock;
  fetcher: Pick<Outbound, 'checkUrl'>;
  streams: BridgedStreams;
  rooms: Pick<BridgeParticipants, 'lock'>;
  /** Reports whether the room engine supports bridges. */
  bridgesRooms(): boolean;
}

/** Port that module.ts provides. */
export interface BridgedStreams {
  /** Locks the target stream. @returns undefined when the workspace has no stream with this ID. */
  lockTarget(
    tx: Tx,
    workspaceId: string,
    id: string,
  ): Promise<{ enabled: boolean; has_signal: boolean } | undefined>;
  /** Counts as the plan does: streams with a signal plus open bridges. */
  countEncoders(tx: Tx, workspaceId: string): Promise<number>;
}

/** Bridges of a workspace (docs/concepts/bridges.md). An id of another one is NOT_FOUND. */
export interface Bridges {
  /**
   * @throws {AppError} BAD_REQUEST, field `sourceId`, `sourceUrl`, `targetId`, `layout` or `expiresAt`; CONFLICT when
   * the target is fed already, is disabled, or nothing here runs this type; QUOTA_EXCEEDED.
   */
  create(workspaceId: string, input: BridgeIn): Promise<BridgeRow>;
  list(workspaceId: string, filter: BridgeFilter, page: PageRequest): Promise<BridgeRow[]>;
  get(workspaceId: string, id: string): Promise<BridgeRow>;
  /** Ends and deletes the bridge. */
  remove(workspaceId: string, id: string): Promise<void>;
}

export function createBridges(deps: BridgeDeps): Bridges {
  const { db, events, clock, bus } = deps;
  return {
    create: (workspaceId, input) => create(deps, workspaceId, input),
    list: (workspaceId, filter, page) => repository.listBridges(db, workspaceId, filter, page),
    async get(workspaceId, id) {
      const row = await repository.findBridge(db, workspaceId, id);
      if (row === undefined) throw notFound();
      return row;
    },
    async remove(workspaceId, id) {
      await events.transaction(async (tx, append) => {
        const row = await repository.lockBridge(tx, workspaceId, id);
        if (row === undefined) throw notFound();
        await end({ tx, append, now: clock.now() }, row, 'DELETED');
        await repository.deleteBridge(tx, id);
      });
      bus.publish(BRIDGE_TOPIC, id);
    },
  };
}

async function create(deps: BridgeDeps, workspaceId: string, input: BridgeIn): Promise<BridgeRow> {
  const { events, clock, secrets, bus } = deps;
  const address = readSource(input);
  const expiresAt = readExpiry(input.expiresAt, clock.ms());
  if (address !== null) await checkPlace(deps, address);
  else if (!deps.bridgesRooms()) throw noEngine();
  const id = newId('brg', clock);
  const row = await events.transaction(async (tx) => {
    const { plan } = await lockWorkspace(tx, workspaceId);
    await admit(deps, tx, workspaceId, input);
    const limit = PLANS[plan].encoders;
    if ((await deps.streams.countEncoders(tx, workspaceId)) >= limit) {
      const message = `Limit of ${limit} concurrent encoders reached for this plan. Each bridge counts as one.`;
      throw quotaExceeded({ workspaceId, resource: 'ENCODERS' }, message);
    }
    return repository.insertBridge(tx, {
      id,
      workspace_id: workspaceId,
      type: input.type,
      source_id: input.sourceId ?? null,
      source_url: address === null ? null : secrets.encrypt(input.sourceUrl ?? '', id),
      source_url_redacted: address?.shown ?? null,
      target_id: input.targetId,
      layout: input.type === 'ROOM_TO_STREAM' ? (input.layout ?? 'GRID') : null,
      auto_restart: input.autoRestart ?? false,
      expires_at: expiresAt,
      created_at: clock.now(),
    });
  });
  bus.publish(BRIDGE_TOPIC, id);
  return row;
}

function noEngine(): AppError {
  const message = 'Room bridges require the Janus engine on a single-node platform (ROOMS_ENGINE).';
  return new AppError('CONFLICT', { field: 'type', message });
}

/** @throws {AppError} BAD_REQUEST or CONFLICT, field `sourceId` or `targetId`. */
async function admit(
  deps: BridgeDeps,
  tx: Tx,
  workspaceId: string,
  { type, sourceId, targetId }: BridgeIn,
): Promise<void> {
  if (type === 'PULL_TO_STREAM' || sourceId == null) return admitTarget(deps, tx, workspaceId, targetId);
  if (type === 'ROOM_TO_STREAM') {
    await admitRoom(deps, tx, workspaceId, { field: 'sourceId', id: sourceId });
    await admitTarget(deps, tx, workspaceId, targetId);
    const back = { sourceId: targetId, targetId: sourceId };
    if (await repository.isBridged(tx, 'STREAM_TO_ROOM', back)) {
      throw conflict(
        'targetId',
        'This stream is playing in the room, so the room cannot be broadcast to it.',
      );
    }
    return;
  }
  const stream = await deps.streams.lockTarget(tx, workspaceId, sourceId);
  if (stream === undefined) throw badRequest('sourceId', 'Stream not found.');
  if (!stream.enabled) throw conflict('sourceId', 'The stream is disabled.');
  await admitRoom(deps, tx, workspaceId, { field: 'targetId', id: targetId });
  if (await repository.isBridged(tx, type, { sourceId, targetId })) {
    throw conflict('targetId', 'This stream is already playing in the room.');
  }
  if (await repository.isBridged(tx, 'ROOM_TO_STREAM', { sourceId: targetId, targetId: sourceId })) {
    throw conflict('sourceId', 'This stream is broadcasting the room, so it cannot be played in it.');
  }
}

/** @throws {AppError} BAD_REQUEST or CONFLICT, by the field. */
async function admitRoom(
  { rooms, clock }: BridgeDeps,
  tx: Tx,
  workspaceId: string,
  { field, id }: { field: 'sourceId' | 'targetId'; id: string },
): Promise<void> {
  const room = await rooms.lock(tx, workspaceId, id);
  if (room === undefined) throw badRequest(field, 'Room not found.');
  const isOver = room.expires_at !== null && room.expires_at <= clock.now();
  if (room.status === 'ENDED' || isOver) throw conflict(field, 'The room has ended.');
}

const conflict = (field: string, message: string) => new AppError('CONFLICT', { field, message });

/** @throws {AppError} BAD_REQUEST, field `targetId`; CONFLICT. */
async function admitTarget({ streams }: BridgeDeps, tx: Tx, workspaceId: string, id: string): Promise<void> {
  const stream = await streams.lockTarget(tx, workspaceId, id);
  if (stream === undefined) throw badRequest('targetId', 'Stream not found.');
  const refusal = stream.enabled
    ? stream.has_signal || (await repository.isFed(tx, id))
      ? 'The stream already has a signal from an encoder or another bridge.'
      : null
    : 'The stream is disabled.';
  if (refusal !== null) throw conflict('targetId', refusal);
}

function readExpiry(text: string | null | undefined, nowMs: number): Date | null {
  if (text == null) return null;
  const at = dateFromMs(Temporal.Instant.from(text).epochMilliseconds);
  if (at.getTime() <= nowMs) throw badRequest('expiresAt', 'expiresAt must be in the future.');
  return at;
}

/** @throws {AppError} BAD_REQUEST, field `sourceUrl`. */
async function checkPlace({ fetcher }: BridgeDeps, address: PullUrl): Promise<void> {
  try {
    await fetcher.checkUrl(address.guarded);
  } catch (error) {
    if (!(error instanceof GuardError)) throw error;
    throw badRequest('sourceUrl', `Cannot fetch from this URL: ${error.reason}.`);
  }
}
