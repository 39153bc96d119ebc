/**
 * Returns the number of decoder threads for a run that should use `cores` cores, as ffmpeg chooses it: one
 * more, because usually one of them waits for the others.
 */
export function decoderThreads(cores: number): number {
  return cores > 1 ? cores + 1 : 1;
}

/** Lines of a macroblock. */
const BLOCK_LINES = 16;
/** Minimum rows of blocks for each thread: with fewer, x264's threads wait for each other. */
const ROWS_PER_THREAD = 2;

/**
 * Returns the number of H.264 encoder threads, as x264 chooses it (docs/decisions/transcoding.md#threads).
 */
export function h264Threads(cores: number, height: number): number {
  const most = Math.max(1, Math.floor(Math.ceil(height / BLOCK_LINES) / ROWS_PER_THREAD));
  return Math.min(most, Math.max(1, Math.floor(cores * 1.5)));
}
