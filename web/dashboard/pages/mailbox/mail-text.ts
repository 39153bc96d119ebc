export interface TextSegment {
  /** Where it begins in the text. */
  at: number;
  words: string;
  /** Where it leads on this host; null for text and for links to others. */
  href: string | null;
}

/** The address without the full stop or bracket that ends its sentence. */
const LINK = /https?:\/\/[^\s<>"]*[^\s<>".,;:!?)\]]/g;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Text and links of a mail, in their order. Links of other hosts stay text: nobody is led away from here by a mail. */
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
