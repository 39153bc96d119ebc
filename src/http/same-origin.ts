import type { FastifyRequest } from 'fastify';
import type { Config } from '../platform/config.ts';

/**
 * Reports whether a page of this platform sends the request. Browsers send `Origin` with everything that is not a
 * plain read (https://fetch.spec.whatwg.org/#origin-header); a request without it is not from such a page.
 */
export type SameOriginCheck = (headers: FastifyRequest['headers']) => boolean;

/** Compares scheme, host and port with those of `PUBLIC_URL`, and with `https://` of each of `PLATFORM_HOSTS`. */
export function createSameOriginCheck(
  config: Pick<Config, 'PUBLIC_URL' | 'PLATFORM_HOSTS'>,
): SameOriginCheck {
  const urls = [config.PUBLIC_URL, ...config.PLATFORM_HOSTS.map((host) => `https://${host}`)];
  const origins = new Set(urls.map((url) => new URL(url).origin));
  return ({ origin = '' }) => origins.has(URL.parse(origin)?.origin ?? '');
}
