import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { HOUR_SEC } from '../../../kernel/durations.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import { signToken, verifyToken } from '../../../platform/signed-token.ts';
import { GRANTS, type Grant } from './access.rules.ts';

/** Signed query tokens for URLs of one video or stream. */
export interface PlaybackTokens {
  /**
   * @param viewerId the viewer of the token: tokens of two viewers differ. It cannot be read from the token.
   */
  mint(grant: Grant, id: string, ttlSec: number, viewerId?: string): { token: string; expiresAt: Date };
  /**
   * Returns the same token for about an hour, valid for at least `ttlSec`, for URLs that are requested often.
   */
  mintSteady(grant: Grant, id: string, ttlSec: number): string;
  /** Returns the grant of the token for this video or stream; null when it is invalid. */
  read(token: string, id: string): Grant | null;
}

const PURPOSE = 'playback';
const VIEWER_LENGTH = 12;
const FORM = /^([a-z]+)\.([0-9a-z]{1,8})(?:\.[\w-]{12})?\.[\w-]+$/;

/**
 * Creates tokens in the form `<grant>.<expiry>[.<viewer>].<signature>`, for one ID; the expiry is in seconds
 * since the Unix epoch, base 36.
 */
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
    /** The token expires on a whole hour, so that the URL stays the same for a while and can be cached. */
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

/** Returns a mark that distinguishes viewers without identifying them. */
function viewerMark(secrets: Secrets, id: string, viewerId: string): string {
  return secrets.sign('viewer', `${id}.${viewerId}`).slice(0, VIEWER_LENGTH);
}
