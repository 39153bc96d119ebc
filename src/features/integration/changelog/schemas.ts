import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { Instant, Nullable, OneOf } from '../../../http/schema.ts';
import { CHANGE_TYPES, type PublishedRelease } from '../../../kernel/release.ts';
import { instantOf } from './rules.ts';

export const Release = namedSchema(
  'Release',
  Type.Object({
    version: Type.String(),
    releasedAt: Instant,
    entries: Type.Array(
      Type.Object({
        type: OneOf(CHANGE_TYPES),
        title: Type.String(),
        description: Type.String(),
        endpoints: Type.Array(Type.String(), {
          description: 'Method and path. Empty if the change applies to all endpoints or none.',
        }),
        breaking: Type.Boolean({ description: 'Whether clients may need changes.' }),
        sunsetAt: Nullable(
          Type.String({ ...Instant, description: 'From this time on, the endpoints return 410.' }),
        ),
      }),
    ),
  }),
  {
    version: '1.0.0',
    releasedAt: '2026-11-01T00:00:00.000Z',
    entries: [
      {
        type: 'ADDED',
        title: 'Playlists',
        description: 'Videos in an order.',
        endpoints: ['GET /playlists', 'POST /playlists'],
        breaking: false,
        sunsetAt: null,
      },
    ],
  },
);

export function toRelease({ version, date, entries }: PublishedRelease): Static<typeof Release> {
  return {
    version,
    releasedAt: instantOf(date),
    entries: entries.map(({ type, title, description, endpoints, breaking, ending }) => ({
      ...{ type, title, description },
      endpoints: [...endpoints],
      breaking: breaking === true,
      sunsetAt: ending === undefined ? null : instantOf(ending.sunset),
    })),
  };
}
