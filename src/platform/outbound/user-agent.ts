import manifest from '../../../package.json' with { type: 'json' };

/** Returns how this platform introduces itself: `Marquee/1.2.3 (+https://video.example)`. */
export function userAgentOf(publicUrl: string): string {
  // A host name in other scripts, or a password, is not for a header.
  const { origin, pathname } = new URL(publicUrl);
  return `Marquee/${manifest.version} (+${(origin + pathname).replace(/\/$/, '')})`;
}
