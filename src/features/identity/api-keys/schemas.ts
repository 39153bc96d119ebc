import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant, Nullable, OneOf } from '../../../http/schema.ts';
import { MODES, PERMISSIONS, type Permission, SCOPES } from '../../../kernel/access.ts';
import type { KeyRow } from './repository.ts';

const MAX_RULES = 100;

const meaning =
  'Empty: everything the scope allows except finance. Videos, streams, restreams and rooms can be read regardless of the list, unless it includes a `:read` permission for one of them; then only the included ones.';
const ipAllowlist = Type.Array(Type.String({ maxLength: 64 }), {
  maxItems: MAX_RULES,
  description: 'IPv4 and IPv6 addresses and CIDR blocks; empty: any.',
});
const domainAllowlist = Type.Array(Type.String({ maxLength: 300 }), {
  maxItems: MAX_RULES,
  description:
    'Host names and `*.example.com`, matched against `Origin`, or `Referer` if there is no `Origin`. Empty allows any.',
});

export const ApiKeyIn = namedSchema(
  'ApiKeyCreate',
  Type.Object({
    name: Type.String({ minLength: 1, maxLength: 100 }),
    scope: OneOf(SCOPES, { default: 'STANDARD' }),
    permissions: Type.Unsafe<Permission[]>({
      type: 'array',
      items: OneOf(PERMISSIONS),
      maxItems: PERMISSIONS.length,
      description: meaning,
      default: [],
    }),
    mode: Type.Optional(
      OneOf(MODES, { description: 'Defaults to the mode of the credential that creates the key.' }),
    ),
    ipAllowlist: Type.Unsafe<string[]>({ ...ipAllowlist, default: [] }),
    domainAllowlist: Type.Unsafe<string[]>({ ...domainAllowlist, default: [] }),
    expiresAt: Type.Unsafe<string | null>({
      ...Nullable(Instant),
      default: null,
      description: 'Must be in the future; null means the key never expires.',
    }),
    dailyQuota: Type.Unsafe<number | null>({
      ...Nullable(Type.Integer({ minimum: 1, maximum: 1_000_000_000 })),
      default: null,
    }),
  }),
  {
    name: 'Backend',
    scope: 'STANDARD',
    permissions: ['streams:write', 'videos:read'],
    ipAllowlist: [],
    domainAllowlist: [],
    expiresAt: null,
    dailyQuota: null,
  },
);

const EXAMPLE = {
  id: 'key_01kafe3n4pfx2v9yq6m8d7t5zr',
  name: 'Backend',
  prefix: 'pk_5d0f',
  last4: 'a91c',
  scope: 'STANDARD' as const,
  permissions: ['streams:write', 'videos:read'],
  mode: 'live' as const,
  ipAllowlist: ['192.0.2.0/24'],
  domainAllowlist: [],
  rateLimitPerMinute: 1000,
  dailyQuota: null,
  expiresAt: null,
  lastUsedAt: '2026-11-20T09:00:00.000Z',
  lastUsedIp: '192.0.2.10',
  createdAt: '2026-11-20T09:00:00.000Z',
  revokedAt: null,
  createdByKeyId: null,
  isCurrent: true,
};

const fields = {
  id: IdOf('key'),
  name: Type.String(),
  prefix: Type.String({ pattern: '^pk_[0-9a-f]{4}$', description: 'First seven characters of the key.' }),
  last4: Type.String({ pattern: '^[0-9a-f]{4}$' }),
  scope: OneOf(SCOPES),
  permissions: Type.Array(Type.String(), { description: meaning }),
  mode: OneOf(MODES),
  ipAllowlist,
  domainAllowlist,
  rateLimitPerMinute: Type.Integer(),
  dailyQuota: Nullable(Type.Integer()),
  expiresAt: Nullable(Instant),
  lastUsedAt: Nullable(Type.String({ format: 'date-time', description: 'Accurate to the minute.' })),
  lastUsedIp: Nullable(Type.String()),
  createdAt: Instant,
  revokedAt: Nullable(Instant),
  createdByKeyId: Nullable(
    Type.String({ description: 'Null for keys created by a person or the operator.' }),
  ),
  isCurrent: Type.Boolean({ description: 'Whether this request was made with the key.' }),
};

export const ApiKey = namedSchema('ApiKey', Type.Object(fields), EXAMPLE);

export const ApiKeyWithSecret = namedSchema(
  'ApiKeyWithSecret',
  Type.Object({
    ...fields,
    key: Type.String({
      pattern: '^pk_[0-9a-f]{40}$',
      description: 'The full key; returned only in this response.',
    }),
  }),
  { ...EXAMPLE, key: 'pk_5d0f3b8e1c7a4926d8f05b3e6a1c9d7f2e48a91c' },
);

export const RotateIn = namedSchema(
  'ApiKeyRotate',
  Type.Object({
    overlapSec: Type.Integer({
      minimum: 0,
      maximum: 86_400,
      default: 0,
      description: 'How long the old key stays valid.',
    }),
  }),
  { overlapSec: 3600 },
);

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;

export function toApiKey(row: KeyRow, currentId: string | null): Static<typeof ApiKey> {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    last4: row.last4,
    scope: row.scope,
    permissions: row.permissions,
    mode: row.mode,
    ipAllowlist: row.ip_allowlist,
    domainAllowlist: row.domain_allowlist,
    rateLimitPerMinute: row.rate_limit_per_minute,
    dailyQuota: row.daily_quota,
    expiresAt: iso(row.expires_at),
    lastUsedAt: iso(row.last_used_at),
    lastUsedIp: row.last_used_ip,
    createdAt: row.created_at.toISOString(),
    revokedAt: iso(row.revoked_at),
    createdByKeyId: row.created_by_key_id,
    isCurrent: row.id === currentId,
  };
}
