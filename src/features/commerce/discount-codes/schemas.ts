import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant, Nullable, OneOf } from '../../../http/schema.ts';
import { MODES, type Mode } from '../../../kernel/access.ts';
import type { DiscountCodeRow } from './repository.ts';
import { STATUSES, statusOf } from './rules.ts';

/** Maximum value of the integer columns. */
const MAX_INTEGER = 2_147_483_647;

const settings = {
  code: Type.String({ minLength: 1, maxLength: 64, description: 'Stored in uppercase; unique.' }),
  productId: Nullable(
    Type.String({ maxLength: 64, description: 'The product the code applies to; null: all products.' }),
  ),
  percentOff: Nullable(Type.Integer({ minimum: 1, maximum: 100 })),
  amountCentsOff: Nullable(Type.Integer({ minimum: 1, maximum: MAX_INTEGER })),
  maxUses: Nullable(Type.Integer({ minimum: 1, maximum: MAX_INTEGER })),
  expiresAt: Nullable(Instant),
  notes: Nullable(Type.String({ maxLength: 500, description: 'Only visible to you.' })),
};

const { code, ...others } = settings;

export const DiscountCodeIn = namedSchema(
  'DiscountCodeCreate',
  Type.Object({ code, ...Type.Partial(Type.Object(others)).properties }),
  { code: 'EARLY', percentOff: 20, maxUses: 50 },
);
export type DiscountCodeIn = Static<typeof DiscountCodeIn>;

export const DiscountCodePatch = namedSchema(
  'DiscountCodeUpdate',
  Type.Partial(Type.Object({ ...settings, isActive: Type.Boolean() })),
  { isActive: false },
);
export type DiscountCodePatch = Static<typeof DiscountCodePatch>;

export const DiscountCode = namedSchema(
  'DiscountCode',
  Type.Object({
    id: IdOf('dsc'),
    ...settings,
    usedCount: Type.Integer(),
    status: OneOf(STATUSES),
    isActive: Type.Boolean(),
    createdAt: Instant,
    updatedAt: Instant,
    mode: OneOf(MODES),
  }),
  {
    id: 'dsc_01kafe3n4pfx2v9yq6m8d7t5zr',
    code: 'EARLY',
    productId: null,
    percentOff: 20,
    amountCentsOff: null,
    maxUses: 50,
    expiresAt: '2026-12-24T00:00:00.000Z',
    notes: null,
    usedCount: 12,
    status: 'ACTIVE',
    isActive: true,
    createdAt: '2026-11-20T09:00:00.000Z',
    updatedAt: '2026-11-20T09:00:00.000Z',
    mode: 'live',
  },
);

export function toDiscountCode(
  row: DiscountCodeRow,
  { mode, now }: { mode: Mode; now: Date },
): Static<typeof DiscountCode> {
  return {
    id: row.id,
    code: row.code,
    productId: row.product_id,
    percentOff: row.percent_off,
    amountCentsOff: row.amount_cents_off,
    maxUses: row.max_uses,
    expiresAt: row.expires_at?.toISOString() ?? null,
    notes: row.notes,
    usedCount: row.used_count,
    status: statusOf(row, now),
    isActive: row.is_active,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    mode,
  };
}
