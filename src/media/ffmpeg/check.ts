import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { VIDEO_CODECS, type VideoCodec } from '../../kernel/video-codecs.ts';
import { ENCODERS } from './codecs.ts';

const run = promisify(execFile);

export interface FfmpegInfo extends FfmpegCapabilities {
  /** Version as printed by ffmpeg, such as `5.1.9-0+deb12u1`. */
  version: string;
}

/** Features that differ between versions and builds. */
export interface FfmpegCapabilities {
  /** Reads HEVC, AV1 and VP9 in FLV (enhanced RTMP): since 6.1. */
  enhancedFlv: boolean;
  /** Reads Opus in FLV, and the other features of the second version of enhanced RTMP: since 8.0. */
  enhancedFlv2: boolean;
  /** Converts HDR to SDR by tone mapping. */
  canToneMap: boolean;
  canWriteWebp: boolean;
  /** That it encodes in software. */
  videoCodecs: readonly VideoCodec[];
  /**
   * Value of `-enc_time_base` that keeps the timestamps of the source: 6.1 has a new one, later versions only
   * that.
   */
  sourceTimeBase: '-1' | 'demux';
}

const OLDEST = [5, 1] as const;
const ENHANCED_FLV_SINCE = [6, 1] as const;
const ENHANCED_FLV2_SINCE = [8, 0] as const;
const DEMUX_TIME_BASE_SINCE = [6, 1] as const;
const TIMEOUT_MS = 10_000;
const INSTALL_HINT = 'install ffmpeg 5.1 or later with libx264 (Debian, Ubuntu: apt-get install ffmpeg)';

/**
 * Detects the version and capabilities of ffmpeg.
 *
 * @param known previous result: the capabilities of an unchanged version are not probed again.
 * @throws {Error} whose message is one line that names the missing feature and the remedy.
 */
export async function checkFfmpeg(bin: string, known?: FfmpegInfo | null): Promise<FfmpegInfo> {
  const banner = await output(bin, ['-hide_banner', '-version']);
  const version = /^ffmpeg version (\S+)/m.exec(banner)?.[1];
  if (version === undefined) throw new Error(`${bin} is not ffmpeg: ${INSTALL_HINT}`);
  if (version === known?.version) return known;
  if (!atLeast(version, OLDEST)) throw new Error(`${bin} is version ${version}: ${INSTALL_HINT}`);
  const [encoders, muxers, filters] = await Promise.all([
    output(bin, ['-hide_banner', '-encoders']),
    output(bin, ['-hide_banner', '-muxers']),
    output(bin, ['-hide_banner', '-filters']),
  ]);
  const missing = [
    ...['libx264', 'aac'].filter((name) => !lists(encoders, name)),
    ...['hls'].filter((name) => !lists(muxers, name)),
  ];
  if (missing.length > 0) throw new Error(`${bin} was built without ${missing.join(', ')}: ${INSTALL_HINT}`);
  return {
    version,
    enhancedFlv: atLeast(version, ENHANCED_FLV_SINCE),
    enhancedFlv2: atLeast(version, ENHANCED_FLV2_SINCE),
    canToneMap: lists(filters, 'zscale') && lists(filters, 'tonemap'),
    canWriteWebp: lists(encoders, 'libwebp_anim'),
    videoCodecs: VIDEO_CODECS.filter((codec) => lists(encoders, ENCODERS[codec])),
    sourceTimeBase: atLeast(version, DEMUX_TIME_BASE_SINCE) ? 'demux' : '-1',
  };
}

/**
 * Lists the features this ffmpeg lacks and a newer or fuller build has; docs/guides/processing.md explains
 * each word.
 */
export function missingFeatures(info: FfmpegCapabilities): string[] {
  return [
    ...(info.enhancedFlv ? [] : ['ENHANCED_RTMP']),
    ...(info.enhancedFlv2 ? [] : ['OPUS_OVER_RTMP']),
    ...(info.canToneMap ? [] : ['HDR_TONE_MAPPING']),
    ...(info.canWriteWebp ? [] : ['ANIMATED_PREVIEWS']),
  ];
}

async function output(bin: string, args: string[]): Promise<string> {
  try {
    const { stdout } = await run(bin, args, { timeout: TIMEOUT_MS, maxBuffer: 1024 * 1024 });
    return stdout;
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw new Error(`${bin} cannot be run (${reason}): ${INSTALL_HINT}`, { cause: error });
  }
}

/** A build from git (`N-109000-g…`) has no release number: it is taken as new. */
function atLeast(version: string, oldest: readonly [number, number]): boolean {
  const match = /^n?(\d+)\.(\d+)/.exec(version);
  if (!match) return /^N-/.test(version) || /^git-/.test(version);
  const major = Number(match[1]);
  return major > oldest[0] || (major === oldest[0] && Number(match[2]) >= oldest[1]);
}

function lists(table: string, name: string): boolean {
  return new RegExp(`^ +\\S+ +${name}\\b`, 'm').test(table);
}
