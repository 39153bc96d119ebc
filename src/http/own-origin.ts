import type { FastifyRequest } from 'fastify';

/**
 * Does a page of this platform ask? Browsers send `Origin` with everything that is not a plain read
 * (https://fetch.spec.whatwg.org/#origin-header); without it, nobody can say.
 */
export type OwnOrigin = (headers: FastifyRequest['headers']) => boolean;

export function createOwnOrigin(platform: { publicUrl: string; hosts: readonly string[] }): OwnOrigin {
  const isSecure = platform.publicUrl.startsWith('https:');
  return ({ origin, host }) => {
    const page = origin === undefined ? null : URL.parse(origin);
    if (page === null || !/^https?:$/.test(page.protocol)) return false;
    // Whoever sits in between can answer for a page without TLS.
    if (isSecure && page.protocol !== 'https:') return false;
    return page.host === host || platform.hosts.includes(page.hostname);
  };
}
