import { BlockList, isIP } from 'node:net';
import { GuardError } from './errors.ts';

/** Target of a checked URL. `name` has neither brackets nor trailing dots. */
export interface Target {
  /** Scheme, host and port; the host is the name even though the connection goes to an address. */
  origin: string;
  path: string;
  name: string;
  /** The address when the URL spells one, else null. */
  literal: string | null;
}

/**
 * Addresses and names that the operator exempts (`WEBHOOK_ALLOW_PRIVATE`, `FETCH_ALLOW_PRIVATE`;
 * docs/decisions/outbound-requests.md#the-development-allow-list).
 */
export interface AllowList {
  hasAddress(ip: string): boolean;
  hasName(name: string): boolean;
}

const V4_REFUSED: [cidr: string, label: string][] = [
  ['0.0.0.0/8', 'unspecified address'],
  ['10.0.0.0/8', 'private address'],
  ['100.64.0.0/10', 'shared (CGNAT) address'],
  ['127.0.0.0/8', 'loopback address'],
  ['169.254.0.0/16', 'link-local address'],
  ['172.16.0.0/12', 'private address'],
  ['192.0.0.0/24', 'reserved address'],
  ['192.0.2.0/24', 'documentation address'],
  ['192.31.196.0/24', 'reserved address'],
  ['192.52.193.0/24', 'reserved address'],
  ['192.88.99.0/24', 'reserved address'],
  ['192.168.0.0/16', 'private address'],
  ['192.175.48.0/24', 'reserved address'],
  ['198.18.0.0/15', 'benchmarking address'],
  ['198.51.100.0/24', 'documentation address'],
  ['203.0.113.0/24', 'documentation address'],
  ['224.0.0.0/4', 'multicast address'],
  ['240.0.0.0/4', 'reserved address'],
];

/** Only global unicast may be dialled; every other block of IPv6 falls out by itself. */
const V6_GLOBAL = '2000::/3';

const V6_REFUSED: [cidr: string, label: string][] = [
  ['2001::/23', 'reserved address'],
  ['2001:db8::/32', 'documentation address'],
  ['2002::/16', '6to4 address'],
  ['2620:4f:8000::/48', 'reserved address'],
  ['3fff::/20', 'documentation address'],
];

/** Names for what lies outside of 2000::/3; anything else there is `not a global unicast address`. */
const V6_LABELS: [cidr: string, label: string][] = [
  ['::1/128', 'loopback address'],
  ['::/128', 'unspecified address'],
  ['::ffff:0:0/96', 'IPv4-mapped address'],
  ['::/96', 'IPv4-compatible address'],
  ['64:ff9b::/96', 'NAT64 address'],
  ['64:ff9b:1::/48', 'NAT64 address'],
  ['fc00::/7', 'unique local address'],
  ['fe80::/10', 'link-local address'],
  ['fec0::/10', 'site-local address'],
  ['ff00::/8', 'multicast address'],
];

type Family = 'ipv4' | 'ipv6';

function subnet(cidr: string): { network: string; prefix: number; family: Family } {
  const [network = '', prefix = ''] = cidr.split('/');
  const version = isIP(network);
  const bits = Number(prefix);
  if (version === 0 || !/^\d{1,3}$/.test(prefix) || bits > (version === 4 ? 32 : 128)) {
    throw new Error(`"${cidr}" is not a CIDR`);
  }
  return { network, prefix: bits, family: version === 4 ? 'ipv4' : 'ipv6' };
}

function blockList(cidrs: string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const { network, prefix, family } = subnet(cidr);
    list.addSubnet(network, prefix, family);
  }
  return list;
}

const labelled = (table: [string, string][]) =>
  table.map(([cidr, label]) => ({ list: blockList([cidr]), label }));

const v4Refused = blockList(V4_REFUSED.map(([cidr]) => cidr));
const v4Labels = labelled(V4_REFUSED);
const v6Global = blockList([V6_GLOBAL]);
const v6Refused = blockList(V6_REFUSED.map(([cidr]) => cidr));
const v6Labels = labelled([...V6_REFUSED, ...V6_LABELS]);

/** @returns why the address is not publicly routable, or null when it is. */
export function nonPublicReason(ip: string): string | null {
  // BlockList answers "not listed" for text that is no address, and a zone id escapes its rules.
  const version = ip.includes('%') ? 0 : isIP(ip);
  if (version === 4) {
    if (!v4Refused.check(ip, 'ipv4')) return null;
    return v4Labels.find(({ list }) => list.check(ip, 'ipv4'))?.label ?? 'reserved address';
  }
  if (version === 6) {
    if (v6Global.check(ip, 'ipv6') && !v6Refused.check(ip, 'ipv6')) return null;
    return v6Labels.find(({ list }) => list.check(ip, 'ipv6'))?.label ?? 'not a global unicast address';
  }
  return 'not an address';
}

