import { BlockList, isIP } from 'node:net';
import {
  type Authority,
  expandPermissions,
  hasPermission,
  type Mode,
  type Scope,
} from '../../../kernel/access.ts';
import { AppError } from '../../../kernel/errors.ts';
import { matchesHost, toHostPattern } from '../../../kernel/hostname.ts';

/**
 * Access that a key grants. Empty allowlists allow any caller; an empty list of permissions is explained
 * below.
 */
export interface KeyGrant extends Authority {
  mode: Mode;
  expiresAt: Date | null;
  ipAllowlist: readonly string[];
  domainAllowlist: readonly string[];
  dailyQuota: number | null;
}

const RANK: Record<Scope, number> = { READ_ONLY: 0, STANDARD: 1, FULL_ACCESS: 2 };

/**
 * A key cannot hand on more than it holds itself, in anything (docs/concepts/api-keys.md#owner-credentials).
 *
 * @throws {AppError} MINT_CEILING_EXCEEDED, its field naming the first excess.
 */
export function assertWithinMintCeiling(minter: KeyGrant, wanted: KeyGrant): void {
  const excess = excessOf(minter, wanted);
  if (excess === null) return;
  throw new AppError('MINT_CEILING_EXCEEDED', {
    field: excess,
    message: `A key cannot grant more access than it has: ${excess} exceeds that of the creating key.`,
  });
}

function excessOf(minter: KeyGrant, wanted: KeyGrant): keyof KeyGrant | null {
  if (RANK[wanted.scope] > RANK[minter.scope]) return 'scope';
  if (!expandPermissions(wanted.permissions).every((permission) => hasPermission(minter, permission)))
    return 'permissions';
  if (minter.mode === 'test' && wanted.mode === 'live') return 'mode';
  if (exceeds(wanted.expiresAt?.getTime() ?? null, minter.expiresAt?.getTime() ?? null)) return 'expiresAt';
  if (!isWithin(wanted.ipAllowlist, minter.ipAllowlist, containsBlock)) return 'ipAllowlist';
  if (!isWithin(wanted.domainAllowlist, minter.domainAllowlist, containsDomain)) return 'domainAllowlist';
  return exceeds(wanted.dailyQuota, minter.dailyQuota) ? 'dailyQuota' : null;
}

/** Reports whether a value exceeds the ceiling; null means unlimited. */
function exceeds(wanted: number | null, ceiling: number | null): boolean {
  return ceiling !== null && (wanted === null || wanted > ceiling);
}

/**
 * Reports whether every rule of a list is inside some rule of the ceiling. An empty list restricts nothing.
 */
function isWithin(
  wanted: readonly string[],
  ceiling: readonly string[],
  contains: (outer: string, inner: string) => boolean,
): boolean {
  if (ceiling.length === 0) return true;
  return wanted.length > 0 && wanted.every((inner) => ceiling.some((outer) => contains(outer, inner)));
}

/** Compares both as IPv6 blocks, with IPv4 in its mapped form, as addresses are matched. */
function containsBlock(outer: string, inner: string): boolean {
  const [block, part] = [toBlock(outer), toBlock(inner)];
  if (part.bits < block.bits) return false;
  const list = new BlockList();
  list.addSubnet(block.address, block.bits, 'ipv6');
  return list.check(part.address, 'ipv6');
}

function toBlock(rule: string): { address: string; bits: number } {
  const [address = '', bits] = rule.split('/');
  if (isIP(address) === 6) return { address, bits: Number(bits ?? 128) };
  return { address: `::ffff:${address}`, bits: 96 + Number(bits ?? 32) };
}

function containsDomain(outer: string, inner: string): boolean {
  const [rule, part] = [toHostPattern(outer), toHostPattern(inner)];
  if (rule === null || part === null) return false;
  if (rule === part) return true;
  if (!part.startsWith('*.')) return matchesHost(rule, part);
  return rule.startsWith('*.') && matchesHost(rule, part.slice(2));
}
