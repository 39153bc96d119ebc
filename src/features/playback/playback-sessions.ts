import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import { DAY_MS } from '../../kernel/durations.ts';
import type { Secrets } from '../../platform/secrets.ts';
import { GRANTS, type Grant } from './access.rules.ts';

/** A viewer who was let in to one video or stream. */
export interface PlaybackSession {
  /** Of the video or stream. */
  id: string;
  /** By what. */
  grant: Grant | null;
  /** Of the token that let the viewer in; nothing when none was needed. */
  tokenMark: string;
}

/**
 * What the pages give to their players, who tell with it that they play: nobody can invent one. It opens nothing.
 */
export interface PlaybackSessions {
  /** @param suffix the token that let the viewer in, as a query; nothing when none was needed. */
  mint(id: string, grant: Grant | null, suffix: string): string;
  /** Null when it is none of ours, or too old. */
  read(session: string): PlaybackSession | null;
}

const PURPOSE = 'playback session';
const FORM = /^((?:str|vid)_[0-9a-z]{26})\.([0-9a-z]{1,9})\.([a-z]*)\.([\w-]*)\.([\w-]{11})\.([\w-]{43})$/;
const NONCE_BYTES = 8;
/** A page that is left open. */
const KEPT_MS = 7 * DAY_MS;

/** `<id>.<expiry>.<grant>.<mark of the token>.<nonce>.<signature>`; the expiry is in milliseconds, base 36. */
export function createPlaybackSessions({
  secrets,
  clock,
}: {
  secrets: Pick<Secrets, 'sign' | 'verify'>;
  clock: Clock;
}): PlaybackSessions {
  return {
    mint(id, grant, suffix) {
      const nonce = randomBytes(NONCE_BYTES).toString('base64url');
      const expiry = (clock.ms() + KEPT_MS).toString(36);
      const head = [id, expiry, grant ?? '', tokenMark(suffix), nonce].join('.');
      return `${head}.${secrets.sign(PURPOSE, head)}`;
    },
    read(session) {
      const [, id = '', expiry = '', name = '', mark = '', , signature = ''] = FORM.exec(session) ?? [];
      if (signature === '' || Number.parseInt(expiry, 36) <= clock.ms()) return null;
      if (!secrets.verify(PURPOSE, session.slice(0, -signature.length - 1), signature)) return null;
      return { id, grant: GRANTS.find((grant) => grant === name) ?? null, tokenMark: mark };
    },
  };
}

/** Tells tokens apart without holding one. */
export function tokenMark(suffix: string): string {
  return suffix === '' ? '' : createHash('sha256').update(suffix).digest('base64url').slice(0, 16);
}
