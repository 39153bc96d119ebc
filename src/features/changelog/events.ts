import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../events/catalogue.ts';
import { named } from '../../http/named.ts';
import { Instant, Nullable } from '../../http/schema.ts';

export const changelogPublished = defineEvent({
  type: 'changelog.published',
  description:
    'A release of the interface is in use, which the platform did not have before. Once for each account, at its live webhooks.',
  data: named(
    'ChangelogEventData',
    Type.Object({
      version: Type.String({ description: 'Read it with GET /changelog/{version}.' }),
      breaking: Type.Boolean({ description: 'A client may have to be changed.' }),
      sequence: Type.Integer({ minimum: 1, description: 'Always 1.' }),
    }),
  ),
  sample: { version: '1.0.0', breaking: true, sequence: 1 },
  notice: {
    severity: 'INFO',
    words: ({ version, breaking }) => ({
      title: `Release ${version} of the API is in use`,
      body: breaking
        ? `Some of its changes may concern your programs: read GET /changelog/${version}.`
        : `Your programs go on as they are. What is new stands in GET /changelog/${version}.`,
      resource: { type: 'RELEASE', id: version },
    }),
  },
});

export const changelogDeprecationUsed = defineEvent({
  type: 'changelog.deprecation_used',
  description:
    'Keys of the workspace have called a deprecated endpoint in the last 30 days. At most once in 30 days for each endpoint.',
  data: named(
    'DeprecationUsedEventData',
    Type.Object({
      endpoint: Type.String({ description: 'Method and path.' }),
      lastUsedAt: { ...Instant, description: 'To the day at least.' },
      sunsetAt: { ...Instant, description: 'From here on it answers 410.' },
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
      title: `Your keys call ${endpoint}, which is withdrawn`,
      body: `From ${sunsetAt.slice(0, 10)} on it is refused.${successor === null ? '' : ` Call ${successor} instead.`}`,
      resource: { type: 'ENDPOINT', id: endpoint },
    }),
  },
});

export const changelogEvents: EventDefinition[] = [changelogPublished, changelogDeprecationUsed];
