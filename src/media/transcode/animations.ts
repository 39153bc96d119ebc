import { MediaFileError } from '../contract/index.ts';

/** Ten minutes with sixty pictures a second. */
const MAX_FRAMES = 36_000;
/** Of all pictures together: eight minutes of 1080p with thirty a second, and some twenty minutes of work. */
const MAX_PIXELS = 30e9;

/**
 * Formats for what moves for a moment: a few bytes are a large picture there, and a few kilobytes hours of encoding
 * (docs/decisions/untrusted-media.md#animated-images).
 *
 * @param kind as people call it: `GIF`.
 * @param frames that are made of it.
 * @throws {MediaFileError} UNSUPPORTED_FORMAT.
 */
export function checkAnimation(
  kind: string,
  { width, height }: { width: number; height: number },
  frames: number,
): void {
  if (frames <= MAX_FRAMES && frames * width * height <= MAX_PIXELS) return;
  throw new MediaFileError(
    'UNSUPPORTED_FORMAT',
    `The animation is too long for a ${kind}. Upload it as MP4.`,
  );
}
