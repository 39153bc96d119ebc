import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant, Nullable, OneOf } from '../../../http/schema.ts';
import { MODES, type Mode } from '../../../kernel/access.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { ExternalRow } from './external.repository.ts';
import type { FeedAddress } from './feed.service.ts';

export const Feed = namedSchema(
  'BookingFeed',
  Type.Object({
    url: Nullable(
      Type.String({
        description:
          'Anyone with this URL can read the bookings. Null without a feed or without write permission.',
      }),
    ),
    createdAt: Nullable(Instant),
  }),
  {
    url: 'https://video.example.com/calendars/mJr0b1c9cGtqQ0pXc3h2dUxVZzZYb1lZ.ics',
    createdAt: '2026-11-20T09:00:00.000Z',
  },
);

export function toFeed({ url, createdAt }: FeedAddress): Static<typeof Feed> {
  return { url, createdAt: createdAt?.toISOString() ?? null };
}

export const ExternalIn = namedSchema(
  'ExternalCalendarCreate',
  Type.Object({
    url: Type.String({
      minLength: 1,
      maxLength: 2048,
      description: 'URL of an iCalendar file: https, http or webcal. It is never returned.',
    }),
    name: Type.Optional(Nullable(Type.String({ maxLength: 100 }))),
  }),
  { url: 'https://calendar.example.com/private/basic.ics', name: 'Private' },
);

export const External = namedSchema(
  'ExternalCalendar',
  Type.Object({
    id: IdOf('cal'),
    name: Nullable(Type.String()),
    host: Type.String({ description: 'Host of the calendar URL.' }),
    status: OneOf(VALUES.external_calendar.status),
    lastError: Nullable(
      Type.String({
        description: 'Human-readable reason why the last sync failed (`FAILED`), or warnings (`OK`).',
      }),
    ),
    eventCount: Type.Integer({ description: 'Number of events that block time in the next 400 days.' }),
    readAt: Nullable(Instant),
    nextReadAt: Instant,
    createdAt: Instant,
    updatedAt: Instant,
    mode: OneOf(MODES),
  }),
  {
    id: 'cal_01kafe3n4pfx2v9yq6m8d7t5zr',
    name: 'Private',
    host: 'calendar.example.com',
    status: 'OK',
    lastError: null,
    eventCount: 12,
    readAt: '2026-11-20T09:00:00.000Z',
    nextReadAt: '2026-11-20T09:15:00.000Z',
    createdAt: '2026-11-20T08:45:00.000Z',
    updatedAt: '2026-11-20T09:00:00.000Z',
    mode: 'live',
  },
);

export function toExternal(row: ExternalRow, mode: Mode): Static<typeof External> {
  return {
    id: row.id,
    name: row.name,
    host: row.host,
    status: row.status,
    lastError: row.last_error,
    eventCount: row.event_count,
    readAt: row.fetched_at?.toISOString() ?? null,
    nextReadAt: row.next_fetch_at.toISOString(),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    mode,
  };
}
