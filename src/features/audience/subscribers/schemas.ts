import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant, Nullable, OneOf } from '../../../http/schema.ts';
import { MODES, type Mode } from '../../../kernel/access.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { SubscriberRow } from './repository.ts';

namedSchema('SubscriberStatus', OneOf(VALUES.subscriber.status));

export const SubscriberIn = namedSchema(
  'SubscriberCreate',
  Type.Object({
    email: Type.String({ minLength: 1, maxLength: 320, description: 'Trimmed and lowercased.' }),
    name: Type.Optional(Nullable(Type.String({ maxLength: 120 }))),
    source: Type.Optional(
      Nullable(
        Type.String({ maxLength: 100, description: 'Your note on where the email address comes from.' }),
      ),
    ),
    consentAt: Type.Optional(
      Nullable(
        Type.String({
          format: 'date-time',
          description: 'When the person consented. If omitted, they are asked by email.',
        }),
      ),
    ),
  }),
  { email: 'grace@example.com', name: 'Grace Hopper', source: 'shop' },
);
export type SubscriberIn = Static<typeof SubscriberIn>;

export const Subscriber = namedSchema(
  'Subscriber',
  Type.Object({
    id: IdOf('sbr'),
    email: Type.String(),
    name: Nullable(Type.String()),
    status: OneOf(VALUES.subscriber.status),
    source: Type.String(),
    consentAt: Nullable(Instant),
    createdAt: Instant,
    mode: OneOf(MODES),
  }),
  {
    id: 'sbr_01kafe3n4pfx2v9yq6m8d7t5zr',
    email: 'grace@example.com',
    name: 'Grace Hopper',
    status: 'PENDING',
    source: 'shop',
    consentAt: null,
    createdAt: '2026-11-20T09:00:00.000Z',
    mode: 'live',
  },
);

export function toSubscriber(row: SubscriberRow, mode: Mode): Static<typeof Subscriber> {
  const { id, email, name, status, source } = row;
  const consentAt = row.consent_at?.toISOString() ?? null;
  return { id, email, name, status, source, consentAt, createdAt: row.created_at.toISOString(), mode };
}
