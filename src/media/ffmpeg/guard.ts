import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { programEnvironment } from '../../platform/config.ts';
import { FILE_DECODERS, LIVE_DECODERS, OPENED_FOR_SUBTITLES, OPENED_FOR_VIDEO } from './codecs.ts';
import { findSandbox, type SandboxView } from './sandbox.ts';

const run = promisify(execFile);

/** Resource limits of one program that reads a user's file. */
export interface ProgramLimits {
  /** Address space, in bytes. */
  memoryBytes: number;
  /** CPU time of all its threads. */
  cpuSec: number;
  /** Size limit of each file it writes. */
  fileBytes: number;
  /** A user waits for the result: it runs at a higher priority than long jobs, which yield to everything. */
  isUrgent?: boolean;
  /** Lowest priority: its result is not urgent at all. */
  isIdle?: boolean;
  /** It reads a feed and must keep up with it: it keeps its priority. */
  isLive?: boolean;
  /** It reserves much more address space than it uses, as CUDA does: writable memory is limited instead. */
  isReserving?: boolean;
}

/** Shuts a program that reads what a user has sent in (docs/decisions/untrusted-media.md). */
export interface Guard {
  /** Reason why programs are isolated less than possible, in one line; null when they are fully isolated. */
  readonly weakness: string | null;
  start(program: string, limits: ProgramLimits, view: SandboxView): Promise<Launch>;
}

/** Command that starts a program under the guard; its own arguments are appended. */
export interface Launch {
  /** Each part replaces itself by the next, so the process id stays up to the sandbox. */
  command: readonly string[];
  /** The process is the sandbox: it reports the process within on `INFO_FD`. */
  isSandboxed: boolean;
  /** The child it reports is another sandbox. */
  isNested?: boolean;
}

/** File descriptor on which the sandbox reports the process it started. */
export const INFO_FD = 3;

/** Containers that a user's file may be: nothing that names other files. */
const FORMATS = 'mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mpegts,avi,flv,mpeg,asf,ogg,gif';
/** 7680 by 4320 and what codecs pad it with. */
const MAX_PIXELS = 35_389_440;
const OPEN_FILES = 256;
const NICE = '10';
const NICE_URGENT = '1';
const NICE_IDLE = '19';
const TRY_TIMEOUT_MS = 5000;

/** Block size to which codecs pad the frame. */
const BLOCK = 64;

/**
 * Returns the options before the input of every ffmpeg that reads a publish from standard input. A frame
 * larger than the header announced is not decoded.
 */
export function liveGuard(picture: { width: number; height: number } | null): string[] {
  const size = picture !== null && picture.width > 0 ? picture : null;
  const maxPixels = size === null ? MAX_PIXELS : (size.width + BLOCK) * (size.height + BLOCK);
  return [
    ...['-protocol_whitelist', 'pipe', '-format_whitelist', 'live_flv,flv'],
    ...['-codec_whitelist', LIVE_DECODERS, '-max_pixels', String(maxPixels)],
    ...['-f', 'live_flv', '-i', 'pipe:0'],
  ];
}

/** Returns the input options for a fetched source in one of these containers. */
export function sourceGuard(format: 'mpegts' | 'mp4' | 'aac'): string[] {
  return [
    ...['-protocol_whitelist', 'pipe', '-format_whitelist', 'mpegts,mov,mp4,m4a,3gp,3g2,mj2,aac'],
    ...['-codec_whitelist', LIVE_DECODERS, '-max_pixels', String(MAX_PIXELS)],
    ...['-f', format, '-i', 'pipe:0'],
  ];
}

/** Returns the input options for the consecutive video frames of a room's participant. */
export function roomVideoGuard(): string[] {
  return [
    ...['-protocol_whitelist', 'pipe', '-format_whitelist', 'ivf', '-codec_whitelist', 'vp8,libvpx'],
    ...['-max_pixels', String(MAX_PIXELS), '-f', 'ivf', '-i', 'pipe:0'],
  ];
}

/** Returns the input options for a mixed room: our pixels, and the audio as received. */
export function roomMixGuard(): string[] {
  return [
    ...['-protocol_whitelist', 'pipe', '-format_whitelist', 'matroska,webm'],
    ...['-codec_whitelist', 'rawvideo,opus,libopus', '-f', 'matroska', '-i', 'pipe:0'],
  ];
}

