import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import { GRANTS, type Grant } from './access.rules.ts';

/** Who was let in, and how. */
export interface AdmittedViewer {
  /** Of the video or stream. */
  id: string;
  /** By what. */
  grant: Grant | null;
  /** The host of the page that brought the viewer; null where none did. */
  referrer: string | null;
  /** The page was made for the account that owns what is played. */
  isSelf: boolean;
}

/** A viewer who was let in to one video or stream. */
export interface PlaybackSession extends AdmittedViewer {
  /** Tells sessions apart. */
  key: string;
  madeAtMs: number;
  /** Of the token that let the viewer in; nothing when none was needed. */
  tokenFingerprint: string;
}

/**
 * What the pages give to their players, who tell with it that they play: nobody can invent one. It opens nothing.
 */
export interface PlaybackSessions {
  /** @param suffix the token that let the viewer in, as a query; nothing when none was needed. */
  mint(admitted: AdmittedViewer, suffix: string): string;
  /** Null when it is none of ours, or too old. */
  read(session: string): PlaybackSession | null;
}

const PURPOSE = 'playback session';
/** Pages that were made by an older version have no source in theirs. */
const FORM =
  /^((?:str|vid)_[0-9a-z]{26})\.([0-9a-z]{1,9})\.([a-z]*)\.([\w-]*)\.([\w-]{11})(?:\.([sv])([\w-]*))?\.([\w-]{43})$/;
/** As long as one can be: a host has at most 253 characters. */
export const SESSION_LENGTH = 500;
const NONCE_BYTES = 8;
/** A page that is left open. */
const KEPT_MS = 7 * DAY_MS;

/**
 * `<id>.<expiry>.<grant>.<mark of the token>.<nonce>.<source>.<signature>`: the expiry is in milliseconds, base 36; the
 * source is `s` for the owner or `v` for a visitor, and the referrer in base64url.
 */
export function createPlaybackSessions({
  secrets,
  clock,
}: {
  secrets: Pick<Secrets, 'sign' | 'verify'>;
  clock: Clock;
}): PlaybackSessions {
  return {
    mint({ id, grant, referrer, isSelf }, suffix) {
      const nonce = randomBytes(NONCE_BYTES).toString('base64url');
      const expiry = (clock.ms() + KEPT_MS).toString(36);
      const source = (isSelf ? 's' : 'v') + Buffer.from(referrer ?? '').toString('base64url');
      const head = [id, expiry, grant ?? '', tokenFingerprint(suffix), nonce, source].join('.');
      return `${head}.${secrets.sign(PURPOSE, head)}`;
    },
    read(session) {
      const found = FORM.exec(session) ?? [];
      const [, id = '', expiry = '', name = '', mark = '', key = '', who = '', from = '', signature = ''] =
        found;
      if (signature === '' || Number.parseInt(expiry, 36) <= clock.ms()) return null;
      if (!secrets.verify(PURPOSE, session.slice(0, -signature.length - 1), signature)) return null;
      return {
        id,
        key,
        madeAtMs: Number.parseInt(expiry, 36) - KEPT_MS,
        grant: GRANTS.find((grant) => grant === name) ?? null,
        tokenFingerprint: mark,
        referrer: Buffer.from(from, 'base64url').toString() || null,
        isSelf: who === 's',
      };
    },
  };
}

/** Tells tokens apart without holding one. */
export function tokenFingerprint(suffix: string): string {
  return suffix === '' ? '' : createHash('sha256').update(suffix).digest('base64url').slice(0, 16);
}
