import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { Deleted, IdOf, Instant, Nullable, NullableObject, OneOf, Title } from '../../../http/schema.ts';
import { MODES, type Mode } from '../../../kernel/access.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { ProductRow } from './repository.ts';

/** Largest amount of a single charge at the providers, in cents. */
const MAX_CENTS = 99_999_999;
/** Maximum buffer: one year. */
const MAX_BUFFER_MIN = 525_600;
const MAX_CAPACITY = 1_000_000;
/** Maximum days: a hundred years. */
const MAX_DAYS = 36_500;

const FIELD_TYPES = ['TEXT', 'LONGTEXT', 'SELECT', 'CHECKBOX', 'EMAIL', 'PHONE'] as const;

const IntakeField = namedSchema(
  'IntakeField',
  Type.Object({
    key: Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_]{0,63}$', description: 'Key of the answer; unique.' }),
    label: Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' }),
    type: OneOf(FIELD_TYPES),
    required: Type.Boolean(),
    options: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' }), {
        minItems: 1,
        maxItems: 50,
        uniqueItems: true,
        description: 'Options of a SELECT field; required there and not allowed elsewhere.',
      }),
    ),
  }),
);

const settings = {
  title: Title,
  type: OneOf(VALUES.booking_product.type),
  priceCents: Type.Integer({ minimum: 0, maximum: MAX_CENTS, description: 'Price of one booking.' }),
  description: Nullable(Type.String({ maxLength: 2000 })),
  thumbnailUrl: Nullable(Type.String({ maxLength: 2048, description: 'http or https URL.' })),
  durationMin: Type.Integer({ minimum: 1, maximum: 600 }),
  bufferMin: Type.Integer({
    minimum: 0,
    maximum: MAX_BUFFER_MIN,
    description: 'Buffer after each booking.',
  }),
  capacity: Type.Integer({
    minimum: 1,
    maximum: MAX_CAPACITY,
    description: 'Seats of a LIVE_CLASS, and default seats of a COHORT. A ONE_TO_ONE has one.',
  }),
  currency: OneOf(['USD'] as const),
  recordable: Type.Boolean(),
  replayAccessDays: Type.Integer({
    minimum: 0,
    maximum: MAX_DAYS,
    description: 'Days after the booking in which customers can watch the recording.',
  }),
  refundPolicyDays: Type.Integer({
    minimum: 0,
    maximum: MAX_DAYS,
    description: 'Days before the start until which a cancellation is fully refunded. 0: until the start.',
  }),
  intakeFields: NullableObject(Type.Array(IntakeField, { maxItems: 20, description: 'Intake questions.' })),
  slug: Nullable(Type.String({ maxLength: 100, pattern: '^[a-z0-9-]+$', description: 'URL slug; unique.' })),
};

const { title, type, priceCents, ...others } = settings;

export const ProductIn = namedSchema(
  'BookingProductCreate',
  Type.Object({ title, type, priceCents, ...Type.Partial(Type.Object(others)).properties }),
  { title: 'An hour of coaching', type: 'ONE_TO_ONE', priceCents: 5000 },
);
export type ProductIn = Static<typeof ProductIn>;

export const ProductPatch = namedSchema('BookingProductUpdate', Type.Partial(Type.Object(settings)), {
  priceCents: 6000,
});
export type ProductPatch = Static<typeof ProductPatch>;

export const Product = namedSchema(
  'BookingProduct',
  Type.Object({
    id: IdOf('bkp'),
    ...settings,
    status: OneOf(VALUES.booking_product.status),
    url: Nullable(Type.String({ description: 'URL of the booking page, while the product is published.' })),
    bookingCount: Type.Integer({ description: 'Number of bookings ever made.' }),
    createdAt: Instant,
    updatedAt: Instant,
    publishedAt: Nullable(
      Type.String({ format: 'date-time', description: 'When the product was last published.' }),
    ),
    archivedAt: Nullable(Instant),
    mode: OneOf(MODES),
  }),
  {
    id: 'bkp_01kafe3n4pfx2v9yq6m8d7t5zr',
    title: 'An hour of coaching',
    type: 'ONE_TO_ONE',
    priceCents: 5000,
    description: null,
    thumbnailUrl: null,
    durationMin: 60,
    bufferMin: 15,
    capacity: 1,
    currency: 'USD',
    recordable: false,
    replayAccessDays: 30,
    refundPolicyDays: 1,
    intakeFields: [{ key: 'goal', label: 'What is your goal?', type: 'TEXT', required: true }],
    slug: 'coaching',
    status: 'PUBLISHED',
    url: 'https://video.example.com/book/ada/coaching',
    bookingCount: 12,
    createdAt: '2026-11-20T09:00:00.000Z',
    updatedAt: '2026-11-20T09:00:00.000Z',
    publishedAt: '2026-11-20T09:00:00.000Z',
    archivedAt: null,
    mode: 'live',
  },
);

/** Archived product, or the deletion. */
export const ProductEnded = namedSchema('BookingProductEnded', Type.Union([Product, Deleted]), {
  id: 'bkp_01kafe3n4pfx2v9yq6m8d7t5zr',
  deleted: true,
});

/** Returns the settings of a product by API field name. */
export function settingsOf(row: ProductRow) {
  return {
    title: row.title,
    type: row.type,
    priceCents: row.price_cents,
    description: row.description,
    thumbnailUrl: row.thumbnail_url,
    durationMin: row.duration_min,
    bufferMin: row.buffer_min,
    capacity: row.capacity,
    recordable: row.recordable,
    replayAccessDays: row.replay_access_days,
    refundPolicyDays: row.refund_policy_days,
    intakeFields: row.intake_fields,
    slug: row.slug,
  };
}

/** @param url of its page. */
export function toProduct(
  row: ProductRow,
  { url, mode, bookingCount }: { url: string; mode: Mode; bookingCount: number },
): Static<typeof Product> {
  return {
    id: row.id,
    ...settingsOf(row),
    currency: 'USD',
    status: row.status,
    url: row.status === 'PUBLISHED' ? url : null,
    bookingCount,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    publishedAt: row.published_at?.toISOString() ?? null,
    archivedAt: row.archived_at?.toISOString() ?? null,
    mode,
  };
}
