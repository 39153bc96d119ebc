import type { Clock } from '../kernel/clock.ts';
import { checkFfmpeg, type FfmpegInfo } from '../media/ffmpeg/check.ts';
import { createGuard, type Guard } from '../media/ffmpeg/guard.ts';
import { type Config, ConfigError } from '../platform/config.ts';

/** ffmpeg does not come and go, and asking it takes a program. */
const FRESH_MS = 60_000;

/**
 * What the ffmpeg of this machine is. Throws, with one line that says what to do, while there is no usable ffmpeg here.
 *
 * @param maxAgeMs of an answer that is good enough, default 60,000.
 */
export type ToolCheck = (maxAgeMs?: number) => Promise<FfmpegInfo>;

export function createToolCheck(ffmpeg: string, clock: Clock): ToolCheck {
  let seen: FfmpegInfo | null = null;
  let seenAt = 0;
  return async (maxAgeMs = FRESH_MS) => {
    if (seen !== null && Math.abs(clock.ms() - seenAt) < maxAgeMs) return seen;
    seen = await checkFfmpeg(ffmpeg, seen);
    seenAt = clock.ms();
    return seen;
  };
}

/** Finds out once what this machine shuts ffmpeg in with. Rejects where the configuration demands more. */
export function createGuardCheck(config: Config): () => Promise<Guard> {
  const find = async () => {
    const { DATA_DIR, SECRET_KEY_FILE } = config;
    const hidden = [DATA_DIR, ...(SECRET_KEY_FILE === undefined ? [] : [SECRET_KEY_FILE])];
    const guard = await createGuard([config.FFMPEG_PATH, config.FFPROBE_PATH], hidden);
    if (guard.weakness === null || !config.REQUIRE_SANDBOX) return guard;
    throw new ConfigError(`REQUIRE_SANDBOX is set, and ffmpeg has no sandbox here: ${guard.weakness}`);
  };
  let found: Promise<Guard> | null = null;
  return () => {
    found ??= find().catch((error: unknown) => {
      found = null;
      throw error;
    });
    return found;
  };
}
