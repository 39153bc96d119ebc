import type { Clock } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Secrets } from '../../../platform/secrets.ts';

/** A visitor of the page of one stream who has said a name. */
export interface Guest {
  /** Of this stream alone. */
  id: string;
  name: string;
}

/** What a page keeps so that its visitor is the same guest again: nobody can make one, nor use it on another stream. */
export interface GuestSessions {
  /** @param id of a guest who only takes another name. */
  mint(streamId: string, name: string, id?: string): { session: string; guest: Guest };
  /** Null when it is none of ours, of another stream, or too old. */
  read(streamId: string, session: string): Guest | null;
}

const PURPOSE = 'chat guest';
const FORM = /^(gst_[0-9a-z]{26})\.([0-9a-z]{1,9})\.([\w-]{1,200})\.([\w-]{43})$/;
const KEPT_MS = 30 * DAY_MS;

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
      const expiry = (clock.ms() + KEPT_MS).toString(36);
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
