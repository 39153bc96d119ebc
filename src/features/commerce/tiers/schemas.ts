import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { Deleted, IdOf, Instant, Nullable, OneOf } from '../../../http/schema.ts';
import { MODES, type Mode } from '../../../kernel/access.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { TierRow } from './repository.ts';

/** Maximum amount of a single charge at the providers, in cents. */
const MAX_CENTS = 99_999_999;
const MAX_COUNT = 1_000_000_000;

const settings = {
  name: Type.String({ minLength: 1, maxLength: 80, pattern: '\\S' }),
  description: Nullable(Type.String({ maxLength: 2000 })),
  priceCents: Type.Integer({ minimum: 0, maximum: MAX_CENTS, description: 'Price per interval.' }),
  interval: OneOf(VALUES.tier.interval),
  trialDays: Type.Integer({ minimum: 0, maximum: 90 }),
  benefits: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 20 }),
  position: Type.Integer({ minimum: 0, maximum: MAX_COUNT, description: 'Sort order.' }),
  isActive: Type.Boolean({ description: 'Whether the tier accepts new members.' }),
  maxMembers: Nullable(Type.Integer({ minimum: 1, maximum: MAX_COUNT })),
};
const currency = OneOf(['USD'] as const);

const { name, priceCents, interval, ...others } = settings;

export const TierIn = namedSchema(
  'TierCreate',
  Type.Object({
    name,
    priceCents,
    interval,
    currency: Type.Optional(currency),
    ...Type.Partial(Type.Object(others)).properties,
  }),
  { name: 'Supporter', priceCents: 500, interval: 'MONTH' },
);
export type TierIn = Static<typeof TierIn>;

export const TierPatch = namedSchema(
  'TierUpdate',
  Type.Partial(
    Type.Object({
      ...settings,
      currency,
      migrateExisting: Type.Boolean({
        description:
          'Whether existing members pay the new price from their next period on; otherwise they keep their price.',
      }),
    }),
  ),
  { priceCents: 700, migrateExisting: true },
);
export type TierPatch = Static<typeof TierPatch>;

export const Tier = namedSchema(
  'Tier',
  Type.Object({
    id: IdOf('tier'),
    ...settings,
    currency,
    memberCount: Nullable(Type.Integer({ description: 'Null without a finance permission.' })),
    creator: Type.Object({ username: Type.String(), displayName: Type.String() }),
    createdAt: Instant,
    updatedAt: Instant,
    archivedAt: Nullable(Instant),
    mode: OneOf(MODES),
  }),
  {
    id: 'tier_01kafe3n4pfx2v9yq6m8d7t5zr',
    name: 'Supporter',
    description: null,
    priceCents: 500,
    interval: 'MONTH',
    trialDays: 0,
    benefits: ['Every film a day early'],
    position: 0,
    isActive: true,
    maxMembers: null,
    currency: 'USD',
    memberCount: 12,
    creator: { username: 'ada', displayName: 'Ada Lovelace' },
    createdAt: '2026-11-20T09:00:00.000Z',
    updatedAt: '2026-11-20T09:00:00.000Z',
    archivedAt: null,
    mode: 'live',
  },
);

/** The archived tier, or the deleted one. */
export const TierEnded = namedSchema('TierEnded', Type.Union([Tier, Deleted]), {
  id: 'tier_01kafe3n4pfx2v9yq6m8d7t5zr',
  deleted: true,
});

/** Creator of a tier. */
export interface Creator {
  username: string;
  displayName: string;
}

/** Returns the settings of a tier under their API names. */
export function settingsOf(row: TierRow) {
  return {
    name: row.name,
    description: row.description,
    priceCents: row.price_cents,
    interval: row.interval,
    trialDays: row.trial_days,
    benefits: row.benefits,
    position: row.position,
    isActive: row.is_active,
    maxMembers: row.max_members,
  };
}

/** @param view.seesMembers whether the caller may see the member count. */
export function toTier(
  row: TierRow,
  view: { creator: Creator; mode: Mode; seesMembers: boolean },
): Static<typeof Tier> {
  return {
    id: row.id,
    ...settingsOf(row),
    currency: 'USD',
    memberCount: view.seesMembers ? row.member_count : null,
    creator: view.creator,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    archivedAt: row.archived_at?.toISOString() ?? null,
    mode: view.mode,
  };
}
