import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import { GRANTS, type Grant } from './access.rules.ts';

/** Admitted viewer with the grant. */
export interface AdmittedViewer {
  /** Taken from the video or stream. */
  id: string;
  /** Grant that admitted the viewer. */
  grant: Grant | null;
  /** Host of the referring page; null without one. */
  referrer: string | null;
  /** True when the page was rendered for the account that owns the media. */
  isSelf: boolean;
}

/** Viewer admitted to one video or stream. */
export interface PlaybackSession extends AdmittedViewer {
  /** Unique key of the session. */
  key: string;
  madeAtMs: number;
  /** Fingerprint of the token that admitted the viewer; empty when none was needed. */
  tokenFingerprint: string;
}

/**
 * Signed sessions that pages pass to their players for beacons. They cannot be forged, and grant no access.
 */
export interface PlaybackSessions {
  /** @param suffix the token that admitted the viewer, as a query string; empty when none was needed. */
  mint(admitted: AdmittedViewer, suffix: string): string;
  /** Returns null when the session is forged or expired. */
  read(session: string): PlaybackSession | null;
}

const PURPOSE = 'playback session';
/** Sessions of pages that an older version rendered have no source. */
const FORM =
  /^((?:str|vid)_[0-9a-z]{26})\.([0-9a-z]{1,9})\.([a-z]*)\.([\w-]*)\.([\w-]{11})(?:\.([sv])([\w-]*))?\.([\w-]{43})$/;
/** Maximum length of a session: a host has at most 253 characters. */
export const SESSION_LENGTH = 500;
const NONCE_BYTES = 8;
/** Validity of a session, for pages that remain open. */
const SESSION_TTL_MS = 7 * DAY_MS;

/**
 * Creates sessions in the form `<id>.<expiry>.<grant>.<mark of the token>.<nonce>.<source>.<signature>`: the
 * expiry is in milliseconds, base 36; the source is `s` for the owner or `v` for a visitor, and the referrer
 * in base64url.
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
      const expiry = (clock.ms() + SESSION_TTL_MS).toString(36);
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
        madeAtMs: Number.parseInt(expiry, 36) - SESSION_TTL_MS,
        grant: GRANTS.find((grant) => grant === name) ?? null,
        tokenFingerprint: mark,
        referrer: Buffer.from(from, 'base64url').toString() || null,
        isSelf: who === 's',
      };
    },
  };
}

/** Returns a fingerprint that distinguishes tokens without storing them. */
export function tokenFingerprint(suffix: string): string {
  return suffix === '' ? '' : createHash('sha256').update(suffix).digest('base64url').slice(0, 16);
}
