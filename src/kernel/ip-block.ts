import { isIPv4, isIPv6 } from 'node:net';

/** An IPv6 client holds a whole /64, so that is what counts as its address. */
export function ipBlock(ip: string): string {
  const plain = plainAddress(ip);
  return isIPv6(plain) ? ipv6Prefix(plain, 4) : plain;
}

/** Returns the network that addresses of one household or office share: an IPv4 /24, an IPv6 /48. */
export function networkBlock(ip: string): string {
  const plain = plainAddress(ip);
  if (isIPv6(plain)) return ipv6Prefix(plain, 3);
  return isIPv4(plain) ? `${plain.split('.').slice(0, 3).join('.')}.0/24` : plain;
}

/** Removes the zone, and unwraps an IPv4-mapped address. */
export function plainAddress(ip: string): string {
  return ip.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
}

/** @param length in groups of 16 bits. */
function ipv6Prefix(plain: string, length: number): string {
  const [head = '', tail] = plain.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const missing = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0');
  const groups = [...left, ...(tail === undefined ? [] : missing), ...right];
  return `${groups
    .slice(0, length)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/${length * 16}`;
}
