import { createHash, randomBytes } from 'node:crypto';
import { DAY_MS } from '../../../kernel/durations.ts';

/** Lifetime of a member session (docs/concepts/subscriptions.md#the-member-page). */
export const SESSION_MS = DAY_MS;
const TOKEN_BYTES = 32;
/** 32 random bytes in base64url. */
const TOKEN = /^[\w-]{43}$/;

/** Cookie of a member, one per workspace, so that members of several creators stay signed in to each. */
export interface MemberCookie {
  /** Returns the hash of its value; null when there is none for this workspace, or the value is malformed. */
  read(header: string | undefined, workspaceId: string): Buffer | null;
  /** Returns the value of `Set-Cookie` that stores it; the next member, the one that deletes it. */
  keep(workspaceId: string, token: string): string;
  drop(workspaceId: string): string;
}

/**
 * @param publicUrl of the platform: browsers accept `__Host-` cookies only over https (RFC 6265bis 4.1.3.2).
 */
export function createMemberCookie(publicUrl: string): MemberCookie {
  const isSecure = publicUrl.startsWith('https:');
  const nameOf = (workspaceId: string) => `${isSecure ? '__Host-' : ''}member-${workspaceId}`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    read(header = '', workspaceId) {
      const start = `${nameOf(workspaceId)}=`;
      const pairs = header.split(';').map((pair) => pair.trim());
      const value = pairs.find((pair) => pair.startsWith(start))?.slice(start.length);
      return value !== undefined && TOKEN.test(value) ? hashToken(value) : null;
    },
    keep: (workspaceId, token) =>
      `${nameOf(workspaceId)}=${token}; Max-Age=${SESSION_MS / 1000}; ${attributes}`,
    drop: (workspaceId) => `${nameOf(workspaceId)}=; Max-Age=0; ${attributes}`,
  };
}

/** Generates the token of a link or a cookie. */
export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Hashes a token for storage: it is random, so a plain hash is sufficient. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
