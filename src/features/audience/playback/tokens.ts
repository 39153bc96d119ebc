import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { HOUR_SEC } from '../../../kernel/durations.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import { signToken, verifyToken } from '../../../platform/signed-token.ts';
import { GRANTS, type Grant } from './access.rules.ts';

/** Signed queries of the addresses of one video or stream. */
export interface PlaybackTokens {
  /** @param viewerId who it is for: the tokens of two viewers differ. It cannot be read from the token. */
  mint(grant: Grant, id: string, ttlSec: number, viewerId?: string): { token: string; expiresAt: Date };
  /** The same text for about an hour, good for `ttlSec` at least: for addresses that are asked for often. */
  mintSteady(grant: Grant, id: string, ttlSec: number): string;
  /** What the token grants for this video or stream; null when it is not valid. */
  read(token: string, id: string): Grant | null;
}

const PURPOSE = 'playback';
const VIEWER_LENGTH = 12;
const FORM = /^([a-z]+)\.([0-9a-z]{1,8})(?:\.[\w-]{12})?\.[\w-]+$/;

/** `<grant>.<expiry>[.<viewer>].<signature>`, for one id; the expiry is in seconds since the Unix epoch, base 36. */
export function createPlaybackTokens({ secrets, clock }: { secrets: Secrets; clock: Clock }): PlaybackTokens {
  const write = (grant: Grant, id: string, expiresSec: number, viewer: readonly string[] = []) => {
    const head = [grant, expiresSec.toString(36), ...viewer].join('.');
    return signToken(secrets, PURPOSE, { head, of: id });
  };
  return {
    mint(grant, id, ttlSec, viewerId) {
      const expiresSec = Math.floor(clock.ms() / 1000) + ttlSec;
      const viewer = viewerId === undefined ? [] : [viewerMark(secrets, id, viewerId)];
      return { token: write(grant, id, expiresSec, viewer), expiresAt: dateFromMs(expiresSec * 1000) };
    },
    /** Ends with a whole hour, so that the address stays the same for a while and can be cached. */
    mintSteady(grant, id, ttlSec) {
      const hour = Math.ceil((clock.ms() / 1000 + ttlSec) / HOUR_SEC);
      return write(grant, id, hour * HOUR_SEC);
    },
    read(token, id) {
      const [, name, expiry = ''] = FORM.exec(token) ?? [];
      const grant = GRANTS.find((one) => one === name);
      if (grant === undefined || Number.parseInt(expiry, 36) * 1000 <= clock.ms()) return null;
      return verifyToken(secrets, PURPOSE, { text: token, of: id }) === null ? null : grant;
    },
  };
}

/** Tells viewers apart without saying who they are. */
function viewerMark(secrets: Secrets, id: string, viewerId: string): string {
  return secrets.sign('viewer', `${id}.${viewerId}`).slice(0, VIEWER_LENGTH);
}
