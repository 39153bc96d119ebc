import { MediaFileError } from '../contract/index.ts';

/** Maximum frames: ten minutes at 60 fps. */
const MAX_FRAMES = 36_000;
/** Maximum pixels of all frames: eight minutes of 1080p at 30 fps, about twenty minutes of work. */
const MAX_PIXELS = 30e9;

/**
 * Rejects oversized animated images: in these formats a few bytes can be a large frame, and a few kilobytes
 * hours of encoding (docs/decisions/untrusted-media.md#animated-images).
 *
 * @param kind common name of the format: `GIF`.
 * @param frames number of frames after conversion.
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
