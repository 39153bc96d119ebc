import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant, Nullable, OneOf } from '../../../http/schema.ts';
import { MODES, type Mode } from '../../../kernel/access.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { DomainRow } from './repository.ts';
import { fileUrl, pendingUntil, recordName, verificationValue } from './rules.ts';

namedSchema('DomainProof', OneOf(VALUES.integration_domain.method));

export const DomainIn = namedSchema(
  'IntegrationDomainCreate',
  Type.Object({
    domain: Type.String({
      minLength: 1,
      maxLength: 300,
      description: 'Host name without scheme, port or path.',
    }),
    includeSubdomains: Type.Boolean({
      default: false,
      description: 'Whether to include subdomains, which requires the TXT record.',
    }),
    method: Type.Optional(
      OneOf(VALUES.integration_domain.method, {
        description: 'Proof you plan to use; either one is sufficient.',
      }),
    ),
  }),
  { domain: 'shop.example.com', includeSubdomains: false, method: 'DNS_TXT' },
);

const EXAMPLE = { domain: 'shop.example.com', token: 'Zk3vQ8rT1xWn5bYc7LdF2hJm9PsR4uGa' };
const EXAMPLE_PROOF = verificationValue(EXAMPLE.token);

export const IntegrationDomain = namedSchema(
  'IntegrationDomain',
  Type.Object({
    id: IdOf('dom'),
    domain: Type.String({ description: 'Lowercase, in Punycode.' }),
    includeSubdomains: Type.Boolean(),
    status: OneOf(VALUES.integration_domain.status),
    method: Nullable(OneOf(VALUES.integration_domain.method)),
    token: Type.String({ pattern: '^[0-9A-Za-z]{32}$' }),
    records: Type.Array(
      Type.Object({
        type: Type.Literal('TXT'),
        name: Type.String(),
        value: Type.String(),
        verified: Type.Boolean({ description: 'Whether the last check found it.' }),
      }),
    ),
    wellKnown: Type.Object({ url: Type.String(), body: Type.String() }),
    lastCheckedAt: Nullable(Instant),
    lastError: Nullable(Type.String()),
    verifiedAt: Nullable(Instant),
    expiresAt: Nullable(
      Type.String({ format: 'date-time', description: 'When verification of a PENDING domain fails.' }),
    ),
    createdAt: Instant,
    mode: OneOf(MODES),
  }),
  {
    id: 'dom_01kafe3n4pfx2v9yq6m8d7t5zr',
    domain: EXAMPLE.domain,
    includeSubdomains: false,
    status: 'VERIFIED',
    method: 'DNS_TXT',
    token: EXAMPLE.token,
    records: [{ type: 'TXT', name: recordName(EXAMPLE.domain), value: EXAMPLE_PROOF, verified: true }],
    wellKnown: { url: fileUrl(EXAMPLE.domain), body: EXAMPLE_PROOF },
    lastCheckedAt: '2026-11-20T09:00:00.000Z',
    lastError: null,
    verifiedAt: '2026-11-20T09:00:00.000Z',
    expiresAt: null,
    createdAt: '2026-11-20T09:00:00.000Z',
    mode: 'live',
  },
);

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;

export function toDomain(row: DomainRow, mode: Mode): Static<typeof IntegrationDomain> {
  const value = verificationValue(row.token);
  return {
    id: row.id,
    domain: row.domain,
    includeSubdomains: row.include_subdomains,
    status: row.status,
    method: row.method,
    token: row.token,
    records: [{ type: 'TXT', name: recordName(row.domain), value, verified: row.txt_verified }],
    wellKnown: { url: fileUrl(row.domain), body: value },
    lastCheckedAt: iso(row.last_checked_at),
    lastError: row.last_error,
    verifiedAt: iso(row.verified_at),
    expiresAt: iso(pendingUntil(row)),
    createdAt: row.created_at.toISOString(),
    mode,
  };
}
