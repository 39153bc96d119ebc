import type { Writable } from 'node:stream';
import type { Logger } from '../../platform/logger.ts';
import { MediaFileError } from '../contract/index.ts';
import type { Guard, ProgramLimits } from '../ffmpeg/guard.ts';
import type { HardwarePool } from '../ffmpeg/hardware-pool.ts';
import { checkOutputs, UnsafeOutputError } from '../ffmpeg/output.ts';
import { type FfmpegExit, type FfmpegProcess, spawnFfmpeg } from '../ffmpeg/process.ts';

/** Dependencies of every run of ffmpeg and ffprobe on a user's file. */
export interface Tools {
  ffmpeg: string;
  ffprobe: string;
  /** Called once, for the first file. */
  guard(): Promise<Guard>;
  /** Number of cores for one run. */
  threads: number;
  /** Time without progress in media time after which a run is killed. */
  stallMs: number;
  /** Hardware encoders; null or absent when there are none. */
  hardware?: () => Promise<HardwarePool | null>;
  log: Logger;
}

export interface ToolRun {
  program: 'ffmpeg' | 'ffprobe';
  args: string[];
  /** Working directory of the run: its output paths are relative to it. */
  cwd: string;
  /** Readable files in addition to the inputs in `args`: those named by a list. */
  reads?: readonly string[];
  /** Device nodes of its encoder. */
  devices?: readonly string[];
  limits: ProgramLimits;
  /**
   * Whether the run only reads the file: a failure is then the fault of the file, unless the machine is to
   * blame.
   */
  looks?: boolean;
  signal: AbortSignal;
  /** Called with the processed media seconds; enables stall detection. */
  onProgress?: (sec: number) => void;
  /** Called with its output; not together with `onProgress`. */
  onOutput?: (text: string) => void;
  /** Called with binary output. */
  onBytes?: (bytes: Buffer) => void;
  /** Writes its standard input, which is open only if this is set. */
  input?: (stdin: Writable) => void;
  /** Ends the run successfully: enough was read. */
  enough?: AbortSignal;
  /** Wall time; none when absent. */
  timeoutMs?: number;
}

const STALL_CHECKS = 4;
/** Factor of the stall limit at idle priority: such a run can stall on a busy machine. */
const IDLE_PATIENCE = 10;
const FILE = 'file:';

/**
 * Runs one program under the guard to its end.
 *
 * @returns its log output.
 * @throws {MediaFileError} when the file is at fault.
 * @throws {UnsafeOutputError} when the file has taken over the program: nothing in the folder may be used.
 * @throws {Error} with the code `ENOSPC` when the disk is full; other failures may be fixed by a retry.
 * @throws the signal's reason when it was aborted. In every case the program has ended.
 */
export async function runTool(tools: Tools, run: ToolRun): Promise<string> {
  run.signal.throwIfAborted();
  const guard = await tools.guard();
  const watch = createWatch(run, tools.stallMs * (run.limits.isIdle ? IDLE_PATIENCE : 1));
  const { onOutput, onBytes, input } = run;
  const reads = [...inputsOf(run.args), ...(run.reads ?? [])];
  const view = { reads, writes: run.cwd, devices: run.devices ?? [] };
  const program = await guard.start(tools[run.program], run.limits, view);
  const child = spawnFfmpeg({
    program,
    args: run.args,
    cwd: run.cwd,
    log: tools.log,
    ...(run.onProgress ? { onProgress: ({ outTimeMs }) => watch.progress(outTimeMs) } : {}),
    ...(onOutput ? { onOutput } : {}),
    ...(onBytes ? { onBytes } : {}),
    ...(input ? { input } : {}),
  });
  const exit = await watch.untilExit(child);
  run.signal.throwIfAborted();
  await checkOutputs(run.cwd).catch((error: unknown) => {
    if (error instanceof UnsafeOutputError)
      tools.log.error({ err: error }, `${run.program} left something other than a file`);
    throw error;
  });
  if (watch.verdict() === 'enough') return exit.stderr;
  const failure = watch.verdict() ?? failureOf(exit, run.looks ?? false);
  if (failure === null) return exit.stderr;
  tools.log.info(
    { code: exit.code, signal: exit.signal, log: exit.stderr.slice(-2000) },
    `${run.program} failed`,
  );
  throw typeof failure === 'string' ? new Error(`${run.program} ${failure}`) : failure;
}

function inputsOf(args: readonly string[]): string[] {
  return args.flatMap((arg, index) =>
    args[index - 1] === '-i' && arg.startsWith(FILE) ? [arg.slice(FILE.length)] : [],
  );
}

interface Watch {
  progress(outTimeMs: number | null): void;
  untilExit(child: FfmpegProcess): Promise<FfmpegExit>;
  /** Returns the reason of a kill; null when it ended by itself. */
  verdict(): string | null;
}

