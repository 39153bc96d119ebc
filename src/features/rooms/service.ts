import { AppError, badRequest, notFound, quotaExceeded } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import type { PageRequest } from '../../kernel/page.ts';
import { PLANS } from '../../kernel/plans.ts';
import type { RoomLayout } from '../../media/contract/index.ts';
import type { Db } from '../../platform/db/index.ts';
import { getWorkspaceOwner } from '../../platform/db/workspace.ts';
import { bookingsOf, streamsOf } from './bridges.repository.ts';
import { emitRoom } from './emit.ts';
import { roomCreated, roomDeleted } from './events.ts';
import { changeLocked, ROOM_TOPIC, type RoomDeps, type RoomDetails, type RoomRef } from './locked.ts';
import type { ParticipantFilter, ParticipantRow } from './participants.repository.ts';
import * as participants from './participants.repository.ts';
import { assertRecordable, type RoomRecorder } from './recorder.ts';
import { retainRoomId } from './recording.repository.ts';
import type { RoomFilter, RoomRow } from './repository.ts';
import * as repository from './repository.ts';
import { isName, lastOccupiedAt } from './rules.ts';
import type { RoomIn, RoomPatch, TokenIn } from './schemas.ts';
import { columnsOf, DEFAULTS } from './settings.ts';
import type { RoomGrant, RoomTokens } from './tokens.ts';
import { endRecording, endRoom } from './transitions.ts';

/** Data of a room that a page may show to anyone with its URL. */
export interface PublicRoom {
  isEnded: boolean;
  /** Name as on the channel. */
  creator: string;
  recordEnabled: boolean;
  /** True when a stream shows the room now or soon. */
  isBroadcast: boolean;
}

interface Deps extends RoomDeps {
  recorder: RoomRecorder;
  tokens: RoomTokens;
}

/** Rooms of a workspace (docs/concepts/rooms.md). An id of another one is NOT_FOUND. */
export interface Rooms {
  /** @throws {AppError} BAD_REQUEST, fields `maxParticipants`, `expiresAt`; QUOTA_EXCEEDED. */
  create(workspaceId: string, input: RoomIn): Promise<RoomDetails>;
  list(workspaceId: string, filter: RoomFilter, page: PageRequest): Promise<RoomDetails[]>;
  get(workspaceId: string, id: string): Promise<RoomDetails>;
  /**
   * Updates the room; disabling `recordEnabled` ends its recording.
   * @throws {AppError} as `create`; CONFLICT when it has ended.
   */
  update(workspaceId: string, id: string, input: RoomPatch): Promise<RoomDetails>;
  /** Ends the room and deletes it. */
  remove(workspaceId: string, id: string): Promise<void>;
  /** Ends the room permanently. Idempotent. */
  end(place: RoomRef): Promise<RoomDetails>;
  /** @throws {AppError} CONFLICT when the room has ended, or the identity is banned (field `identity`). */
  mint(place: RoomRef, grant: RoomGrant, ttlSec: number): Promise<{ token: string; expiresAt: Date }>;
  participants(
    workspaceId: string,
    id: string,
    filter: ParticipantFilter,
    page: PageRequest,
  ): Promise<ParticipantRow[]>;
  /**
   * @param layout of this recording; defaults to that of the room.
   * @throws {AppError} CONFLICT when it cannot be recorded; QUOTA_EXCEEDED when the storage of the plan is
   *   full.
   */
  record(place: RoomRef, isOn: boolean, layout?: RoomLayout): Promise<RoomDetails>;
  /** Finds the public data of a room in any workspace in good standing; undefined when there is none. */
  face(id: string): Promise<PublicRoom | undefined>;
  /** Returns the highest number of people in one room, as the plan counts. */
  most(workspaceId: string): Promise<number>;
}

export function createRooms(deps: Deps): Rooms {
  const { db } = deps;
  const shown = async (row: RoomRow): Promise<RoomDetails> => {
    const [one] = await shownAll(deps, [row]);
    return one ?? shownOf(deps, row);
  };
  return {
    create: (workspaceId, input) => create(deps, workspaceId, input),
    async list(workspaceId, filter, page) {
      return shownAll(deps, await repository.listRooms(db, workspaceId, filter, page));
    },
    get: async (workspaceId, id) => shown(await found(db, { workspaceId, roomId: id })),
    async update(workspaceId, id, input) {
      refuseInput(input);
      const row = await changeLocked(deps, { workspaceId, roomId: id }, async ({ tx, now }, room) => {
        refuseEnded(room);
        refuseTimes(input, now);
        await refuseSize(deps, tx, workspaceId, input.maxParticipants);
        const changed = await repository.updateRoom(tx, id, { ...columnsOf(input), updated_at: now });
        return changed.record_enabled ? changed : endRecording({ tx, now }, changed);
      });
      return shown(row);
    },
    async remove(workspaceId, id) {
      await changeLocked(deps, { workspaceId, roomId: id }, async (told, room) => {
        const ended = await endRoom(told, room, 'DELETED');
        await emitRoom(told, roomDeleted, ended, lastOccupiedAt(ended));
        await retainRoomId(told.tx, id);
        await repository.deleteRoom(told.tx, id);
      });
    },
    end: async (place) => shown(await changeLocked(deps, place, (told, room) => endRoom(told, room, 'CALL'))),
    mint: (place, grant, ttlSec) => mint(deps, place, grant, ttlSec),
    async participants(workspaceId, id, filter, page) {
      await found(db, { workspaceId, roomId: id });
      return participants.listParticipants(db, id, filter, page);
    },
    async record(place, isOn, layout) {
      const room = await found(db, place);
      if (isOn) assertRecordable(room);
      await (isOn ? deps.recorder.start(place, layout) : deps.recorder.stop(place));
      return shown(await found(db, place));
    },
    async face(id) {
      const row = await repository.findPublicRoom(db, id);
      if (row === undefined) return undefined;
      const isOver = row.expires_at !== null && row.expires_at <= deps.clock.now();
      return {
        isEnded: row.status === 'ENDED' || isOver,
        creator: row.creator_name ?? row.username,
        recordEnabled: row.record_enabled,
        isBroadcast: (await streamsOf(db, [id])).size > 0,
      };
    },
    most: (workspaceId) => participants.peakRoomOccupancy(db, workspaceId),
  };
}

