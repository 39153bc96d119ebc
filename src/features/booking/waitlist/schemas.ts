import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant, Nullable, OneOf } from '../../../http/schema.ts';
import { MODES, type Mode } from '../../../kernel/access.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { EntryRow } from './repository.ts';

export const WaitlistIn = namedSchema(
  'WaitlistJoin',
  Type.Object({
    email: Type.String({ minLength: 1, maxLength: 254 }),
    name: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 200 }))),
    cohortId: Type.Optional(
      Nullable(
        Type.String({ maxLength: 64, description: 'Cohort of a COHORT product; null means any cohort.' }),
      ),
    ),
    startsAt: Type.Optional(
      Nullable(Type.String({ format: 'date-time', description: 'Start of the slot; null means any time.' })),
    ),
  }),
  { email: 'grace@example.com', name: 'Grace', startsAt: '2026-12-01T09:00:00.000Z' },
);
export type WaitlistIn = Static<typeof WaitlistIn>;

export const WaitlistEntry = namedSchema(
  'WaitlistEntry',
  Type.Object({
    id: IdOf('wl'),
    productId: IdOf('bkp'),
    cohortId: Nullable(Type.String()),
    startsAt: Nullable(Instant),
    email: Type.String(),
    name: Nullable(Type.String()),
    position: Type.Integer({ description: 'Position in the waitlist; does not change.' }),
    status: OneOf(VALUES.waitlist_entry.status),
    confirmedAt: Nullable(
      Type.String({
        format: 'date-time',
        description:
          'When the entry was confirmed, through the emailed link or because it was added with an API key. Null if unconfirmed; only confirmed entries receive offers.',
      }),
    ),
    offeredAt: Nullable(Instant),
    offerExpiresAt: Nullable(Instant),
    bookingId: Nullable(Type.String({ description: 'ID of the booking, if CONVERTED.' })),
    createdAt: Instant,
    mode: OneOf(MODES),
  }),
  {
    id: 'wl_01kafe3n4pfx2v9yq6m8d7t5zr',
    productId: 'bkp_01kafe3n4pfx2v9yq6m8d7t5zr',
    cohortId: null,
    startsAt: '2026-12-01T09:00:00.000Z',
    email: 'grace@example.com',
    name: 'Grace',
    position: 1,
    status: 'WAITING',
    confirmedAt: '2026-11-20T09:00:00.000Z',
    offeredAt: null,
    offerExpiresAt: null,
    bookingId: null,
    createdAt: '2026-11-20T09:00:00.000Z',
    mode: 'live',
  },
);

export function toEntry(row: EntryRow, mode: Mode): Static<typeof WaitlistEntry> {
  return {
    id: row.id,
    productId: row.product_id,
    cohortId: row.offered_cohort_id ?? row.cohort_id,
    startsAt: (row.offered_starts_at ?? row.starts_at)?.toISOString() ?? null,
    email: row.email,
    name: row.name,
    position: row.position,
    status: row.status,
    confirmedAt: row.confirmed_at?.toISOString() ?? null,
    offeredAt: row.offered_at?.toISOString() ?? null,
    offerExpiresAt: row.offer_expires_at?.toISOString() ?? null,
    bookingId: row.booking_id,
    createdAt: row.created_at.toISOString(),
    mode,
  };
}
