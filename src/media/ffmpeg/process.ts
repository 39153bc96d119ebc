import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { Readable, type Writable } from 'node:stream';
import { programEnvironment } from '../../platform/config.ts';
import type { Logger } from '../../platform/logger.ts';
import { INFO_FD, type Launch } from './guard.ts';
import { createProgressParser, type FfmpegProgress } from './progress.ts';

export interface SpawnFfmpegOptions {
  /** Name on the PATH, absolute path, or the result of a `Guard`. */
  program: string | Launch;
  args: string[];
  log: Logger;
  /** Working directory; ours by default. */
  cwd?: string;
  /** Fills standard input, which exists only with this option, and ends it. */
  input?: (stdin: Writable) => void;
  /** Adds `-progress pipe:1 -nostats` before the arguments. */
  onProgress?: (progress: FfmpegProgress) => void;
  /** Receives its output in chunks; not together with `onProgress`. */
  onOutput?: (text: string) => void;
  /** Receives binary output. When it throws because of invalid output, the program is killed. */
  onBytes?: (bytes: Buffer) => void;
  /** Receivers of the output to `pipe:4`, `pipe:5` and so on, from `OUTPUT_FD` on. */
  outputs?: readonly ((bytes: Buffer) => void)[];
}

export interface FfmpegExit {
  /** null when a signal ended it or when it could not be started. */
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The last 64 kB of its log. */
  stderr: string;
  /** Why it could not be started. */
  spawnError?: string;
}

export interface FfmpegProcess {
  /** Process ID of ffmpeg or of the sandbox around it, which end together; 0 when it could not be started. */
  pid: number;
  /** Never rejects. */
  exited: Promise<FfmpegExit>;
  /**
   * The end of its input and SIGINT (ffmpeg finishes its files), SIGTERM after half of `graceMs`, SIGKILL after all
   * of it (docs/decisions/live-packaging.md#supervision).
   */
  stop(graceMs?: number): Promise<FfmpegExit>;
  kill(signal: NodeJS.Signals): void;
}

/** The first of the pipes that are `outputs`. */
export const OUTPUT_FD = INFO_FD + 1;
const STDERR_RING_BYTES = 64 * 1024;
const STOP_GRACE_MS = 5000;
/** Timeout for the sandbox to report its first process. */
const CHILD_PID_TIMEOUT_MS = 1000;
/** Signals that end a program. */
const ENDING: readonly NodeJS.Signals[] = [
  ...(['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE'] as const),
  ...(['SIGKILL', 'SIGSEGV', 'SIGPIPE', 'SIGALRM', 'SIGTERM', 'SIGXCPU', 'SIGXFSZ', 'SIGSYS'] as const),
];

/**
 * Starts ffmpeg without a shell and with nothing of our environment. Never throws: a failed
 * start is an exit.
 */
export function spawnFfmpeg(options: SpawnFfmpegOptions): FfmpegProcess {
  const { program, log, onProgress, outputs = [] } = options;
  const launch: Launch = typeof program === 'string' ? { command: [program], isSandboxed: false } : program;
  const { command, isSandboxed } = launch;
  const args = onProgress ? ['-progress', 'pipe:1', '-nostats', ...options.args] : options.args;
  const onOutput = onProgress ? createProgressParser(onProgress) : options.onOutput;
  const [first = '', ...rest] = [...command, ...args];
  const child = spawn(first, rest, {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: programEnvironment(),
    // The fourth is INFO_FD.
    stdio: [
      options.input ? 'pipe' : 'ignore',
      onOutput || options.onBytes ? 'pipe' : 'ignore',
      'pipe',
      isSandboxed ? 'pipe' : 'ignore',
      ...outputs.map(() => 'pipe' as const),
    ],
  });
  const { stdin } = child;
  if (stdin) {
    // A closed pipe is reported by the exit.
    stdin.on('error', () => {});
    options.input?.(stdin);
  }
  const stderr = createTextRing(STDERR_RING_BYTES);
  readText(child.stderr, stderr.push);
  const kill = isSandboxed
    ? sandboxKill(child, launch.isNested ?? false)
    : (signal: NodeJS.Signals) => void child.kill(signal);
  if (onOutput) readText(child.stdout, onOutput);
  else if (options.onBytes) readBytes(child.stdout, options.onBytes, { kill, log });
  for (const [index, onBytes] of outputs.entries())
    readBytes(readableOf(child.stdio[OUTPUT_FD + index]), onBytes, { kill, log });
  const exited = waitForExit(child, stderr.text, isSandboxed);
  void exited.then((exit) =>
    log.debug({ pid: child.pid, code: exit.code, signal: exit.signal }, 'ffmpeg exited'),
  );
  return {
    pid: child.pid ?? 0,
    exited,
    kill,
    stop: (graceMs = STOP_GRACE_MS) => {
      // A process blocked on its input ignores the signal.
      stdin?.destroy();
      return stopChild(kill, exited, graceMs);
    },
  };
}

