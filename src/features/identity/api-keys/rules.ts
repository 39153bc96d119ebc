import { hash, randomBytes } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import { PERMISSIONS, type Scope } from '../../../kernel/access.ts';
import { AppError, badRequest } from '../../../kernel/errors.ts';
import { matchesHost, toHostname, toHostPattern } from '../../../kernel/hostname.ts';

const KEY = /^pk_[0-9a-f]{40}$/;

/**
 * `pk_` and 40 hexadecimal characters: 160 random bits (docs/decisions/api-keys.md#generation-and-storage).
 */
export function newKey(): string {
  return `pk_${randomBytes(20).toString('hex')}`;
}

export function isKey(text: string): boolean {
  return KEY.test(text);
}

/** Returns the stored hash of a key; 160 random bits need no slow hash. */
export function hashKey(key: string): Buffer {
  return Buffer.from(hash('sha256', key, 'hex'), 'hex');
}

/** Returns `hashKey` in base64, the cache key. */
export function hashedName(key: string): string {
  return hash('sha256', key, 'base64');
}

export interface Grant {
  scope: Scope;
  expiresAt: Date | null;
  revokedAt: Date | null;
  /** When this secret expires after a rotation; null for the current one. */
  retiresAt: Date | null;
  emailVerified: boolean;
  suspended: boolean;
  ipAllowlist: readonly string[];
  domainAllowlist: readonly string[];
}

/**
 * @throws {AppError} the 401 or 403 of the key check that refuses first (docs/concepts/authentication.md#the-key).
 */
export function assertUsable(grant: Grant, from: { ip: string; origin: string | undefined }, nowMs: number) {
  if (grant.revokedAt !== null || grant.suspended) throw new AppError('KEY_DISABLED');
  if (grant.retiresAt !== null && grant.retiresAt.getTime() <= nowMs) throw new AppError('KEY_DISABLED');
  if (grant.expiresAt !== null && grant.expiresAt.getTime() <= nowMs) throw new AppError('KEY_EXPIRED');
  if (!grant.emailVerified) throw new AppError('EMAIL_NOT_VERIFIED');
  if (grant.ipAllowlist.length > 0 && !ipAllowed(grant.ipAllowlist, from.ip)) {
    throw new AppError('IP_NOT_ALLOWED');
  }
  if (grant.domainAllowlist.length > 0 && !domainAllowed(grant.domainAllowlist, from.origin)) {
    throw new AppError('DOMAIN_NOT_ALLOWED');
  }
}

/**
 * Reports whether an IP address matches the list of addresses and CIDR blocks of both families; a mapped
 * address counts as IPv4.
 */
export function ipAllowed(allowlist: readonly string[], ip: string): boolean {
  const plain = ip.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  const family = isIP(plain) === 6 ? 'ipv6' : 'ipv4';
  return isIP(plain) !== 0 && blockList(allowlist).check(plain, family);
}

function blockList(allowlist: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of allowlist) {
    const [address = '', bits] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

/** Reports whether the text is an IP address or a CIDR block. */
export function isIpRule(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0 || address.includes('%')) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 6 ? 128 : 32));
}

/** Reports whether the text is a host name, optionally prefixed with `*.`. */
export function isDomainRule(text: string): boolean {
  return toHostPattern(text) !== null;
}

/** Reports whether a host matches the list of exact names and `*.example.com` patterns. */
export function domainAllowed(allowlist: readonly string[], host: string | undefined): boolean {
  const name = host === undefined ? null : toHostname(host);
  if (name === null) return false;
  return allowlist.some((rule) => matchesHost(toHostPattern(rule) ?? '', name));
}

/**
 * Rejects permissions that the scope makes void, because they would look like a restriction or a right.
 *
 * @throws {AppError} BAD_REQUEST with the field `permissions`.
 */
export function assertPermissions(scope: Scope, permissions: readonly string[]): void {
  const known: readonly string[] = PERMISSIONS;
  const unknown = permissions.find((permission) => !known.includes(permission));
  if (unknown !== undefined) throw badRequest('permissions', `Unknown permission: ${unknown}.`);
  if (scope === 'FULL_ACCESS' && permissions.length > 0) {
    throw badRequest(
      'permissions',
      'permissions must be empty for a FULL_ACCESS key, which has every permission.',
    );
  }
  // Finance permissions also allow reads of amounts (docs/decisions/authorization.md#permissions).
  const writing = permissions.find(
    (permission) => permission.endsWith(':write') && permission !== 'finance:write',
  );
  if (scope === 'READ_ONLY' && writing !== undefined) {
    throw badRequest('permissions', `A READ_ONLY key cannot have the write permission ${writing}.`);
  }
}
