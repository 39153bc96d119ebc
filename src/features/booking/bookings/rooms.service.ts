import { dateFromMs } from '../../../kernel/clock.ts';
import { AppError } from '../../../kernel/errors.ts';
import { toSingleLine } from '../../../kernel/single-line.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { BookingLinks, JoinRole } from './links.ts';
import * as members from './members.repository.ts';
import type { BookingPorts } from './ports.ts';
import type { BookingRow } from './repository.ts';
import * as repository from './repository.ts';
import { ROOM_AFTER_MS, ROOM_BEFORE_MS, roomStateOf } from './rules.ts';

/** Settings of a new room. */
interface NewRoom {
  name: string;
  recordEnabled: boolean;
  scheduledStartAt: string;
  expiresAt: string;
  metadata: Record<string, string>;
}

interface Grant {
  identity: string;
  name: string | null;
  role: 'HOST' | 'SPEAKER';
  permissions: Record<string, never>;
  isGuest: false;
}

export interface BookingRoomPorts extends Pick<BookingPorts, 'db' | 'clock' | 'log'> {
  rooms: {
    create(workspaceId: string, input: NewRoom): Promise<{ row: { id: string } }>;
    remove(workspaceId: string, id: string): Promise<void>;
    /** @throws {AppError} NOT_FOUND for a room that was deleted; CONFLICT for one that has ended. */
    mint(
      place: { workspaceId: string; roomId: string },
      grant: Grant,
      ttlSec: number,
    ): Promise<{ token: string }>;
  };
  cohorts: {
    /** Lists sessions by start time. */
    sessions(db: Db, cohortId: string): Promise<Session[]>;
    setRoom(tx: Tx, sessionId: string, roomId: string): Promise<void>;
  };
  links: Pick<BookingLinks, 'stateOf'>;
  /** URL without a trailing slash. */
  publicUrl: string;
}

/** Session of a cohort. */
interface Session {
  id: string;
  starts_at: Date;
  ends_at: Date;
  room_id: string | null;
}

/** Result of a request to join a room. */
export type JoinLink =
  | { kind: 'OPEN'; url: string }
  /** `row.starts_at` is the start of the next session for a cohort. */
  | { kind: 'EARLY' | 'OVER' | 'CANCELED' | 'REPLACED'; row: BookingRow };

/** Rooms of bookings (docs/decisions/booking.md#rooms). */
export interface BookingRooms {
  /** Creates the rooms that are needed soon; the worker calls it. */
  prepare(): Promise<void>;
  /**
   * @param token of the link.
   * @returns null for a token that was never signed for this role and booking.
   */
  enter(bookingId: string, way: JoinRole, token: string): Promise<JoinLink | null>;
}

const BATCH = 50;
const NAME_LENGTH = 120;
/** Lifetime of a token for joining; people in the room stay. */
const TTL_SEC = 3600;

export function createBookingRooms(ports: BookingRoomPorts): BookingRooms {
  const { db, clock, log, links } = ports;
  return {
    async prepare() {
      const now = clock.now();
      const soon = dateFromMs(now.getTime() + ROOM_BEFORE_MS);
      for (const id of await members.listActiveCohorts(db, { now, soon })) {
        await prepareSession(ports, id).catch((error: unknown) => {
          log.warn({ err: error, cohortId: id }, 'the room of a session could not be created; will retry');
        });
      }
      for (const id of await repository.listWithoutRoom(db, { now, soon }, BATCH)) {
        await ensureRoom(ports, id).catch((error: unknown) => {
          log.warn({ err: error, bookingId: id }, 'the room of a booking could not be created; will retry');
        });
      }
    },
    async enter(id, way, token) {
      const row = await repository.findBooking(db, id);
      const link = row === undefined ? 'BAD' : links.stateOf(way, row, token);
      if (row === undefined || link === 'BAD') return null;
      if (row.status === 'CANCELED' || row.status === 'EXPIRED' || row.status === 'PENDING_PAYMENT') {
        return { kind: 'CANCELED', row };
      }
      if (link === 'OLD') return { kind: 'REPLACED', row };
      const who = way === 'host' ? 'HOST' : 'CUSTOMER';
      if (row.cohort_id !== null) return enterSession(ports, row, { cohortId: row.cohort_id, who });
      const state = roomStateOf(row, clock.now());
      if (state !== 'OPEN') return { kind: state, row };
      const roomId = row.room_id ?? (await ensureRoom(ports, id));
      return roomId === null ? { kind: 'OVER', row } : wayIn(ports, row, { roomId, who });
    },
  };
}

/** Joins the current or next session. */
async function enterSession(
  ports: BookingRoomPorts,
  row: BookingRow,
  { cohortId, who }: { cohortId: string; who: 'CUSTOMER' | 'HOST' },
): Promise<JoinLink> {
  const { db, clock, cohorts } = ports;
  const now = clock.now();
  const sessions = await cohorts.sessions(db, cohortId);
  const next = sessions.find((one) => roomStateOf(one, now) !== 'OVER');
  if (next === undefined) return { kind: 'OVER', row };
  const { starts_at, ends_at } = next;
  if (roomStateOf(next, now) === 'EARLY') return { kind: 'EARLY', row: { ...row, starts_at, ends_at } };
  const roomId = next.room_id ?? (await ensureSessionRoom(ports, row, { cohortId, session: next }));
  await repository.setBookingRoom(db, row.id, roomId);
  return wayIn(ports, row, { roomId, who });
}

