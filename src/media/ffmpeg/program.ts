import { checkFfmpeg, type FfmpegInfo } from './check.ts';
import { createGuard, type Guard } from './guard.ts';

/** The ffmpeg of this node for live media: what it is and what it runs under. */
export interface FfmpegProgram {
  /** A name on the PATH or an absolute path. */
  bin: string;
  info: FfmpegInfo;
  guard: Guard;
}

/**
 * @param guard default: one of its own.
 * @param known what was found before: the same version is not asked again what it can do.
 * @throws {Error} whose message is one line that says what is missing and what to do.
 */
export async function openFfmpeg(
  bin: string,
  guard?: Promise<Guard>,
  known: FfmpegInfo | null = null,
): Promise<FfmpegProgram> {
  const [info, found] = await Promise.all([checkFfmpeg(bin, known), guard ?? createGuard([bin])]);
  return { bin, info, guard: found };
}
