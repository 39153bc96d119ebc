import { realpath, stat } from 'node:fs/promises';

/** Fonts for the names. The packages of ffmpeg include the first one; the others cover more scripts. */
const FONTS = [
  '/usr/share/fonts/truetype/noto/NotoSans-Regular.ttf',
  '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf',
  '/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf',
  '/usr/share/fonts/dejavu/DejaVuSans.ttf',
  '/usr/share/fonts/TTF/DejaVuSans.ttf',
  '/usr/share/fonts/ttf-dejavu/DejaVuSans.ttf',
];
/** Font paths without characters that a filter would require to be quoted. */
const PLAIN = /^[\w./-]+$/;

/** Finds an installed font for the names; null when there is none. */
export async function findFont(): Promise<string | null> {
  for (const font of FONTS) {
    const path = await realpath(font).catch(() => null);
    if (path !== null && PLAIN.test(path) && (await stat(path)).isFile()) return path;
  }
  return null;
}
