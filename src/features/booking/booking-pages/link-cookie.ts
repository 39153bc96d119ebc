import type { Clock } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import type { Secrets } from '../../../platform/secrets.ts';

/** Lifetime of the cookie that an opened link is exchanged for. */
const PASS_MS = DAY_MS;

/** Cookie that an emailed link is exchanged for, so that the URL carries no secret. */
export interface LinkCookie {
  /** Returns the value of `Set-Cookie`. */
  grant(id: string): string;
  /** Reports whether the cookies grant access to this ID. */
  isGood(cookies: string | undefined, id: string): boolean;
  /** Returns the CSRF token for the forms of the page. */
  formToken(id: string): string;
  isOwnForm(id: string, token: string): boolean;
}

/**
 * @param kind page type; a cookie for one type does not grant access to another.
 * @param publicUrl of the platform: browsers accept `__Secure-` cookies only over HTTPS (RFC 6265bis
 *   4.1.3.1).
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
