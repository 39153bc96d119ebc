const ADDRESS = /https?:\/\/[^\s<>"'`\u2066-\u2069\u202a-\u202e]+/giu;
/** Punctuation that ends a sentence is not part of the URL before it. */
const TRAILING = /[.,:;!?)\]}’”»]+$/u;

/** Appends text with clickable URLs. None of them is fetched. */
export function appendText(parent: HTMLElement, text: string): void {
  let at = 0;
  for (const { 0: found, index } of text.matchAll(ADDRESS)) {
    const address = found.replace(TRAILING, '');
    if (!URL.canParse(address)) continue;
    parent.append(text.slice(at, index));
    const link = document.createElement('a');
    link.href = address;
    link.textContent = address;
    link.target = '_blank';
    link.rel = 'noopener noreferrer nofollow ugc';
    parent.append(link);
    at = index + address.length;
  }
  parent.append(text.slice(at));
}