/** Returns the input options for the consecutive frames of an animated WebP in a file of ours. */
export function webpGuard(path: string): string[] {
  return [
    ...readOnly('webp_pipe', 'webp'),
    '-max_pixels',
    String(MAX_PIXELS),
    '-f',
    'webp_pipe',
    '-i',
    `file:${path}`,
  ];
}

/** Input options for pixels we generated. */
export const RAW_VIDEO_GUARD: readonly string[] = [
  ...['-protocol_whitelist', 'pipe', '-format_whitelist', 'matroska,webm'],
  ...['-codec_whitelist', 'rawvideo', '-f', 'matroska', '-i', 'pipe:0'],
];

/** Returns the options before the input in every ffmpeg that reads a user's file. */
export function inputGuard(path: string, decoders = FILE_DECODERS): string[] {
  return [...fileOptions(decoders), '-i', `file:${path}`];
}

function fileOptions(decoders: string): string[] {
  return [...readOnly(FORMATS, decoders), '-max_pixels', String(MAX_PIXELS)];
}

/** Returns the input options for ffprobe. */
export function probeGuard(path: string): string[] {
  const opened = ['-codec_whitelist:v', OPENED_FOR_VIDEO, '-codec_whitelist:s', OPENED_FOR_SUBTITLES];
  return [...fileOptions(FILE_DECODERS), ...opened, '-i', `file:${path}`];
}

/** Returns the input options for a concat list written by us, with files of `format` created by us. */
export function concatGuard(listPath: string, format: string, decoders: string): string[] {
  const input = ['-f', 'concat', '-safe', '0', '-i', `file:${listPath}`];
  return [...readOnly(`concat,${format}`, decoders), '-max_pixels', String(MAX_PIXELS), ...input];
}

function readOnly(formats: string, decoders: string): string[] {
  const lists = ['-format_whitelist', formats, '-codec_whitelist', decoders];
  return ['-protocol_whitelist', 'file,crypto,data', ...lists];
}

/**
 * Detects which isolation features of the system work here; the others are left out.
 *
 * @param programs that will be started with it.
 * @param hidden folders and files of the platform that no program may see except through its view.
 */
export async function createGuard(
  programs: readonly string[] = [],
  hidden: readonly string[] = [],
): Promise<Guard> {
  const [sandbox, [nice, noNetwork, noNetworkAsUser, dieWithParent, limit]] = await Promise.all([
    findSandbox(programs, hidden),
    Promise.all(MEANS.map(whereItWorks)),
  ]);
  const network = noNetwork ?? noNetworkAsUser ?? [];
  const bounds = (limits: ProgramLimits) => [
    ...(nice && !limits.isLive ? ['nice', '-n', niceness(limits)] : []),
    ...(limit ? [...limit, ...limitArgs(limits)] : []),
  ];
  if (typeof sandbox === 'string') {
    return {
      weakness: sandbox,
      async start(program, limits) {
        return {
          command: [...network, ...(dieWithParent ?? []), ...bounds(limits), program],
          isSandboxed: false,
        };
      },
    };
  }
  const { sharesRoot } = sandbox;
  return {
    weakness: sharesRoot === null ? null : `in its sandbox ffmpeg is root on the host: ${sharesRoot}`,
    async start(program, limits, view) {
      const inside = await sandbox.enter(program, view, INFO_FD);
      return { command: [...bounds(limits), ...inside], isSandboxed: true, isNested: sandbox.hasOwnUser };
    },
  };
}

function niceness({ isUrgent, isIdle }: ProgramLimits): string {
  if (isIdle) return NICE_IDLE;
  return isUrgent ? NICE_URGENT : NICE;
}

const MEANS = [
  ['nice', '-n', NICE],
  ['unshare', '-n'],
  ['unshare', '-r', '-n'],
  // After unshare: a change of credentials would undo it.
  ['setpriv', '--pdeathsig', 'KILL', '--no-new-privs'],
  ['prlimit', '--core=0'],
];

function limitArgs({ memoryBytes, cpuSec, fileBytes, isReserving = false }: ProgramLimits): string[] {
  return [
    `--${isReserving ? 'data' : 'as'}=${memoryBytes}`,
    `--cpu=${Math.ceil(cpuSec)}`,
    `--fsize=${fileBytes}`,
    `--nofile=${OPEN_FILES}`,
  ];
}

async function whereItWorks(command: string[]): Promise<string[] | null> {
  const [program = '', ...args] = command;
  try {
    await run(program, [...args, 'true'], { timeout: TRY_TIMEOUT_MS, env: programEnvironment() });
    return command;
  } catch {
    return null;
  }
}
