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
  /** The shared secret of the TURN servers. */
  secret: string | undefined;
  clock: Clock;
}

/** A room may be long, and browsers ask for a new allocation when their network changes. */
const GOOD_FOR_SEC = 86_400;

/**
 * The servers that help one participant through firewalls, with credentials that end by themselves
 * (draft-uberti-behave-turn-rest-00, 2.2): the user name is the time of the end, the password its HMAC-SHA1.
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
