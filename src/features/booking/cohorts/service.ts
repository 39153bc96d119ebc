import type { Events } from '../../../events/index.ts';
import { type Clock, dateFromText } from '../../../kernel/clock.ts';
import { omitUndefined } from '../../../kernel/diff.ts';
import { AppError, badRequest, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import { normalizeTimezone } from '../../../kernel/timezone.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { CohortStatus } from '../../../platform/db/tables.generated.ts';
import type { ProductRow } from '../products/index.ts';
import type { CohortVideoRow, RemovedSessionRow, SessionRow } from './content.repository.ts';
import * as content from './content.repository.ts';
import type { CohortRow } from './repository.ts';
import * as repository from './repository.ts';
import { assertTimes, isMoved, type Session } from './rules.ts';
import type { CohortDetails, CohortIn, CohortPatch, CohortVideoIn } from './schemas.ts';
import { readSessions, type SessionCalendar, saveSessions, toPlan } from './sessions.ts';
import {
  type CohortStatusService,
  cancelCohort,
  emitRescheduled,
  type Seats,
  type TransactionContext,
} from './status.ts';

/** Dependencies of cohorts. */
export interface CohortPorts {
  db: Db;
  events: Pick<Events, 'transaction'>;
  clock: Clock;
  states: CohortStatusService;
  products: {
    /** Each: @throws {AppError} NOT_FOUND. */
    get(workspaceId: string, id: string): Promise<ProductRow>;
    lock(tx: Tx, id: string): Promise<ProductRow>;
  };
  /** Returns the zone in which the creator offers time. */
  timezoneOf(db: Db, workspaceId: string): Promise<string>;
  calendar: SessionCalendar;
  /** Reports whether the video belongs to the workspace and is not deleted. */
  hasVideo(db: Db, workspaceId: string, videoId: string): Promise<boolean>;
}

/** Cohorts of a workspace (docs/concepts/booking-cohorts.md). An id that is not the workspace's is NOT_FOUND. */
export interface Cohorts {
  /**
   * Creates a cohort.
   *
   * @throws {AppError} BAD_REQUEST naming the input; CONFLICT for a product that is archived or not a COHORT,
   *   and with field `sessions.0.startsAt` when the creator's calendar has a conflict at that time.
   */
  create(workspaceId: string, productId: string, input: CohortIn): Promise<CohortDetails>;
  /** Lists cohorts, including canceled ones. */
  list(
    workspaceId: string,
    productId: string,
    statuses: readonly CohortStatus[] | undefined,
    page: PageRequest,
  ): Promise<CohortRow[]>;
  get(workspaceId: string, id: string): Promise<CohortRow>;
  whole(rows: readonly CohortRow[]): Promise<CohortDetails[]>;
  /**
   * Updates a cohort. @throws {AppError} as `create`; CONFLICT for one that has ended, and for fields that
   * are fixed once it runs.
   */
  update(workspaceId: string, id: string, input: CohortPatch): Promise<CohortDetails>;
  /** Cancels a cohort and its bookings, and frees its time. @throws {AppError} CONFLICT once it has begun. */
  cancel(workspaceId: string, id: string): Promise<CohortDetails>;
  /**
   * @throws {AppError} NOT_FOUND for a video of another workspace; CONFLICT for one that was added already.
   */
  addVideo(workspaceId: string, id: string, input: CohortVideoIn): Promise<CohortVideoRow>;
  removeVideo(workspaceId: string, id: string, cohortVideoId: string): Promise<void>;
  seats: Seats;
  /** Finds a cohort of any workspace, for checkouts. */
  find(db: Db, id: string): Promise<CohortRow | undefined>;
  /** Lists cohorts of a product that accept or will accept members, by start. */
  coming(db: Db, productId: string): Promise<CohortRow[]>;
  /** Lists sessions by start time. */
  sessions(db: Db, id: string): Promise<SessionRow[]>;
  /** Lists sessions that were removed after this change. */
  removedSessions(db: Db, id: string, changeNo: number): Promise<RemovedSessionRow[]>;
  /** Stores the room of a session. */
  setRoom(tx: Tx, sessionId: string, roomId: string): Promise<void>;
  /** Lists cohorts whose members may watch the video now. */
  showing(db: Db, videoId: string): Promise<string[]>;
  sweep(): Promise<void>;
}

const MAX_VIDEOS = 500;

export function createCohorts(ports: CohortPorts): Cohorts {
  const { db, events, clock, states } = ports;
  const inWork = <T>(run: (work: TransactionContext) => Promise<T>) =>
    events.transaction((tx, append) => run({ tx, append }));
  return {
    async create(workspaceId, productId, input) {
      const { id } = await ports.products.get(workspaceId, productId);
      return inWork((work) => create(ports, work, id, input));
    },
    async list(workspaceId, productId, statuses, page) {
      await ports.products.get(workspaceId, productId);
      return repository.listCohorts(db, productId, statuses, page);
    },
    get: async (workspaceId, id) => found(await repository.findOwnCohort(db, workspaceId, id)),
    whole: (rows) => whole(db, rows),
    update: (workspaceId, id, input) => inWork((work) => update(ports, work, { workspaceId, id }, input)),
    cancel: (workspaceId, id) => inWork((work) => cancel(ports, work, { workspaceId, id })),
    addVideo: (workspaceId, id, input) =>
      db.transaction().execute((tx) => addVideo(ports, tx, { workspaceId, id }, input)),
    removeVideo: (workspaceId, id, cohortVideoId) =>
      db.transaction().execute(async (tx) => {
        found(await repository.lockOwnCohort(tx, workspaceId, id));
        if (!(await content.deleteVideo(tx, id, cohortVideoId))) throw notFound();
      }),
    seats: states.seats,
    find: repository.findCohort,
    coming: (of, productId) => repository.listUpcomingCohorts(of, productId, clock.now()),
    sessions: (of, id) => content.sessionsOf(of, [id]),
    removedSessions: content.listRemovedSessions,
    setRoom: content.setSessionRoom,
    showing: (of, videoId) => content.cohortsWithVideo(of, videoId, clock.now()),
    sweep: states.sweep,
  };
}

function found(row: CohortRow | undefined): CohortRow {
  if (row === undefined) throw notFound();
  return row;
}

async function whole(db: Db, rows: readonly CohortRow[]): Promise<CohortDetails[]> {
  const ids = rows.map(({ id }) => id);
  const sessions = Map.groupBy(await content.sessionsOf(db, ids), ({ cohort_id: id }) => id);
  const videos = Map.groupBy(await content.videosOf(db, ids), ({ cohort_id: id }) => id);
  return rows.map((row) => ({
    row,
    sessions: sessions.get(row.id) ?? [],
    videos: videos.get(row.id) ?? [],
  }));
}

async function wholeOf(tx: Tx, row: CohortRow): Promise<CohortDetails> {
  const [one = { row, sessions: [], videos: [] }] = await whole(tx, [row]);
  return one;
}

async function create(
  ports: CohortPorts,
  work: TransactionContext,
  productId: string,
  input: CohortIn,
): Promise<CohortDetails> {
  const { tx } = work;
  const now = ports.clock.now();
  const product = await ports.products.lock(tx, productId);
  const { workspace_id: workspaceId } = product;
  assertTakesCohorts(product);
  const columns = omitUndefined(toColumns(input));
  const startsAt = dateFromText(input.startsAt);
  const sessions = readSessions(input.sessions ?? []);
  assertTimes(timesOf({ ...BARE, ...columns, starts_at: startsAt }, sessions), product.buffer_min);
  assertFuture(startsAt, now);
  const timezone = columns.timezone ?? (await ports.timezoneOf(tx, workspaceId));
  const row = await repository.insertCohort(tx, {
    ...columns,
    id: newId('coh'),
    workspace_id: workspaceId,
    product_id: productId,
    starts_at: startsAt,
    timezone,
    status: 'SCHEDULED',
    created_at: now,
    updated_at: now,
  });
  await saveSessions(ports, tx, { row, product, held: [], now }, sessions);
  return wholeOf(tx, await ports.states.settle(work, row.id));
}

async function update(
  ports: CohortPorts,
  work: TransactionContext,
  { workspaceId, id }: { workspaceId: string; id: string },
  input: CohortPatch,
): Promise<CohortDetails> {
  const { tx } = work;
  const now = ports.clock.now();
  const known = found(await repository.findOwnCohort(tx, workspaceId, id));
  const product = await ports.products.lock(tx, known.product_id);
  // Uses the current status: a cohort that has just begun cannot be moved.
  const before = await ports.states.settle(work, known.id);
  assertOpenToChange(before);
  const columns = omitUndefined({
    ...toColumns(input),
    starts_at: input.startsAt === undefined ? undefined : dateFromText(input.startsAt),
  });
  const wished = { ...before, ...columns };
  const held = await content.sessionsOf(tx, [id]);
  const sessions = input.sessions === undefined ? held.map(toPlan) : readSessions(input.sessions, held);
  assertTimes(timesOf(wished, sessions), product.buffer_min);
  if (wished.starts_at.getTime() !== before.starts_at.getTime()) {
    if (before.status === 'RUNNING') throw fixed('startsAt', 'The cohort has already started.');
    assertFuture(wished.starts_at, now);
  }
  if (input.capacity !== undefined) assertCapacity(before, input.capacity ?? product.capacity);
  const isNews = isMoved(before, wished, { held: held.map(toPlan), sessions }, now);
  const row = await repository.updateCohort(tx, id, {
    ...columns,
    revision: before.revision + (isNews ? 1 : 0),
    updated_at: now,
  });
  if (input.sessions !== undefined) await saveSessions(ports, tx, { row, product, held, now }, sessions);
  if (isNews) await emitRescheduled(work, row);
  return wholeOf(tx, await ports.states.settle(work, row.id));
}

async function cancel(
  ports: CohortPorts,
  work: TransactionContext,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<CohortDetails> {
  const { tx } = work;
  await ports.states.settle(work, found(await repository.findOwnCohort(tx, workspaceId, id)).id);
  const before = found(await repository.lockOwnCohort(tx, workspaceId, id));
  if (before.status === 'CANCELED') return wholeOf(tx, before);
  if (before.status === 'RUNNING' || before.status === 'COMPLETED') {
    throw new AppError('CONFLICT', {
      message: 'The cohort has already started. Cancel its bookings individually.',
    });
  }
  const now = ports.clock.now();
  for (const session of await content.sessionsOf(tx, [id])) {
    await ports.calendar.free(tx, { sessionId: session.id });
  }
  await cancelCohort(work, id, now);
  return wholeOf(tx, found(await repository.findCohort(tx, id)));
}

async function addVideo(
  ports: Pick<CohortPorts, 'hasVideo'>,
  tx: Tx,
  { workspaceId, id }: { workspaceId: string; id: string },
  { videoId, releaseAt = null, position }: CohortVideoIn,
): Promise<CohortVideoRow> {
  assertOpenToChange(found(await repository.lockOwnCohort(tx, workspaceId, id)));
  if (!(await ports.hasVideo(tx, workspaceId, videoId))) throw notFound('videoId');
  const videos = await content.videosOf(tx, [id]);
  if (videos.length >= MAX_VIDEOS) {
    throw new AppError('CONFLICT', { message: `Limit of ${MAX_VIDEOS} videos per cohort reached.` });
  }
  const row = await content.insertVideo(tx, {
    id: newId('cvi'),
    cohort_id: id,
    video_id: videoId,
    release_at: releaseAt === null ? null : dateFromText(releaseAt),
    position: position ?? (videos.at(-1)?.position ?? -1) + 1,
  });
  if (row === undefined) throw fixed('videoId', 'The cohort already has this video.');
  return row;
}

const BARE = { ends_at: null, enrollment_opens_at: null, enrollment_closes_at: null };

function timesOf(
  row: Pick<CohortRow, 'starts_at' | 'ends_at' | 'enrollment_opens_at' | 'enrollment_closes_at'>,
  sessions: readonly Session[],
) {
  const { starts_at: startsAt, ends_at: endsAt } = row;
  const { enrollment_opens_at: opensAt, enrollment_closes_at: closesAt } = row;
  return { startsAt, endsAt, opensAt, closesAt, sessions };
}

/** Maps the patch to columns; omitted fields are undefined. */
function toColumns(input: CohortPatch) {
  const { endsAt, enrollmentOpensAt: opensAt, enrollmentClosesAt: closesAt, timezone } = input;
  return {
    title: input.title,
    ends_at: toDate(endsAt),
    capacity: input.capacity,
    enrollment_opens_at: toDate(opensAt),
    enrollment_closes_at: toDate(closesAt),
    timezone: timezone === undefined ? undefined : normalizeTimezone(timezone),
  };
}

function toDate(instant: string | null | undefined): Date | null | undefined {
  return instant === null || instant === undefined ? instant : dateFromText(instant);
}

function assertTakesCohorts({ type, status }: ProductRow): void {
  if (type !== 'COHORT') throw new AppError('CONFLICT', { message: 'The product is not of type COHORT.' });
  if (status === 'ARCHIVED') throw new AppError('CONFLICT', { message: 'The product is archived.' });
}

function assertOpenToChange({ status }: CohortRow): void {
  if (status === 'CANCELED') throw new AppError('CONFLICT', { message: 'The cohort was canceled.' });
  if (status === 'COMPLETED') throw new AppError('CONFLICT', { message: 'The cohort has ended.' });
}

function assertFuture(startsAt: Date, now: Date): void {
  if (startsAt <= now) throw badRequest('startsAt', 'startsAt must be in the future.');
}

/** Rejects a capacity below the number of members and claims. */
function assertCapacity(row: CohortRow, capacity: number): void {
  const { enrolled_count: enrolled, reserved_count: claimed } = row;
  if (capacity < enrolled)
    throw badRequest('capacity', `capacity cannot be lower than the ${enrolled} current members.`);
  if (capacity < enrolled + claimed)
    throw fixed('capacity', 'A checkout for a spot in this cohort is in progress.');
}

const fixed = (field: string, message: string) => new AppError('CONFLICT', { field, message });
