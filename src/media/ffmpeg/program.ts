import { checkFfmpeg, type FfmpegInfo } from './check.ts';
import { createGuard, type Guard } from './guard.ts';

/** ffmpeg of this node for live media: its capabilities and its guard. */
export interface FfmpegProgram {
  /** A name on the PATH or an absolute path. */
  bin: string;
  info: FfmpegInfo;
  guard: Guard;
}

/**
 * @param guard default: a new one.
 * @param known previous result: the capabilities of an unchanged version are not probed again.
 * @throws {Error} whose message is one line that names the missing feature and the remedy.
 */
export async function openFfmpeg(
  bin: string,
  guard?: Promise<Guard>,
  known: FfmpegInfo | null = null,
): Promise<FfmpegProgram> {
  const [info, found] = await Promise.all([checkFfmpeg(bin, known), guard ?? createGuard([bin])]);
  return { bin, info, guard: found };
}
