/**
 * The path and query of an address of the platform, so that it is loaded from where the dashboard is: the
 * platform may be reached by more names than the one that it writes into its addresses.
 */
export function ownPath(url: string): string {
  const { pathname, search } = new URL(url, window.location.origin);
  return pathname + search;
}

/** HTML that shows the player on another site. */
export function embedCode(embedUrl: string, title: string): string {
  const name = title.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  return `<iframe src="${embedUrl}" title="${name}" width="640" height="360" style="border:0" allow="autoplay; fullscreen; picture-in-picture" allowfullscreen></iframe>`;
}

/** The public page of what `embedUrl` embeds, without its token. */
export function watchUrlOf(embedUrl: string): string {
  const { origin, pathname } = new URL(embedUrl);
  return origin + pathname.replace('/embed/', '/watch/');
}