async function prepareSession(ports: BookingRoomPorts, cohortId: string): Promise<void> {
  const { db, clock, cohorts } = ports;
  const sessions = await cohorts.sessions(db, cohortId);
  const session = sessions.find(
    (one) => one.room_id === null && roomStateOf(one, clock.now()) === 'OPEN' && one.ends_at > clock.now(),
  );
  const [id] = await members.listOfCohort(db, cohortId, 'CONFIRMED');
  const row = id === undefined ? undefined : await repository.findBooking(db, id);
  if (session !== undefined && row !== undefined) await ensureSessionRoom(ports, row, { cohortId, session });
}

async function ensureSessionRoom(
  ports: BookingRoomPorts,
  row: BookingRow,
  { cohortId, session }: { cohortId: string; session: Session },
): Promise<string> {
  const { db, cohorts, rooms } = ports;
  const made = await makeRoom(ports, row, { from: session.starts_at, to: session.ends_at });
  const kept = await db.transaction().execute(async (tx) => {
    await members.lockCohort(tx, cohortId);
    const known = (await cohorts.sessions(tx, cohortId)).find(({ id }) => id === session.id)?.room_id;
    if (known) return known;
    await cohorts.setRoom(tx, session.id, made);
    return made;
  });
  if (kept !== made) await rooms.remove(row.workspace_id, made);
  return kept;
}

async function wayIn(
  { rooms, publicUrl }: BookingRoomPorts,
  row: BookingRow,
  { roomId, who }: { roomId: string; who: 'CUSTOMER' | 'HOST' },
): Promise<JoinLink> {
  const isHost = who === 'HOST';
  const grant: Grant = {
    identity: isHost ? 'host' : row.id,
    name: isHost ? null : toSingleLine(row.customer_name),
    role: isHost ? 'HOST' : 'SPEAKER',
    permissions: {},
    isGuest: false,
  };
  try {
    const { token } = await rooms.mint({ workspaceId: row.workspace_id, roomId }, grant, TTL_SEC);
    // The fragment of a URL is neither sent nor logged.
    return { kind: 'OPEN', url: `${publicUrl}/r/${roomId}#token=${token}` };
  } catch (error) {
    const isOver = error instanceof AppError && (error.code === 'CONFLICT' || error.code === 'NOT_FOUND');
    if (isOver) return { kind: 'OVER', row };
    throw error;
  }
}

/**
 * Returns the room of a booking, created when missing; a class shares one. @returns null when the booking no
 * longer takes place.
 */
async function ensureRoom(ports: BookingRoomPorts, id: string): Promise<string | null> {
  const { db, rooms } = ports;
  const row = await repository.findBooking(db, id);
  if (row === undefined || row.starts_at === null || row.ends_at === null) return null;
  const known = row.occurrence_id === null ? null : await roomOfClass(ports, row.occurrence_id);
  const roomId = known ?? (await makeRoom(ports, row, { from: row.starts_at, to: row.ends_at }));
  const kept = await db.transaction().execute(async (tx) => {
    const held = await repository.lockBooking(tx, id);
    const isSame = held?.status === 'CONFIRMED' && held.starts_at?.getTime() === row.starts_at?.getTime();
    if (held === undefined || !isSame) return null;
    const ofClass = held.occurrence_id === null ? null : await roomOfClass({ db: tx }, held.occurrence_id);
    const wanted = held.room_id ?? ofClass ?? roomId;
    if (held.occurrence_id !== null && ofClass === null) {
      await repository.setOccurrenceRoom(tx, held.occurrence_id, wanted);
    }
    await repository.updateBooking(tx, id, { room_id: wanted });
    return wanted;
  });
  // Another process was faster, or the booking was moved in the meantime.
  if (kept !== roomId && known === null) await rooms.remove(row.workspace_id, roomId);
  return kept;
}

async function roomOfClass({ db }: Pick<BookingRoomPorts, 'db'>, id: string): Promise<string | null> {
  return (await repository.findOccurrence(db, id))?.room_id ?? null;
}

async function makeRoom(
  { db, rooms }: BookingRoomPorts,
  row: BookingRow,
  { from, to }: { from: Date; to: Date },
): Promise<string> {
  const product = await repository.findProduct(db, row.product_id);
  const made = await rooms.create(row.workspace_id, {
    name: [...toSingleLine(product.title)].slice(0, NAME_LENGTH).join('') || 'Booking',
    recordEnabled: product.recordable,
    scheduledStartAt: from.toISOString(),
    expiresAt: dateFromMs(to.getTime() + ROOM_AFTER_MS).toISOString(),
    metadata: { productId: product.id, bookingId: row.id },
  });
  return made.row.id;
}
