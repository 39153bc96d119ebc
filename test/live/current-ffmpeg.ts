import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** A folder with the newest ffmpeg; the system's is mostly an older one. */
export const CURRENT_FFMPEG_DIR = join(import.meta.dirname, '../../.cache/peers/ffmpeg-current');
export const CURRENT_FFMPEG = join(CURRENT_FFMPEG_DIR, 'ffmpeg');

/** Reason why tests with it are skipped, or false. */
export const NO_CURRENT_FFMPEG = existsSync(CURRENT_FFMPEG)
  ? false
  : 'no current ffmpeg; with Python installed type: node scripts/test-tools.mjs ffmpeg-current';
