import { realpath, stat } from 'node:fs/promises';

/** Of the names. The packages of ffmpeg bring the first one; the others know more scripts. */
const FONTS = [
  '/usr/share/fonts/truetype/noto/NotoSans-Regular.ttf',
  '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf',
  '/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf',
  '/usr/share/fonts/dejavu/DejaVuSans.ttf',
  '/usr/share/fonts/TTF/DejaVuSans.ttf',
  '/usr/share/fonts/ttf-dejavu/DejaVuSans.ttf',
];
/** Nothing in it would have to be quoted for a filter. */
const PLAIN = /^[\w./-]+$/;

/** A font of this machine for names below pictures; null where there is none. */
export async function findFont(): Promise<string | null> {
  for (const font of FONTS) {
    const path = await realpath(font).catch(() => null);
    if (path !== null && PLAIN.test(path) && (await stat(path)).isFile()) return path;
  }
  return null;
}
