import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { programEnvironment } from '../../platform/config.ts';
import { FILE_DECODERS, LIVE_DECODERS, OPENED_FOR_SUBTITLES, OPENED_FOR_VIDEO } from './codecs.ts';
import { findSandbox, type SandboxView } from './sandbox.ts';

const run = promisify(execFile);

/** What one program on a user's file may take. */
export interface ProgramLimits {
  /** Address space, in bytes. */
  memoryBytes: number;
  /** CPU time of all its threads. */
  cpuSec: number;
  /** Of each file that it writes. */
  fileBytes: number;
  /** Somebody waits for it: it goes before the long runs, which make way for everything. */
  isUrgent?: boolean;
  /** Nobody waits for it at all. */
  isIdle?: boolean;
  /** It reads a feed and must keep up with it: it keeps its priority. */
  isLive?: boolean;
  /** It reserves far more addresses than it uses, as CUDA does: what it can write to counts instead. */
  isReserving?: boolean;
}

/** Shuts a program that reads what a user has sent in (docs/decisions/untrusted-media.md). */
export interface Guard {
  /** Why programs are shut in less well than they could be, in one line; null when they are not. */
  readonly weakness: string | null;
  start(program: string, limits: ProgramLimits, view: SandboxView): Promise<Launch>;
}

/** How a program is started under the guard: its own arguments follow. */
export interface Launch {
  /** Each part replaces itself by the next, so the process id stays up to the sandbox. */
  command: readonly string[];
  /** The process is the sandbox: it tells on `INFO_FD` what runs in it. */
  isSandboxed: boolean;
  /** What it tells of is a sandbox again. */
  isNested?: boolean;
}

/** Where the sandbox says which process it has started. */
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

/** Codecs pad the picture to whole blocks. */
const BLOCK = 64;

/**
 * Options that stand before the input of every ffmpeg that reads a publish, from its standard input. A picture that
 * grows behind the back of the header is not decoded.
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

/** The same for a source that is fetched, as one of these containers. */
export function sourceGuard(format: 'mpegts' | 'mp4' | 'aac'): string[] {
  return [
    ...['-protocol_whitelist', 'pipe', '-format_whitelist', 'mpegts,mov,mp4,m4a,3gp,3g2,mj2,aac'],
    ...['-codec_whitelist', LIVE_DECODERS, '-max_pixels', String(MAX_PIXELS)],
    ...['-f', format, '-i', 'pipe:0'],
  ];
}

/** The same for the pictures of somebody in a room, which come one after the other. */
export function roomVideoGuard(): string[] {
  return [
    ...['-protocol_whitelist', 'pipe', '-format_whitelist', 'ivf', '-codec_whitelist', 'vp8,libvpx'],
    ...['-max_pixels', String(MAX_PIXELS), '-f', 'ivf', '-i', 'pipe:0'],
  ];
}

/** The same for a room as we put it together: our pixels, and the voices as they came. */
export function roomMixGuard(): string[] {
  return [
    ...['-protocol_whitelist', 'pipe', '-format_whitelist', 'matroska,webm'],
    ...['-codec_whitelist', 'rawvideo,opus,libopus', '-f', 'matroska', '-i', 'pipe:0'],
  ];
}

/** The same for the pictures of an animated WebP, one after the other in a file of ours. */
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

/** The same for pixels of ours. */
export const RAW_VIDEO_GUARD: readonly string[] = [
  ...['-protocol_whitelist', 'pipe', '-format_whitelist', 'matroska,webm'],
  ...['-codec_whitelist', 'rawvideo', '-f', 'matroska', '-i', 'pipe:0'],
];

/** Options that stand before the input in every ffmpeg that reads a user's file. */
export function inputGuard(path: string, decoders = FILE_DECODERS): string[] {
  return [...fileOptions(decoders), '-i', `file:${path}`];
}

function fileOptions(decoders: string): string[] {
  return [...readOnly(FORMATS, decoders), '-max_pixels', String(MAX_PIXELS)];
}

/** The same for ffprobe. */
export function probeGuard(path: string): string[] {
  const opened = ['-codec_whitelist:v', OPENED_FOR_VIDEO, '-codec_whitelist:s', OPENED_FOR_SUBTITLES];
  return [...fileOptions(FILE_DECODERS), ...opened, '-i', `file:${path}`];
}

/** The same for a list that we wrote, of files of `format` that we made. */
export function concatGuard(listPath: string, format: string, decoders: string): string[] {
  const input = ['-f', 'concat', '-safe', '0', '-i', `file:${listPath}`];
  return [...readOnly(`concat,${format}`, decoders), '-max_pixels', String(MAX_PIXELS), ...input];
}

function readOnly(formats: string, decoders: string): string[] {
  const lists = ['-format_whitelist', formats, '-codec_whitelist', decoders];
  return ['-protocol_whitelist', 'file,crypto,data', ...lists];
}

/**
 * Finds out which means of the system work here; those that do not are left out.
 *
 * @param programs that it will be asked for.
 * @param hidden folders and files that no program may see but by its view: those of the platform.
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