/**
 * Reads CIDRs, bare addresses and host names. A CIDR that holds 127.0.0.1 implies the name `localhost`.
 *
 * @throws {Error} naming the entry that is neither.
 */
export function parseAllowList(entries: string[]): AllowList {
  const cidrs: string[] = [];
  const names = new Set<string>();
  for (const entry of entries) {
    const version = isIP(entry);
    if (version !== 0) cidrs.push(`${entry}/${version === 4 ? 32 : 128}`);
    else if (entry.includes('/')) cidrs.push(entry);
    else if (/^[a-z0-9_.-]+$/i.test(entry)) names.add(entry.toLowerCase().replace(/\.+$/, ''));
    else throw new Error(`"${entry}" is neither a CIDR nor a host name`);
  }
  // Two lists, because an IPv4 rule of a BlockList also matches IPv4-mapped IPv6 addresses.
  const v4 = blockList(cidrs.filter((cidr) => !cidr.includes(':')));
  const v6 = blockList(cidrs.filter((cidr) => cidr.includes(':')));
  if (v4.check('127.0.0.1', 'ipv4')) names.add('localhost');
  return {
    hasAddress: (ip) => (isIP(ip) === 6 ? v6.check(ip, 'ipv6') : isIP(ip) === 4 && v4.check(ip, 'ipv4')),
    hasName: (name) => names.has(name),
  };
}

/** @throws {GuardError} when one of the addresses is neither public nor allowed. */
export function checkAddresses(addresses: string[], allow: AllowList): void {
  for (const ip of addresses) {
    const refusal = nonPublicReason(ip);
    if (refusal !== null && !allow.hasAddress(ip)) throw new GuardError(refusal);
  }
}

const REFUSED_SUFFIXES = ['local', 'localhost', 'internal', 'lan', 'intranet'];

/** Everything that the URL parser would drop or turn into something else without telling. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const REWRITTEN = /[\u0000-\u0020\u007f-\u00a0\u2028\u2029\ufeff\\]/;
const AUTHORITY = /^[^:]+:[/\\]*([^/\\?#]*)/;

export interface UrlRules {
  /** Maximum characters of the URL as sent and of its normalized form; default 2048. */
  maxLength?: number;
  /** Plain `http:` too: for files that are published anyway. */
  http?: boolean;
}

/**
 * The rules for the text of a URL (docs/decisions/outbound-requests.md#url-parsing). Literal
 * addresses are checked here; names still have to be resolved.
 *
 * @throws {GuardError}
 */
export function parseTarget(
  text: string,
  allow: AllowList,
  { maxLength = 2048, http = false }: UrlRules = {},
): Target {
  if (text.length > maxLength) throw new GuardError(`URL longer than ${maxLength} characters`);
  if (REWRITTEN.test(text)) throw new GuardError('space, control character or backslash in the URL');
  const url = URL.parse(text);
  if (url === null) throw new GuardError('malformed URL');
  if (url.protocol !== 'https:' && !(http && url.protocol === 'http:')) {
    throw new GuardError(http ? 'scheme is neither https nor http' : 'scheme is not https');
  }
  if (url.href.length > maxLength) throw new GuardError(`URL longer than ${maxLength} characters`);
  // `https://@host/` loses its "@" in the parsed form, so look at the text too.
  const authority = AUTHORITY.exec(text)?.[1] ?? '';
  if (authority.includes('@') || url.username !== '' || url.password !== '') {
    throw new GuardError('userinfo in the URL');
  }
  if (url.port === '0') throw new GuardError('port 0');
  const bare = url.hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '');
  const literal = isIP(bare) === 0 ? null : bare;
  if (literal === null) checkName(bare, allow);
  else checkAddresses([literal], allow);
  const host = literal?.includes(':') ? `[${bare}]` : bare;
  const port = url.port === '' ? '' : `:${url.port}`;
  return { origin: `${url.protocol}//${host}${port}`, path: url.pathname + url.search, name: bare, literal };
}

function checkName(name: string, allow: AllowList): void {
  const refusal = allow.hasName(name) ? null : nonPublicNameReason(name);
  if (refusal !== null) throw new GuardError(refusal);
}

/**
 * @returns why the name cannot be one of the public internet
 * (docs/decisions/outbound-requests.md#names-and-addresses), or null.
 */
export function nonPublicNameReason(name: string): string | null {
  const labels = name.split('.');
  if (labels.some((label) => label === '')) return 'empty label in the host name';
  if (name.length > 253 || labels.some((label) => label.length > 63)) return 'host name too long';
  const last = labels.at(-1) ?? '';
  if (REFUSED_SUFFIXES.includes(last)) {
    return labels.length === 1 ? `host name ${last}` : `host name ends with .${last}`;
  }
  return labels.length === 1 ? 'host name without a dot' : null;
}
