import type { Selectable } from 'kysely';
import Type from 'typebox';
import { field, fieldTable } from '../../../http/field-table.ts';
import { Metadata, Nullable, OneOf, TierIds, Title, Visibility } from '../../../http/schema.ts';
import type { VideoTable } from '../../../platform/db/tables.generated.ts';

/**
 * Settings of a video. Requests, responses, queries and `settingsOf` follow from it. `chapters` and `publishAt`
 * have rules of their own in the service.
 */
export const videoFields = fieldTable({
  title: field({ column: 'title', input: Title, output: Type.String(), example: 'A film' }),
  description: field({
    column: 'description',
    input: Nullable(Type.String({ maxLength: 5000 })),
    output: Nullable(Type.String()),
    example: null,
  }),
  visibility: field({ column: 'visibility', input: Visibility, output: Visibility, example: 'PUBLIC' }),
  tierIds: field({ column: 'tier_ids', input: TierIds, output: TierIds, example: [] }),
  priceCents: field({
    column: 'price_cents',
    input: Nullable(Type.Integer({ minimum: 1, maximum: 99_999_999, description: 'Required for PURCHASE.' })),
    output: Nullable(Type.Integer()),
    example: null,
  }),
  currency: field({ column: 'currency', input: OneOf(['USD']), output: Type.String(), example: 'USD' }),
  tags: field({
    column: 'tags',
    input: Type.Array(Type.String({ minLength: 1, maxLength: 50, pattern: '\\S' }), {
      maxItems: 30,
      uniqueItems: true,
    }),
    output: Type.Array(Type.String()),
    example: ['documentary'],
  }),
  metadata: field({ column: 'metadata', input: Metadata, output: Metadata, example: {} }),
  externalId: field({
    column: 'external_id',
    input: Nullable(Type.String({ maxLength: 255 })),
    output: Nullable(Type.String()),
    example: null,
  }),
});

export type SettingsRow = Pick<Selectable<VideoTable>, (typeof videoFields.columns)[number]>;

/**
 * Returns the settings of a video under their API names. Written out because lists call it for each row: a loop
 * over the fields takes twice the time.
 */
export function settingsOf(row: SettingsRow): typeof videoFields.example {
  return {
    title: row.title,
    description: row.description,
    visibility: row.visibility,
    tierIds: row.tier_ids,
    priceCents: row.price_cents,
    currency: row.currency,
    tags: row.tags,
    metadata: row.metadata,
    externalId: row.external_id,
  };
}