async function shownAll(
  deps: Pick<Deps, 'db' | 'recorder'>,
  rows: readonly RoomRow[],
): Promise<RoomDetails[]> {
  const { db } = deps;
  const ids = rows.map(({ id }) => id);
  const counts = await participants.countParticipants(db, ids);
  const [streams, bookings] = [await streamsOf(db, ids), await bookingsOf(db, ids)];
  return rows.map((row) => {
    const { id } = row;
    const at = { count: counts.get(id), streamId: streams.get(id), bookingId: bookings.get(id) };
    return shownOf(deps, row, at);
  });
}

function shownOf(
  { recorder }: Pick<Deps, 'recorder'>,
  row: RoomRow,
  {
    count = 0,
    streamId = null,
    bookingId = null,
  }: { [K in 'count' | 'streamId' | 'bookingId']?: RoomDetails[K] | undefined } = {},
): RoomDetails {
  return { row, count, canRecord: row.record_enabled && recorder.canRecord(), streamId, bookingId };
}

async function found(db: Db, { workspaceId, roomId }: RoomRef): Promise<RoomRow> {
  const row = await (workspaceId === null
    ? repository.findOpenRoom(db, roomId)
    : repository.findRoom(db, workspaceId, roomId));
  if (row === undefined) throw notFound();
  return row;
}

async function create(deps: Deps, workspaceId: string, input: RoomIn): Promise<RoomDetails> {
  const { events, clock, bus } = deps;
  refuseInput(input);
  const row = await events.transaction(async (tx, append) => {
    const now = clock.now();
    refuseTimes(input, now);
    const peakOccupancy = await refuseSize(deps, tx, workspaceId, input.maxParticipants);
    const made = await repository.insertRoom(tx, {
      ...DEFAULTS,
      max_participants: peakOccupancy,
      ...columnsOf(input),
      name: input.name,
      id: newId('room', clock),
      workspace_id: workspaceId,
      status: 'CREATED',
      created_at: now,
      updated_at: now,
    });
    await emitRoom({ tx, append, facts: deps.facts, now }, roomCreated, made);
    return made;
  });
  bus.publish(ROOM_TOPIC, row.id);
  return shownOf(deps, row);
}

async function mint(
  { db, clock, tokens }: Deps,
  place: RoomRef,
  grant: RoomGrant,
  ttlSec: number,
): Promise<{ token: string; expiresAt: Date }> {
  const { identity, name } = grant;
  if (!isName(identity)) throw badRequest('identity', `The identity ${UNSEEN}`);
  if (name !== null && !isName(name)) throw badRequest('name', `The name ${UNSEEN}`);
  const room = await found(db, place);
  refuseEnded(room);
  if (room.expires_at !== null && room.expires_at <= clock.now()) throw ended();
  if (await repository.isBanned(db, room.id, identity)) {
    throw new AppError('CONFLICT', { field: 'identity', message: 'This identity is banned from the room.' });
  }
  return tokens.mint(room.id, grant, ttlSec);
}

const UNSEEN =
  'must contain visible characters, and no line breaks, control characters or directional formatting.';

function refuseInput({ name }: RoomPatch): void {
  if (name !== undefined && !isName(name)) throw badRequest('name', `The name ${UNSEEN}`);
}

function refuseTimes({ expiresAt }: RoomPatch, now: Date): void {
  if (typeof expiresAt === 'string' && Date.parse(expiresAt) <= now.getTime()) {
    throw badRequest('expiresAt', 'expiresAt must be in the future.');
  }
}

function refuseEnded({ status }: RoomRow): void {
  if (status === 'ENDED') throw ended();
}

function ended(): AppError {
  return new AppError('CONFLICT', { message: 'The room has ended.' });
}

/** @returns the maximum participants of the room. */
async function refuseSize(
  { engineMax }: Deps,
  db: Db,
  workspaceId: string,
  wanted: number | undefined,
): Promise<number> {
  const { plan } = await getWorkspaceOwner(db, workspaceId);
  const { roomParticipants } = PLANS[plan];
  const peakOccupancy = Math.min(roomParticipants, engineMax());
  if (wanted === undefined || wanted <= peakOccupancy) return wanted ?? peakOccupancy;
  if (wanted > roomParticipants) {
    throw quotaExceeded(
      { workspaceId, resource: 'ROOM_PARTICIPANTS' },
      `Limit of ${roomParticipants} participants per room reached for this plan.`,
    );
  }
  throw badRequest('maxParticipants', `Rooms on this platform are limited to ${engineMax()} participants.`);
}

/** Returns the grant for the token input of the API. */
export function grantOf(input: TokenIn): RoomGrant {
  const { identity, name = null, role = 'SPEAKER', permissions = {} } = input;
  return { identity, name, role, permissions, isGuest: false };
}
