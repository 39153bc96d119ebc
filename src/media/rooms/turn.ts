import { createHmac } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';

/** Server in the form of RTCPeerConnection's `iceServers`. */
export interface IceServer {
  urls: string[];
  username?: string;
  credential?: string;
}

interface Options {
  /** `stun:`, `turn:` and `turns:` addresses. */
  urls: readonly string[];
  /** Shared secret of the TURN servers. */
  secret: string | undefined;
  clock: Clock;
}

/**
 * Lifetime of credentials: a room may be long, and browsers request a new allocation when their network
 * changes.
 */
const GOOD_FOR_SEC = 86_400;

/**
 * Creates the function that returns the ICE servers for one participant, with expiring credentials
 * (draft-uberti-behave-turn-rest-00, 2.2): the username is the expiration time, the password its HMAC-SHA1.
 */
export function createIceServers({ urls, secret, clock }: Options): () => IceServer[] {
  const stun = urls.filter((url) => url.startsWith('stun'));
  const turn = urls.filter((url) => url.startsWith('turn'));
  return () => {
    const servers: IceServer[] = stun.length === 0 ? [] : [{ urls: stun }];
    if (turn.length === 0 || secret === undefined) return servers;
    const username = String(Math.floor(clock.ms() / 1000) + GOOD_FOR_SEC);
    const credential = createHmac('sha1', secret).update(username).digest('base64');
    return [...servers, { urls: turn, username, credential }];
  };
}
