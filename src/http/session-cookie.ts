import type { FastifyRequest } from 'fastify';

/** The cookie of a session (docs/concepts/authentication.md#sessions). */
export interface SessionCookie {
  /** Its value; null where none came, or one that is none of ours. */
  read(headers: FastifyRequest['headers']): string | null;
  /** The value of `Set-Cookie` that keeps it, and the one that drops it. */
  keep(token: string): string;
  drop(): string;
}

/** Maximum lifetime of a session; the server may end it earlier. */
const MAX_AGE_SEC = 90 * 86_400;
/** 32 random bytes in base64url. */
const TOKEN = /^[\w-]{43}$/;

/**
 * @param publicUrl URL of the platform: browsers accept `__Host-` cookies only over https (RFC 6265bis
 *   4.1.3.2).
 */
export function createSessionCookie(publicUrl: string): SessionCookie {
  const isSecure = publicUrl.startsWith('https:');
  const name = isSecure ? '__Host-session' : 'session';
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    read({ cookie = '' }) {
      const pairs = cookie.split(';').map((pair) => pair.trim());
      const value = pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
      return value !== undefined && TOKEN.test(value) ? value : null;
    },
    keep: (token) => `${name}=${token}; Max-Age=${MAX_AGE_SEC}; ${attributes}`,
    drop: () => `${name}=; Max-Age=0; ${attributes}`,
  };
}
