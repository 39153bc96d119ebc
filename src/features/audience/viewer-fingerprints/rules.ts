/** Maximum length of a host name (RFC 1035, 2.3.4). */
const MAX_HOST_LENGTH = 253;

/**
 * Returns the host of the referring page in lower case, without `www.`; null for the platform's own hosts and
 * for texts that are not a page URL.
 *
 * @param text a URL, or a host.
 */
export function referrerHost(text: string | null | undefined, own: readonly string[]): string | null {
  if (text === null || text === undefined || text === '') return null;
  const address = /^[a-z][a-z0-9+.-]*:/i.test(text) ? text : `https://${text}`;
  if (!URL.canParse(address)) return null;
  const { protocol, hostname } = new URL(address);
  if (protocol !== 'http:' && protocol !== 'https:') return null;
  if (own.includes(hostname)) return null;
  const host = hostname.toLowerCase().replace(/^www\./, '');
  return host === '' || host.length > MAX_HOST_LENGTH ? null : host;
}
