import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant, Nullable, OneOf } from '../../../http/schema.ts';
import { MODES, type Mode } from '../../../kernel/access.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { CohortVideoRow, SessionRow } from './content.repository.ts';
import type { CohortRow } from './repository.ts';

const MAX_SESSIONS = 200;
const MAX_CAPACITY = 1_000_000;
const MAX_POSITION = 1_000_000_000;

const settings = {
  title: Nullable(Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' })),
  endsAt: Nullable(
    Type.String({ format: 'date-time', description: 'Null: at the end of the last session.' }),
  ),
  timezone: Type.String({
    maxLength: 64,
    description: "IANA time zone; defaults to the availability's time zone.",
  }),
  capacity: Nullable(
    Type.Integer({ minimum: 1, maximum: MAX_CAPACITY, description: "Null: the product's capacity." }),
  ),
  enrollmentOpensAt: Nullable(Type.String({ format: 'date-time', description: 'Null: immediately.' })),
  enrollmentClosesAt: Nullable(
    Type.String({ format: 'date-time', description: 'Null closes enrollment at the start.' }),
  ),
};
const startsAt = Instant;

const SessionIn = namedSchema(
  'CohortSessionInput',
  Type.Object({
    id: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'ID of an existing session, which is rescheduled and keeps its room.',
      }),
    ),
    startsAt: Instant,
    endsAt: Instant,
  }),
);
const sessions = Type.Array(SessionIn, {
  maxItems: MAX_SESSIONS,
  description: 'All sessions; each blocks its time in your calendar.',
});

export const CohortIn = namedSchema(
  'CohortCreate',
  Type.Object({ startsAt, ...Type.Partial(Type.Object({ ...settings, sessions })).properties }),
  {
    startsAt: '2027-01-11T17:00:00Z',
    timezone: 'Europe/Berlin',
    capacity: 12,
    sessions: [{ startsAt: '2027-01-11T17:00:00Z', endsAt: '2027-01-11T18:30:00Z' }],
  },
);
export type CohortIn = Static<typeof CohortIn>;

export const CohortPatch = namedSchema(
  'CohortUpdate',
  Type.Partial(Type.Object({ startsAt, ...settings, sessions })),
  { capacity: 16 },
);
export type CohortPatch = Static<typeof CohortPatch>;

export const CohortVideoIn = namedSchema(
  'CohortVideoCreate',
  Type.Object({
    videoId: Type.String({ maxLength: 64 }),
    releaseAt: Type.Optional(
      Nullable(
        Type.String({
          format: 'date-time',
          description: 'When members can start watching; null means immediately.',
        }),
      ),
    ),
    position: Type.Optional(
      Type.Integer({ minimum: 0, maximum: MAX_POSITION, description: 'Defaults to the end.' }),
    ),
  }),
  { videoId: 'vid_01kafe3n4pfx2v9yq6m8d7t5zr', releaseAt: '2027-01-18T17:00:00Z' },
);
export type CohortVideoIn = Static<typeof CohortVideoIn>;

const VIDEO = {
  id: 'cvi_01kafe3n4pfx2v9yq6m8d7t5zr',
  videoId: 'vid_01kafe3n4pfx2v9yq6m8d7t5zr',
  releaseAt: '2027-01-18T17:00:00.000Z',
  position: 0,
};

export const CohortVideo = namedSchema(
  'CohortVideo',
  Type.Object({
    id: IdOf('cvi'),
    videoId: Type.String(),
    releaseAt: Nullable(Instant),
    position: Type.Integer(),
  }),
  VIDEO,
);

export const Cohort = namedSchema(
  'Cohort',
  Type.Object({
    id: IdOf('coh'),
    productId: Type.String(),
    startsAt,
    ...settings,
    enrolledCount: Type.Integer({ description: 'Number of members.' }),
    status: OneOf(VALUES.cohort.status),
    sessions: Type.Array(
      namedSchema(
        'CohortSession',
        Type.Object({
          id: IdOf('cse'),
          startsAt: Instant,
          endsAt: Instant,
          roomId: Nullable(Type.String()),
        }),
      ),
    ),
    videos: Type.Array(CohortVideo),
    createdAt: Instant,
    updatedAt: Instant,
    canceledAt: Nullable(Instant),
    mode: OneOf(MODES),
  }),
  {
    id: 'coh_01kafe3n4pfx2v9yq6m8d7t5zr',
    productId: 'bkp_01kafe3n4pfx2v9yq6m8d7t5zr',
    title: 'Winter',
    startsAt: '2027-01-11T17:00:00.000Z',
    endsAt: null,
    timezone: 'Europe/Berlin',
    capacity: 12,
    enrolledCount: 3,
    status: 'OPEN',
    enrollmentOpensAt: null,
    enrollmentClosesAt: null,
    sessions: [
      {
        id: 'cse_01kafe3n4pfx2v9yq6m8d7t5zr',
        startsAt: '2027-01-11T17:00:00.000Z',
        endsAt: '2027-01-11T18:30:00.000Z',
        roomId: null,
      },
    ],
    videos: [VIDEO],
    createdAt: '2026-11-20T09:00:00.000Z',
    updatedAt: '2026-11-20T09:00:00.000Z',
    canceledAt: null,
    mode: 'live',
  },
);

/** Cohort with its sessions and videos. */
export interface CohortDetails {
  row: CohortRow;
  sessions: readonly SessionRow[];
  videos: readonly CohortVideoRow[];
}

export function toCohortVideo(row: CohortVideoRow): Static<typeof CohortVideo> {
  const { id, video_id: videoId, release_at: releaseAt, position } = row;
  return { id, videoId, releaseAt: text(releaseAt), position };
}

export function toCohort({ row, sessions: held, videos }: CohortDetails, mode: Mode): Static<typeof Cohort> {
  return {
    id: row.id,
    productId: row.product_id,
    title: row.title,
    startsAt: row.starts_at.toISOString(),
    endsAt: text(row.ends_at),
    timezone: row.timezone,
    capacity: row.capacity,
    enrolledCount: row.enrolled_count,
    status: row.status,
    enrollmentOpensAt: text(row.enrollment_opens_at),
    enrollmentClosesAt: text(row.enrollment_closes_at),
    sessions: held.map(({ id, starts_at, ends_at, room_id: roomId }) => ({
      ...{ id, roomId },
      startsAt: starts_at.toISOString(),
      endsAt: ends_at.toISOString(),
    })),
    videos: videos.map(toCohortVideo),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    canceledAt: text(row.canceled_at),
    mode,
  };
}

const text = (at: Date | null) => at?.toISOString() ?? null;
