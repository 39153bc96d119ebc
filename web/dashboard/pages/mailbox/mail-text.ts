export interface TextSegment {
  /** Offset in the text. */
  at: number;
  words: string;
  /** Path on this host; null for text and for links to other hosts. */
  href: string | null;
}

/** Matches a URL without the punctuation that ends its sentence. */
const LINK = /https?:\/\/[^\s<>"]*[^\s<>".,;:!?)\]]/g;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Splits an email into text and links, in order. Links to other hosts stay plain text so that no email can
 * lead users off this site.
 */
export function splitLinks(text: string, here: Pick<URL, 'hostname' | 'port'>): TextSegment[] {
  const pieces: TextSegment[] = [];
  let end = 0;
  for (const { 0: link, index } of text.matchAll(LINK)) {
    const href = ownHref(link, here);
    if (href === null) continue;
    pieces.push({ at: end, words: text.slice(end, index), href: null }, { at: index, words: link, href });
    end = index + link.length;
  }
  pieces.push({ at: end, words: text.slice(end), href: null });
  return pieces.filter(({ words }) => words !== '');
}

function ownHref(link: string, here: Pick<URL, 'hostname' | 'port'>): string | null {
  const url = URL.parse(link);
  if (url === null || url.port !== here.port) return null;
  const isOwn = url.hostname === here.hostname || (LOOPBACK.has(url.hostname) && LOOPBACK.has(here.hostname));
  return isOwn ? url.pathname + url.search + url.hash : null;
}
