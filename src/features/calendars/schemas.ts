import Type, { type Static } from 'typebox';
import { named } from '../../http/named.ts';
import { Instant, Nullable } from '../../http/schema.ts';
import type { FeedAddress } from './feed.service.ts';

export const Feed = named(
  'BookingFeed',
  Type.Object({
    url: Nullable(Type.String({ description: 'Who has it can read the bookings; null: there is no feed.' })),
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
