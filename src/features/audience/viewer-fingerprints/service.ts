import { createHmac } from 'node:crypto';
import type { ClientInfo } from '../../../kernel/client-info.ts';
import { utcDay } from '../../../kernel/clock.ts';
import { ipBlock } from '../../../kernel/ip-block.ts';
import { type Countries, countryCode } from '../../../platform/countries.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import type { Viewer } from '../../insight/usage-events/index.ts';
import { referrerHost } from './rules.ts';
import type { Salts } from './salts.ts';
import { createUserAgentParser } from './user-agents.ts';

/** Viewer in memory: it has no IP address, and nothing of it is stored before the salt of a day is added. */
export interface ViewerFingerprint extends Omit<Viewer, 'hash'> {
  /** Keyed hash of IP block, user agent and workspace. Stays in memory. */
  ipAgentHash: string;
}

/** Additional data for a fingerprint besides the request. */
export interface FingerprintOptions {
  /** Taken from the video or stream. */
  workspaceId: string;
  /** True for the account that owns the media. */
  isSelf: boolean;
  /** Referring URL or host, when it is known better than from `Referer`. */
  referrer?: string | null | undefined;
}

/** Fingerprints of visitors (docs/decisions/views-and-viewers.md#viewer-properties). */
export interface ViewerFingerprints {
  fingerprint(visit: ClientInfo, purpose: FingerprintOptions): ViewerFingerprint;
  /** Returns the viewer as stored in usage events. @param at decides which day's salt is used. */
  viewerOf(arrival: ViewerFingerprint, at: Date): Promise<Viewer>;
  /** Reports whether a dashboard session of the account or of a member of its team sent the request. */
  isOwner(visit: ClientInfo, accountId: string): Promise<boolean>;
  /** Returns the host of the referring page; null for an own host. */
  referrerOf(visit: ClientInfo): string | null;
}

interface Deps {
  secrets: Pick<Secrets, 'sign'>;
  salts: Pick<Salts, 'of'>;
  countries: Countries;
  /** Header in which a trusted proxy sends the country. */
  countryHeader: string | undefined;
  /** Host names of the platform. */
  hosts: readonly string[];
  /** Reports whether a dashboard session of the account or of a member of its team sent the request. */
  isAccountSession(visit: ClientInfo, accountId: string): Promise<boolean>;
}

const HASH_BYTES = 12;

export function createViewerFingerprints(deps: Deps): ViewerFingerprints {
  const { secrets, salts, countries, hosts, isAccountSession } = deps;
  const agentOf = createUserAgentParser();
  const countryHeader = deps.countryHeader?.toLowerCase();

  const countryOf = ({ ip, headers, isProxied }: ClientInfo) => {
    const said = countryHeader === undefined || !isProxied ? undefined : headers[countryHeader];
    return said === undefined ? countries.of(ip) : countryCode(said);
  };
  const hostOf = (text: string | null | undefined, { host }: ClientInfo) =>
    referrerHost(text, [...hosts, host]);
  const referrerOf = (visit: ClientInfo) => hostOf(visit.headers.referer, visit);

  return {
    referrerOf,
    fingerprint(visit, { workspaceId, isSelf, referrer }) {
      const { ip, userAgent } = visit;
      return {
        ipAgentHash: secrets.sign('arrival', JSON.stringify([ipBlock(ip), userAgent, workspaceId])),
        country: countryOf(visit),
        ...agentOf(userAgent),
        referrer: hostOf(referrer, visit) ?? referrerOf(visit),
        isSelf,
      };
    },
    async viewerOf({ ipAgentHash, ...arrival }, at) {
      const salt = await salts.of(utcDay(at.getTime()));
      const hash = createHmac('sha256', salt)
        .update(ipAgentHash)
        .digest()
        .subarray(0, HASH_BYTES)
        .toString('hex');
      return { hash, ...arrival };
    },
    async isOwner(visit, accountId) {
      return visit.headers.cookie !== undefined && (await isAccountSession(visit, accountId));
    },
  };
}
