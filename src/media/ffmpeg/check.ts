import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface FfmpegInfo {
  /** As ffmpeg prints it, such as `5.1.9-0+deb12u1`. */
  version: string;
  /** Reads HEVC, AV1 and VP9 in FLV (enhanced RTMP): since 6.1. */
  enhancedFlv: boolean;
}

const OLDEST = [5, 1] as const;
const ENHANCED_FLV_SINCE = [6, 1] as const;
const TIMEOUT_MS = 10_000;
const INSTALL_HINT = 'install ffmpeg 5.1 or later with libx264 (Debian, Ubuntu: apt-get install ffmpeg)';

/** Throws an Error whose message is one line that says what is missing and what to do. */
export async function checkFfmpeg(bin: string): Promise<FfmpegInfo> {
  const banner = await output(bin, ['-hide_banner', '-version']);
  const version = /^ffmpeg version (\S+)/m.exec(banner)?.[1];
  if (version === undefined) throw new Error(`${bin} does not answer as ffmpeg does: ${INSTALL_HINT}`);
  if (!atLeast(version, OLDEST)) throw new Error(`${bin} is version ${version}: ${INSTALL_HINT}`);
  const [encoders, muxers] = await Promise.all([
    output(bin, ['-hide_banner', '-encoders']),
    output(bin, ['-hide_banner', '-muxers']),
  ]);
  const missing = [
    ...['libx264', 'aac'].filter((name) => !lists(encoders, name)),
    ...['hls'].filter((name) => !lists(muxers, name)),
  ];
  if (missing.length > 0) throw new Error(`${bin} was built without ${missing.join(', ')}: ${INSTALL_HINT}`);
  return { version, enhancedFlv: atLeast(version, ENHANCED_FLV_SINCE) };
}

/** What not every build can do. */
export interface FfmpegExtras {
  /** Makes ordinary pictures of HDR ones. */
  canToneMap: boolean;
  canWriteWebp: boolean;
}

/** @throws {Error} when ffmpeg does not answer. */
export async function findExtras(bin: string): Promise<FfmpegExtras> {
  const [filters, encoders] = await Promise.all([
    output(bin, ['-hide_banner', '-filters']),
    output(bin, ['-hide_banner', '-encoders']),
  ]);
  return {
    canToneMap: lists(filters, 'zscale') && lists(filters, 'tonemap'),
    canWriteWebp: lists(encoders, 'libwebp_anim'),
  };
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
