import type { Clock } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Secrets } from '../../../platform/secrets.ts';

/** Visitor of one stream's page who has set a name. */
export interface Guest {
  /** ID that is valid for this stream only. */
  id: string;
  name: string;
}

/**
 * Session tokens that a page stores so that its visitor remains the same guest. They cannot be forged, and
 * each is valid for one stream only.
 */
export interface GuestSessions {
  /** @param id of a guest who only changes their name. */
  mint(streamId: string, name: string, id?: string): { session: string; guest: Guest };
  /** Returns null when the session is forged, of another stream, or expired. */
  read(streamId: string, session: string): Guest | null;
}

const PURPOSE = 'chat guest';
const FORM = /^(gst_[0-9a-z]{26})\.([0-9a-z]{1,9})\.([\w-]{1,200})\.([\w-]{43})$/;
const SESSION_TTL_MS = 30 * DAY_MS;

/** `<id>.<expiry>.<name>.<signature>`; the expiry is in milliseconds, base 36, the name in base64url. */
export function createGuestSessions({
  secrets,
  clock,
}: {
  secrets: Pick<Secrets, 'sign' | 'verify'>;
  clock: Clock;
}): GuestSessions {
  const signed = (streamId: string, head: string) => `${streamId}.${head}`;
  return {
    mint(streamId, name, id = newId('gst')) {
      const expiry = (clock.ms() + SESSION_TTL_MS).toString(36);
      const head = [id, expiry, Buffer.from(name).toString('base64url')].join('.');
      const session = `${head}.${secrets.sign(PURPOSE, signed(streamId, head))}`;
      return { session, guest: { id, name } };
    },
    read(streamId, session) {
      const [, id = '', expiry = '', name = '', signature = ''] = FORM.exec(session) ?? [];
      if (signature === '' || Number.parseInt(expiry, 36) <= clock.ms()) return null;
      const head = session.slice(0, -signature.length - 1);
      if (!secrets.verify(PURPOSE, signed(streamId, head), signature)) return null;
      return { id, name: Buffer.from(name, 'base64url').toString() };
    },
  };
}
