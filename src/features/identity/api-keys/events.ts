import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../../events/catalogue.ts';
import { namedSchema } from '../../../http/named-schema.ts';
import { Instant, Nullable, OneOf } from '../../../http/schema.ts';
import { MODES, SCOPES } from '../../../kernel/access.ts';

const data = namedSchema(
  'ApiKeyEventData',
  Type.Object({
    keyId: Type.String(),
    name: Type.String(),
    scope: OneOf(SCOPES),
    mode: OneOf(MODES),
    expiresAt: Nullable(Instant),
    sequence: Type.Integer({ description: 'Increases with each event about this key.' }),
  }),
);

const sample = {
  keyId: 'key_01kafe3n4pfx2v9yq6m8d7t5zr',
  name: 'Back office',
  scope: 'STANDARD',
  mode: 'live',
  expiresAt: '2027-11-20T09:00:00.000Z',
  sequence: 1,
} as const;

export const apiKeyCreated = defineEvent({
  type: 'api_key.created',
  description: 'An API key was created.',
  data,
  sample,
});

export const apiKeyRevoked = defineEvent({
  type: 'api_key.revoked',
  description: 'An API key was revoked and no longer works.',
  data,
  sample: { ...sample, sequence: 3 },
});

export const apiKeyExpiring = defineEvent({
  type: 'api_key.expiring',
  description: 'An API key expires within seven days. Sent once per key with a lifetime longer than that.',
  data,
  sample: { ...sample, sequence: 2 },
  notice: {
    severity: 'WARNING',
    words: ({ name, keyId: id, expiresAt }) => ({
      title: `API key “${name}” expires soon`,
      body: `It stops working at ${expiresAt ?? ''}. Create a new key or rotate this one before then.`,
      resource: { type: 'API_KEY', id },
    }),
  },
});

/** Events of API keys, emitted in the workspace of the key. */
export const apiKeyEvents: EventDefinition[] = [apiKeyCreated, apiKeyRevoked, apiKeyExpiring];
