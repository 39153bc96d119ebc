import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import type { SummaryRow } from './repository.ts';

const count = Type.Integer();

export const Summary = namedSchema(
  'Summary',
  Type.Object({
    videos: Type.Object({ total: count, ready: count, processing: count, failed: count }),
    streams: Type.Object({ total: count, live: count, withSignal: count }),
    rooms: Type.Object({ active: count }),
    restreams: Type.Object({ active: count }),
    playlists: count,
    followers: count,
    subscribers: count,
    upcomingBookings: count,
    unreadNotifications: count,
    openTickets: count,
    storageBytes: count,
  }),
  {
    videos: { total: 12, ready: 10, processing: 1, failed: 1 },
    streams: { total: 3, live: 1, withSignal: 1 },
    rooms: { active: 0 },
    restreams: { active: 1 },
    playlists: 2,
    followers: 120,
    subscribers: 45,
    upcomingBookings: 4,
    unreadNotifications: 1,
    openTickets: 0,
    storageBytes: 52428800,
  },
);

export function toSummary(row: SummaryRow): Static<typeof Summary> {
  const { videos, ready, processing, failed, streams, live, withSignal, rooms, restreams, ...rest } = row;
  return {
    videos: { total: videos, ready, processing, failed },
    streams: { total: streams, live, withSignal },
    rooms: { active: rooms },
    restreams: { active: restreams },
    ...rest,
  };
}
