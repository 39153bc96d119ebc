import Type, { type Static } from 'typebox';
import { Instant, Nullable, OneOf } from '../../http/schema.ts';
import { MODES, type Mode } from '../../kernel/access.ts';
import { VALUES } from '../../platform/db/tables.generated.ts';
import type { DomainRow } from './repository.ts';
import { fileUrl, pendingUntil, proofText, recordName } from './rules.ts';

export const DomainIn = Type.Object({
  domain: Type.String({
    minLength: 1,
    maxLength: 300,
    description: 'A host name without scheme, port or path.',
  }),
  includeSubdomains: Type.Boolean({ default: false, description: 'Proven by the TXT record alone.' }),
  method: Type.Optional(
    OneOf(VALUES.integration_domain.method, { description: 'The proof that is meant; either is enough.' }),
  ),
});

export const IntegrationDomain = Type.Object(
  {
    id: Type.String(),
    domain: Type.String({ description: 'Punycode, lower case.' }),
    includeSubdomains: Type.Boolean(),
    status: OneOf(VALUES.integration_domain.status),
    method: Nullable(OneOf(VALUES.integration_domain.method)),
    token: Type.String(),
    records: Type.Array(
      Type.Object({
        type: Type.Literal('TXT'),
        name: Type.String(),
        value: Type.String(),
        verified: Type.Boolean({ description: 'It was there at the last look.' }),
      }),
    ),
    wellKnown: Type.Object({ url: Type.String(), body: Type.String() }),
    lastCheckedAt: Nullable(Instant),
    lastError: Nullable(Type.String()),
    verifiedAt: Nullable(Instant),
    expiresAt: Nullable(
      Type.String({ format: 'date-time', description: 'When a PENDING domain is given up.' }),
    ),
    createdAt: Instant,
    mode: OneOf(MODES),
  },
  { $id: 'IntegrationDomain' },
);

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;

export function toDomain(row: DomainRow, mode: Mode): Static<typeof IntegrationDomain> {
  const value = proofText(row.token);
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