/**
 * Sends signals into the sandbox, which does not forward them. In there ffmpeg and the first process share a
 * session of their own, and the kernel blocks all signals except SIGKILL for the first process.
 */
function sandboxKill(child: ChildProcess, isNested: boolean): (signal: NodeJS.Signals) => void {
  let told = '';
  let isWanted = false;
  const init = () => Number(/"child-pid": *(\d+)/.exec(told)?.[1] ?? 0);
  // The first process is killed too: if only the starting sandbox were killed, it would keep waiting and hold
  // our pipes open.
  const end = () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const first = init() || childOf(child.pid ?? 0);
    if (first > 0) sent(first, 'SIGKILL');
    child.kill('SIGKILL');
  };
  readText(readableOf(child.stdio[INFO_FD]), (text) => {
    told += text;
    if (isWanted && init() > 0) end();
  });
  return (signal) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    // The child of the first process is the second sandbox, whose child is the program.
    const inner = isNested ? childOf(childOf(init())) : init();
    if (signal !== 'SIGKILL' && inner !== 0 && sent(-inner, signal)) return;
    // Without a session in the sandbox, ffmpeg has not started: killing the sandbox ends everything in it.
    if (init() > 0) return end();
    isWanted = true;
    if (signal === 'SIGKILL') setTimeout(end, CHILD_PID_TIMEOUT_MS);
  };
}

/** Returns the first child of a process; 0 when there is none. */
function childOf(pid: number): number {
  try {
    return Number.parseInt(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'), 10) || 0;
  } catch {
    return 0;
  }
}

function readableOf(stream: unknown): Readable | null {
  return stream instanceof Readable ? stream : null;
}

function sent(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

function waitForExit(child: ChildProcess, stderr: () => string, isSandboxed: boolean): Promise<FfmpegExit> {
  return new Promise((resolve) => {
    child.once('error', (error) => {
      // Also emitted when a signal cannot be sent; then the process still exists and 'close' will follow.
      if (child.pid === undefined) {
        resolve({ code: null, signal: null, stderr: stderr(), spawnError: error.message });
      }
    });
    child.once('close', (code, signal) => {
      const inner = isSandboxed && code !== null ? signalOf(code) : null;
      resolve({ code: inner === null ? code : null, signal: inner ?? signal, stderr: stderr() });
    });
  });
}

/**
 * Returns the signal of an exit code: the sandbox exits with 128 plus the number of the signal that ended the
 * program.
 */
function signalOf(code: number): NodeJS.Signals | null {
  return ENDING.find((name) => constants.signals[name] === code - 128) ?? null;
}

async function stopChild(
  kill: (signal: NodeJS.Signals) => void,
  exited: Promise<FfmpegExit>,
  graceMs: number,
): Promise<FfmpegExit> {
  kill('SIGINT');
  const timers = [setTimeout(() => kill('SIGTERM'), graceMs / 2), setTimeout(() => kill('SIGKILL'), graceMs)];
  try {
    return await exited;
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
}

/** A program that a file has taken over may write anything: what cannot be read ends it, and nothing else. */
function readBytes(
  stream: Readable | null,
  onBytes: (bytes: Buffer) => void,
  { kill, log }: { kill: (signal: NodeJS.Signals) => void; log: Logger },
): void {
  stream?.on('error', () => {});
  stream?.on('data', (bytes: Buffer) => {
    try {
      onBytes(bytes);
    } catch (error) {
      log.warn({ err: error }, 'the output of ffmpeg cannot be read');
      kill('SIGKILL');
    }
  });
}

function readText(stream: Readable | null, onText: (text: string) => void): void {
  if (!stream) return;
  stream.setEncoding('utf8');
  stream.on('data', onText);
  // A broken pipe is reported by the exit.
  stream.on('error', () => {});
}

/** Creates a buffer of about the last `limit` characters, which does not copy everything for each line. */
function createTextRing(limit: number): { push(text: string): void; text(): string } {
  let held = '';
  return {
    push: (text) => {
      held += text;
      if (held.length > limit * 2) held = held.slice(-limit);
    },
    text: () => held.slice(-limit),
  };
}
