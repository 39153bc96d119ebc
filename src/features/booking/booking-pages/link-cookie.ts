import type { Clock } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import type { Secrets } from '../../../platform/secrets.ts';

/** How long a link that was opened is good for in the browser that opened it. */
const PASS_MS = DAY_MS;

/** What a link in a mail is exchanged for: a cookie, so that no secret stays in the address. */
export interface LinkCookie {
  /** The value of `Set-Cookie`. */
  grant(id: string): string;
  /** Does the browser have the pass for this one? */
  isGood(cookies: string | undefined, id: string): boolean;
  /** Goes into the forms of the page. */
  formToken(id: string): string;
  isOwnForm(id: string, token: string): boolean;
}

/**
 * @param kind of page: a pass of one is none of another.
 * @param publicUrl of the platform: browsers keep `__Secure-` cookies for https alone (RFC 6265bis 4.1.3.1).
 */
export function createLinkCookie(
  {
    secrets,
    clock,
    publicUrl,
  }: { secrets: Pick<Secrets, 'sign' | 'verify'>; clock: Clock; publicUrl: string },
  kind: 'bookings' | 'waitlist',
): LinkCookie {
  const isSecure = publicUrl.startsWith('https:');
  const name = `${isSecure ? '__Secure-' : ''}${kind}-pass`;
  const purpose = { pass: `${kind} pass`, form: `${kind} form` };
  return {
    grant(id) {
      const until = clock.ms() + PASS_MS;
      const value = `${until}.${secrets.sign(purpose.pass, `${id} ${until}`)}`;
      const attributes = `Max-Age=${PASS_MS / 1000}; Path=/${kind}/${id}; HttpOnly; SameSite=Lax`;
      return `${name}=${value}; ${attributes}${isSecure ? '; Secure' : ''}`;
    },
    isGood(cookies = '', id) {
      const start = `${name}=`;
      const found = cookies
        .split(';')
        .map((pair) => pair.trim())
        .find((pair) => pair.startsWith(start));
      const [until = '', signature = ''] = found?.slice(start.length).split('.') ?? [];
      return Number(until) > clock.ms() && secrets.verify(purpose.pass, `${id} ${until}`, signature);
    },
    formToken: (id) => secrets.sign(purpose.form, id),
    isOwnForm: (id, token) => secrets.verify(purpose.form, id, token),
  };
}
