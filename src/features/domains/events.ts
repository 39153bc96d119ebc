import Type from 'typebox';
import { defineEvent } from '../../events/catalogue.ts';
import { Instant, Nullable, OneOf } from '../../http/schema.ts';
import { VALUES } from '../../platform/db/tables.generated.ts';

const data = Type.Object({
  domainId: Type.String(),
  domain: Type.String(),
  method: Nullable(OneOf(VALUES.integration_domain.method)),
  checkedAt: Instant,
  error: Nullable(Type.String()),
  sequence: Type.Integer({ description: 'Rises with every event about this domain.' }),
});

const sample = {
  domainId: 'dom_01kafe3n4pfx2v9yq6m8d7t5zr',
  domain: 'shop.example.com',
  method: 'DNS_TXT',
  checkedAt: '2026-11-20T09:00:00.000Z',
  error: null,
  sequence: 1,
} as const;
const error = 'dns: no TXT record at _svc-verify.shop.example.com has the value';

/** `api.md` C9, C11. */
export const domainEvents = [
  defineEvent({
    type: 'integration_domain.verified',
    description: 'A proof was found, for the first time or again: checkout works from this domain.',
    data,
    sample,
  }),
  defineEvent({
    type: 'integration_domain.failed',
    description:
      'No proof was found within seven days. POST /me/integration-domains/{id}/verify starts anew.',
    data,
    sample: { ...sample, error },
  }),
  defineEvent({
    type: 'integration_domain.lapsed',
    description: 'The proof has been gone for three days: checkout stops until it is back.',
    data,
    sample: { ...sample, error, sequence: 2 },
  }),
];
