/** Longer names are no hosts (RFC 1035, 2.3.4). */
const MOST_OF_HOST = 253;

/**
 * The host of the page that sent somebody: in lower case, without `www.`; null for one of the platform's own, and for
 * what is no address of a page.
 *
 * @param text an address, or a host.
 */
export function referrerHost(text: string | null | undefined, own: readonly string[]): string | null {
  if (text === null || text === undefined || text === '') return null;
  const address = /^[a-z][a-z0-9+.-]*:/i.test(text) ? text : `https://${text}`;
  if (!URL.canParse(address)) return null;
  const { protocol, hostname } = new URL(address);
  if (protocol !== 'http:' && protocol !== 'https:') return null;
  if (own.includes(hostname)) return null;
  const host = hostname.toLowerCase().replace(/^www\./, '');
  return host === '' || host.length > MOST_OF_HOST ? null : host;
}
