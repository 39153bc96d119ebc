import { memoizeAsync } from '../kernel/cache.ts';
import type { Clock } from '../kernel/clock.ts';
import type { VideoCodec } from '../kernel/video-codecs.ts';
import { checkFfmpeg, type FfmpegInfo } from '../media/ffmpeg/check.ts';
import { ENCODERS } from '../media/ffmpeg/codecs.ts';
import { createGuard, type Guard } from '../media/ffmpeg/guard.ts';
import { hardwareEncoder } from '../media/ffmpeg/hardware.ts';
import { createHardwarePool, type HardwarePool } from '../media/ffmpeg/hardware-pool.ts';
import { findHardware, type HardwareProbeResult } from '../media/ffmpeg/hardware-probe.ts';
import type { LiveHardware } from '../media/live/capacity.ts';
import { type Config, ConfigError } from '../platform/config.ts';
import type { Logger } from '../platform/logger.ts';

/** ffmpeg does not come and go, and asking it takes a program. */
const FRESH_MS = 60_000;

/**
 * Detector of the ffmpeg of this machine. Throws while there is no usable ffmpeg, with a one-line message
 * that names the remedy.
 *
 * @param maxAgeMs maximum age of a cached result, default 60,000.
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
    throw new ConfigError(`REQUIRE_SANDBOX is set, but ffmpeg has no sandbox: ${guard.weakness}`);
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

/** The encoders in hardware of this machine, tried out once in each process that uses them. */
export interface HardwareCheck {
  find(): Promise<HardwareProbeResult>;
  /** Returns the hardware for videos; null when there is none. */
  forVideos(): Promise<HardwarePool | null>;
  /** Returns the hardware for broadcasts; null when there is none. */
  forBroadcasts(): Promise<LiveHardware | null>;
}

interface HardwareDeps {
  clock: Clock;
  log: Logger;
  guard(): Promise<Guard>;
}

export function createHardwareCheck(config: Config, { clock, log, guard }: HardwareDeps): HardwareCheck {
  const find = memoizeAsync(async () => {
    const found = await findHardware({
      choice: config.VIDEO_ENCODER,
      vaapiDevice: config.VAAPI_DEVICE,
      codecs: config.VIDEO_CODECS,
      ffmpeg: config.FFMPEG_PATH,
      guard: await guard(),
      log,
    });
    const { hardware, refusals } = found;
    if (hardware !== null) log.info({ encoder: hardware.kind, tasks: hardware.can }, 'hardware encodes');
    for (const { what, reason } of refusals)
      log.warn({ encoder: what, reason }, 'software encodes instead of hardware');
    return found;
  });
  const sessions = sharesOf(config);
  const pool = memoizeAsync(async () => {
    const { hardware } = await find();
    return hardware === null || sessions.videos === 0
      ? null
      : createHardwarePool(hardware, sessions.videos, clock);
  });
  return {
    find,
    forVideos: pool,
    async forBroadcasts() {
      const { hardware } = await find();
      return hardware === null ? null : { hardware, sessions: sessions.broadcasts };
    },
  };
}

/** The codecs that are wanted and that nothing here encodes. */
export function missingCodecs(
  { VIDEO_CODECS: wanted }: Config,
  { videoCodecs }: Pick<FfmpegInfo, 'videoCodecs'>,
  { hardware }: HardwareProbeResult,
): VideoCodec[] {
  const can = hardware?.can ?? [];
  return wanted.filter((codec) => !videoCodecs.includes(codec) && !can.includes(codec));
}

/** Encoder of a codec on this machine. */
export interface CodecEncoder {
  codec: VideoCodec;
  /** Name in ffmpeg. */
  encoder: string;
  isHardware: boolean;
}

/** Returns the encoders of the configured codecs that are available. */
export function codecEncoders(config: Config, info: FfmpegInfo, found: HardwareProbeResult): CodecEncoder[] {
  const { hardware } = found;
  const lacking = missingCodecs(config, info, found);
  return config.VIDEO_CODECS.filter((codec) => !lacking.includes(codec)).map((codec) => {
    const isHardware = hardware?.can.includes(codec) ?? false;
    const encoder = isHardware && hardware !== null ? hardwareEncoder(hardware.kind, codec) : ENCODERS[codec];
    return { codec, encoder, isHardware };
  });
}

/**
 * Splits the encoder sessions between both processes, without coordination: a broadcast cannot wait for a
 * video.
 */
function sharesOf({ ROLES, VIDEO_ENCODER_SESSIONS: all }: Config): { broadcasts: number; videos: number } {
  const isShared = ROLES.includes('worker') && ROLES.includes('media');
  const broadcasts = isShared ? Math.ceil(all / 2) : all;
  return { broadcasts, videos: isShared ? all - broadcasts : all };
}
