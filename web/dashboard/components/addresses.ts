/**
 * Returns the path and query of a platform URL, so that it is loaded from the dashboard's origin: the
 * platform may be reachable under other names than the one in its URLs.
 */
export function ownPath(url: string): string {
  const { pathname, search } = new URL(url, window.location.origin);
  return pathname + search;
}

/** Returns HTML that embeds the player on another site. */
export function embedCode(embedUrl: string, title: string): string {
  const name = title.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  return `<iframe src="${embedUrl}" title="${name}" width="640" height="360" style="border:0" allow="autoplay; fullscreen; picture-in-picture" allowfullscreen></iframe>`;
}

/** Returns the URL of the public page for an embed URL, without its token. */
export function watchUrlOf(embedUrl: string): string {
  const { origin, pathname } = new URL(embedUrl);
  return origin + pathname.replace('/embed/', '/watch/');
}
