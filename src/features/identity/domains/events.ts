import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../../events/catalogue.ts';
import { namedSchema } from '../../../http/named-schema.ts';
import { Instant, Nullable, OneOf } from '../../../http/schema.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';

const data = namedSchema(
  'IntegrationDomainEventData',
  Type.Object({
    domainId: Type.String(),
    domain: Type.String(),
    method: Nullable(OneOf(VALUES.integration_domain.method)),
    checkedAt: Instant,
    error: Nullable(Type.String()),
    sequence: Type.Integer({ description: 'Increases with each event about this domain.' }),
  }),
);

const sample = {
  domainId: 'dom_01kafe3n4pfx2v9yq6m8d7t5zr',
  domain: 'shop.example.com',
  method: 'DNS_TXT',
  checkedAt: '2026-11-20T09:00:00.000Z',
  error: null,
  sequence: 1,
} as const;
const error = 'dns: no TXT record at _svc-verify.shop.example.com has the value';

export const domainVerified = defineEvent({
  type: 'integration_domain.verified',
  description: 'The domain was verified: checkout works from it.',
  data,
  sample,
});

export const domainFailed = defineEvent({
  type: 'integration_domain.failed',
  description:
    'Verification failed: no proof was found within seven days. POST /me/integration-domains/{id}/verify restarts it.',
  data,
  sample: { ...sample, error },
  notice: {
    severity: 'WARNING',
    words: ({ domain, domainId: id, error: seen }) => ({
      title: `${domain} was not verified`,
      body: `No proof was found within seven days, so automatic checks have stopped. ${lastSeen(seen)}`.trim(),
      resource: { type: 'INTEGRATION_DOMAIN', id },
    }),
  },
});

export const domainLapsed = defineEvent({
  type: 'integration_domain.lapsed',
  description:
    'The proof has been missing for three days: checkout from the domain is blocked until it is restored.',
  data,
  sample: { ...sample, error, sequence: 2 },
  notice: {
    severity: 'CRITICAL',
    words: ({ domain, domainId: id, error: seen }) => ({
      title: `Verification of ${domain} lost`,
      body: `The proof has been missing for three days, so checkout calls from this domain are rejected until it is restored. ${lastSeen(seen)}`.trim(),
      resource: { type: 'INTEGRATION_DOMAIN', id },
    }),
  },
});

export const domainEvents: EventDefinition[] = [domainVerified, domainFailed, domainLapsed];

function lastSeen(error: string | null): string {
  return error === null || error === '' ? '' : `Last seen: ${error}.`;
}
