import { hash, randomBytes } from 'node:crypto';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import type { Db } from '../../../platform/db/index.ts';
import { type CalendarEntry, writeCalendar } from '../../../platform/icalendar.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import type { FeedItem, FeedRow } from './feed.repository.ts';
import * as repository from './feed.repository.ts';

/** URL of a feed; null when there is none. */
export interface FeedAddress {
  url: string | null;
  createdAt: Date | null;
}

/** Feed of a creator's bookings for external calendars (docs/concepts/booking-calendars.md#the-feed). */
export interface BookingFeed {
  address(workspaceId: string): Promise<FeedAddress>;
  /** Replaces the URL; the previous one stops working. */
  rotate(workspaceId: string): Promise<FeedAddress>;
  remove(workspaceId: string): Promise<void>;
  /** Returns the calendar file; null for an unknown token and for a suspended creator. */
  read(token: string): Promise<string | null>;
}

export interface FeedDeps {
  db: Db;
  clock: Clock;
  secrets: Pick<Secrets, 'encrypt' | 'decrypt'>;
  availability: { of(db: Db, workspaceId: string): Promise<{ timezone: string }> };
  /** URL without a trailing slash. */
  publicUrl: string;
}

const PAST_DAYS = 30;
const MAX_ITEMS = 5000;
const NONE: FeedAddress = { url: null, createdAt: null };
const sealContext = (workspaceId: string) => `booking feed ${workspaceId}`;
const hashOf = (token: string) => Buffer.from(hash('sha256', token, 'hex'), 'hex');

export function createBookingFeed(deps: FeedDeps): BookingFeed {
  const { db, clock, secrets, availability, publicUrl } = deps;
  const addressOf = ({ workspace_id: workspaceId, token_encrypted, created_at }: FeedRow): FeedAddress => {
    const token = secrets.decrypt(token_encrypted, sealContext(workspaceId));
    return { url: `${publicUrl}/calendars/${token}.ics`, createdAt: created_at };
  };
  return {
    async address(workspaceId) {
      const row = await repository.findFeed(db, workspaceId);
      return row === undefined ? NONE : addressOf(row);
    },
    async rotate(workspaceId) {
      const token = randomBytes(32).toString('base64url');
      const row = await repository.putFeed(db, {
        workspace_id: workspaceId,
        token_hash: hashOf(token),
        token_encrypted: secrets.encrypt(token, sealContext(workspaceId)),
        created_at: clock.now(),
      });
      return addressOf(row);
    },
    remove: (workspaceId) => repository.deleteFeed(db, workspaceId),
    async read(token) {
      const workspaceId = await repository.findFeedWorkspace(db, hashOf(token));
      if (workspaceId === undefined) return null;
      const { timezone } = await availability.of(db, workspaceId);
      const since = dateFromMs(clock.ms() - PAST_DAYS * DAY_MS);
      const items = await repository.listFeedItems(db, workspaceId, since, MAX_ITEMS);
      const { hostname } = new URL(publicUrl);
      const entries = items.map((item) => entryOf(item, timezone, hostname));
      return writeCalendar({ method: 'PUBLISH', name: 'Bookings', entries });
    },
  };
}

function entryOf(item: FeedItem, timezone: string, hostname: string): CalendarEntry {
  const { title, customer, cohort, booked, capacity, startsAt, endsAt, createdAt, updatedAt } = item;
  const whose = customer ?? cohort;
  return {
    uid: `${item.id}@${hostname}`,
    sequence: item.sequence,
    status: 'CONFIRMED',
    title: whose === null ? title : `${title}: ${whose}`,
    ...(booked === null ? {} : { description: `${booked} of ${capacity} seats are booked.` }),
    ...{ startsAt, endsAt, timezone, createdAt, updatedAt },
  };
}
