/**
 * Threads that decode for a run which is to keep so many cores busy, as ffmpeg itself has it: one more, since one of them mostly
 * waits for the others.
 */
export function decoderThreads(cores: number): number {
  return cores > 1 ? cores + 1 : 1;
}

/** Lines of a macroblock. */
const BLOCK_LINES = 16;
/** With fewer rows of blocks for each, x264's threads wait for each other. */
const ROWS_PER_THREAD = 2;

/** The same for an encode of H.264, as x264 itself has it (docs/decisions/transcoding.md#threads). */
export function h264Threads(cores: number, height: number): number {
  const most = Math.max(1, Math.floor(Math.ceil(height / BLOCK_LINES) / ROWS_PER_THREAD));
  return Math.min(most, Math.max(1, Math.floor(cores * 1.5)));
}
