import type { Socket as DatagramSocket } from 'node:dgram';
import type { Socket } from 'node:net';
import { memoize } from '../../kernel/cache.ts';
import { type ConnectRequest, type DialRequest, dial, openDatagramSocket } from './dial.ts';
import { OutboundError } from './errors.ts';
import { createResolver, type Resolve } from './resolve.ts';
import { type AllowList, checkAddresses, parseAllowList, parseTarget, type Target } from './ssrf-guard.ts';
import { withDeadline } from './with-deadline.ts';

/** Connections for other protocols than HTTP, behind the same guard; it loads no HTTP client. */
export interface Dialer {
  /**
   * A connection that is pinned to an address that was checked.
   *
   * @throws {GuardError} when the target must not be dialled.
   * @throws {OutboundError} when nothing accepts the connection, or its certificate is not good.
   */
  connect(request: ConnectRequest): Promise<Socket>;
  /** Opens a datagram socket: it is connected, so it exchanges packets only with that address. */
  datagrams(request: DialRequest): Promise<DatagramSocket>;
}

export interface DialerOptions {
  /** CIDRs and names exempt from the guard (`WEBHOOK_ALLOW_PRIVATE` or `FETCH_ALLOW_PRIVATE`). */
  allowPrivate: string[];
  /** `ip:port` each; empty for those of the system. */
  dnsServers: string[];
  /** Replaces the name service, for tests. */
  resolve?: Resolve;
}

/** Dialer with the additional functions that the HTTP client needs. */
export interface GuardedDialer extends Dialer {
  allow: AllowList;
  /** Resolves a target to its checked addresses. @throws {GuardError} @throws {OutboundError} */
  addressesOf(target: Target): Promise<string[]>;
  close(): void;
}

/** Addresses that are known to be good: the same few are dialled over and over. */
const ADDRESSES = 1000;

/** @throws {Error} when an entry of `allowPrivate` is neither a CIDR nor a name. */
export function createDialer(options: DialerOptions): GuardedDialer {
  const allow = parseAllowList(options.allowPrivate);
  const resolver = createResolver(options.dnsServers);
  const resolve = options.resolve ?? resolver.publicName;

  const good = memoize(ADDRESSES, (ip) => {
    checkAddresses([ip], allow);
    return ip;
  });

  const addressesOf = async (target: Target): Promise<string[]> => {
    if (target.literal !== null) return [target.literal];
    // The operator vouches for an allowed name, whatever it resolves to.
    if (allow.hasName(target.name)) return resolver.allowedName(target.name);
    return (await resolve(target.name)).map(good);
  };

  return {
    allow,
    addressesOf,
    connect: (request) =>
      withDeadline(request.timeoutMs, async (deadline) => {
        const target = parseTarget(request.url, allow);
        return dial(await addressesOf(target), target.name, request, deadline);
      }),
    datagrams: (request) =>
      withDeadline(request.timeoutMs, async (deadline) => {
        const [address] = await addressesOf(parseTarget(request.url, allow));
        if (address === undefined) throw new OutboundError('dns', 'ENODATA');
        return openDatagramSocket(address, request.port, deadline);
      }),
    close: () => resolver.close(),
  };
}
