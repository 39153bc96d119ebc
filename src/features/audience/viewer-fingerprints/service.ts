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

/** Somebody who is there: no address, and nothing that is stored before the salt of a day is added. */
export interface ViewerFingerprint extends Omit<Viewer, 'hash'> {
  /** A keyed hash of address block, agent and workspace. Stays in memory. */
  ipAgentHash: string;
}

/** What is asked of a visit besides the request. */
export interface FingerprintOptions {
  /** Of the video or stream. */
  workspaceId: string;
  /** It is the account that owns it. */
  isSelf: boolean;
  /** The address or host that brought somebody, where it is known better than by `Referer`. */
  referrer?: string | null | undefined;
}

/** Who visits, as far as is kept (docs/decisions/views-and-viewers.md#viewer-properties). */
export interface ViewerFingerprints {
  fingerprint(visit: ClientInfo, purpose: FingerprintOptions): ViewerFingerprint;
  /** As facts have it. @param at decides which day's salt it is. */
  viewerOf(arrival: ViewerFingerprint, at: Date): Promise<Viewer>;
  /** Was it sent by a dashboard session of the account, or of somebody in its team? */
  isOwner(visit: ClientInfo, accountId: string): Promise<boolean>;
  /** The host of the page that a request came from; null for one of our own. */
  referrerOf(visit: ClientInfo): string | null;
}

interface Deps {
  secrets: Pick<Secrets, 'sign'>;
  salts: Pick<Salts, 'of'>;
  countries: Countries;
  /** In which a trusted proxy says the country. */
  countryHeader: string | undefined;
  /** The platform's own. */
  hosts: readonly string[];
  /** Was it sent by a dashboard session of the account, or of somebody in its team? */
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
