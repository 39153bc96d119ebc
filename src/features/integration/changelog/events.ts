import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../../events/catalogue.ts';
import { namedSchema } from '../../../http/named-schema.ts';
import { Instant, Nullable } from '../../../http/schema.ts';

export const changelogPublished = defineEvent({
  type: 'changelog.published',
  description: 'A new API release is available. Sent once per account to its live webhooks.',
  data: namedSchema(
    'ChangelogEventData',
    Type.Object({
      version: Type.String({ description: 'Read it with GET /changelog/{version}.' }),
      breaking: Type.Boolean({ description: 'Whether clients may need changes.' }),
      sequence: Type.Integer({ minimum: 1, description: 'Always 1.' }),
    }),
  ),
  sample: { version: '1.0.0', breaking: true, sequence: 1 },
  notice: {
    severity: 'INFO',
    words: ({ version, breaking }) => ({
      title: `API release ${version} is available`,
      body: breaking
        ? `Some changes may require updates to your integration. See GET /changelog/${version}.`
        : `Your integration does not need changes. See GET /changelog/${version} for what is new.`,
      resource: { type: 'RELEASE', id: version },
    }),
  },
});

export const changelogDeprecationUsed = defineEvent({
  type: 'changelog.deprecation_used',
  description:
    'Keys of the workspace called a deprecated endpoint in the last 30 days. Sent at most once every 30 days per endpoint.',
  data: namedSchema(
    'DeprecationUsedEventData',
    Type.Object({
      endpoint: Type.String({ description: 'Method and path.' }),
      lastUsedAt: { ...Instant, description: 'Accurate to the day or better.' },
      sunsetAt: { ...Instant, description: 'From this time on, the endpoint returns 410.' },
      successor: Nullable(Type.String({ description: 'The path to use instead.' })),
      sequence: Type.Integer({ minimum: 1, description: 'Always 1.' }),
    }),
  ),
  sample: {
    endpoint: 'GET /old-things',
    lastUsedAt: '2027-01-10T09:00:00.000Z',
    sunsetAt: '2028-01-01T00:00:00.000Z',
    successor: '/new-things',
    sequence: 1,
  },
  notice: {
    severity: 'WARNING',
    words: ({ endpoint, sunsetAt, successor }) => ({
      title: `Your keys call ${endpoint}, which is deprecated`,
      body: `It stops working on ${sunsetAt.slice(0, 10)}.${successor === null ? '' : ` Call ${successor} instead.`}`,
      resource: { type: 'ENDPOINT', id: endpoint },
    }),
  },
});

export const changelogEvents: EventDefinition[] = [changelogPublished, changelogDeprecationUsed];