/** Kills the program when it is aborted, stalls or takes too long. */
function createWatch(run: ToolRun, stallMs: number): Watch {
  let verdict: string | null = null;
  let furthestMs = -1;
  let movedAt = performance.now();
  return {
    verdict: () => verdict,
    progress(outTimeMs) {
      if (outTimeMs === null || outTimeMs <= furthestMs) return;
      furthestMs = outTimeMs;
      movedAt = performance.now();
      run.onProgress?.(outTimeMs / 1000);
    },
    async untilExit(child) {
      const end = (reason: string) => () => {
        verdict ??= reason;
        child.kill('SIGKILL');
      };
      const checkStall = () => {
        if (performance.now() - movedAt > stallMs) end('stalled')();
      };
      const timers = [
        ...(run.onProgress ? [setInterval(checkStall, stallMs / STALL_CHECKS)] : []),
        ...(run.timeoutMs === undefined ? [] : [setTimeout(end('took too long'), run.timeoutMs)]),
      ];
      const onAbort = end('aborted');
      const onEnough = end('enough');
      run.signal.addEventListener('abort', onAbort);
      run.enough?.addEventListener('abort', onEnough);
      try {
        if (run.signal.aborted) onAbort();
        return await child.exited;
      } finally {
        for (const timer of timers) clearTimeout(timer);
        run.signal.removeEventListener('abort', onAbort);
        run.enough?.removeEventListener('abort', onEnough);
      }
    },
  };
}

/** Exit code of ffmpeg when a signal stopped it: including that of the CPU time limit. */
const EXIT_BY_SIGNAL = 255;
/** Messages about the system, the guard's limits and our own arguments. */
const NOT_THE_FILE =
  /Cannot allocate memory|out of memory|Input\/output error|File too large|Too many open files|Resource temporarily unavailable|Permission denied|Operation not permitted|No such file or directory|Read-only file system|Stale file handle|Unrecognized option|Option (?:\S+ )?not found|Unknown (?:encoder|filter)|No such filter|Unable to parse|Error (?:parsing|splitting)|^(?:prlimit|setpriv|unshare|nice|bwrap):/im;

/** Returns the error of a program that ended by itself; null when it succeeded. */
function failureOf(exit: FfmpegExit, looks: boolean): Error | null {
  const { code, signal, stderr, spawnError } = exit;
  if (spawnError !== undefined) return new Error(`cannot be started: ${spawnError}`);
  // The muxers report a full disk only in the log.
  if (/No space left on device|Disk quota exceeded/.test(stderr)) return diskFullError();
  if (code === 0) return null;
  const passing = new Error(`ffmpeg ended with ${signal ?? code}: ${lastLine(stderr)}`);
  // After a kill, the log output is not the reason of the exit.
  if (signal !== null || code === EXIT_BY_SIGNAL) return passing;
  const fault = fileFault(stderr);
  if (fault !== null) return fault;
  return looks && !NOT_THE_FILE.test(stderr) ? corruptInputError() : passing;
}

export function diskFullError(): Error {
  return Object.assign(new Error('no space left for the files of the video'), { code: 'ENOSPC' });
}

const CORRUPT = 'The file is damaged or incomplete.';

/** Messages that identify a fault of the file, the most specific first. */
const FILE_FAULTS: readonly [RegExp, MediaFileError['code'], string][] = [
  [/exceeds specified max pixel count/, 'UNSUPPORTED_FORMAT', 'The resolution exceeds 7680 by 4320.'],
  [
    /(?:Format|Protocol .*) not on whitelist/,
    'UNSUPPORTED_FORMAT',
    'The file is not a supported video file.',
  ],
  [
    /Decoder \(codec|Unknown decoder|no decoder found|Could not find codec parameters|not currently supported/i,
    'UNSUPPORTED_FORMAT',
    'The codec of the video is not supported.',
  ],
  [
    /moov atom not found|Invalid data found|Error while decoding|error reading header|EBML header parsing failed|Cannot determine format of input stream|^file:.*: End of file$|Error opening input: End of file/m,
    'CORRUPT_INPUT',
    CORRUPT,
  ],
];

export function corruptInputError(): MediaFileError {
  return new MediaFileError('CORRUPT_INPUT', CORRUPT);
}

/**
 * Final message of ffprobe for a track whose decoder is not allowed; messages for other tracks come earlier.
 */
const NO_DECODER = /Codec \((\S+)\) not on whitelist [^\n]*(?:\n +Last message repeated \d+ times)?\s*$/;

export function unsupportedFormatError(codec: string): MediaFileError {
  const message = `A track of the file uses ${codec}, which is not supported. Export it as H.264 with AAC audio.`;
  return new MediaFileError('UNSUPPORTED_FORMAT', message);
}

/** Returns the file's own fault according to the log of the failed program; null when it may be ours. */
export function fileFault(log: string): MediaFileError | null {
  const codec = NO_DECODER.exec(log)?.[1];
  if (codec !== undefined) return unsupportedFormatError(codec);
  const fault = FILE_FAULTS.find(([pattern]) => pattern.test(log));
  return fault ? new MediaFileError(fault[1], fault[2]) : null;
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.slice(0, 300) ?? '';
}
