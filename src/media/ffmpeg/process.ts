import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { programEnvironment } from '../../platform/config.ts';
import type { Logger } from '../../platform/logger.ts';
import { createProgressParser, type FfmpegProgress } from './progress.ts';

export interface SpawnFfmpegOptions {
  /** A name on the PATH or an absolute path. */
  bin: string;
  args: string[];
  log: Logger;
  /** A program and its arguments that become ffmpeg when they have done their part: those of a `Guard`. */
  prefix?: readonly string[];
  /** The folder it runs in; ours by default. */
  cwd?: string;
  /** When given, `-progress pipe:1 -nostats` is put before the arguments. */
  onProgress?: (progress: FfmpegProgress) => void;
  /** What it prints, piece by piece; not together with `onProgress`. */
  onOutput?: (text: string) => void;
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
  /** 0 when it could not be started. */
  pid: number;
  /** Never rejects. */
  exited: Promise<FfmpegExit>;
  /**
   * SIGINT (ffmpeg finishes its files), SIGTERM after half of `graceMs`, SIGKILL after all of it: an ffmpeg
   * that is blocked in a network read ignores the first two (docs/decisions/live-packaging.md#supervision).
   */
  stop(graceMs?: number): Promise<FfmpegExit>;
  kill(signal: NodeJS.Signals): void;
}

const STDERR_RING_BYTES = 64 * 1024;
const STOP_GRACE_MS = 5000;

/**
 * Starts ffmpeg without a shell, with no standard input and nothing of our environment. Never throws: a failed
 * start is an exit.
 */
export function spawnFfmpeg(options: SpawnFfmpegOptions): FfmpegProcess {
  const { bin, log, onProgress, prefix = [] } = options;
  const args = onProgress ? ['-progress', 'pipe:1', '-nostats', ...options.args] : options.args;
  const onOutput = onProgress ? createProgressParser(onProgress) : options.onOutput;
  const [program = bin, ...rest] = [...prefix, bin, ...args];
  const child = spawn(program, rest, {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: programEnvironment(),
    stdio: ['ignore', onOutput ? 'pipe' : 'ignore', 'pipe'],
  });
  const stderr = createTextRing(STDERR_RING_BYTES);
  readText(child.stderr, stderr.push);
  if (onOutput) readText(child.stdout, onOutput);
  const exited = waitForExit(child, stderr.text);
  void exited.then((exit) =>
    log.debug({ pid: child.pid, code: exit.code, signal: exit.signal }, 'ffmpeg exited'),
  );
  return {
    pid: child.pid ?? 0,
    exited,
    kill: (signal) => void child.kill(signal),
    stop: (graceMs = STOP_GRACE_MS) => stopChild(child, exited, graceMs),
  };
}

function waitForExit(child: ChildProcess, stderr: () => string): Promise<FfmpegExit> {
  return new Promise((resolve) => {
    child.once('error', (error) => {
      // Also emitted when a signal cannot be sent; then the process is still there and 'close' will come.
      if (child.pid === undefined) {
        resolve({ code: null, signal: null, stderr: stderr(), spawnError: error.message });
      }
    });
    child.once('close', (code, signal) => resolve({ code, signal, stderr: stderr() }));
  });
}

async function stopChild(
  child: ChildProcess,
  exited: Promise<FfmpegExit>,
  graceMs: number,
): Promise<FfmpegExit> {
  child.kill('SIGINT');
  const timers = [
    setTimeout(() => child.kill('SIGTERM'), graceMs / 2),
    setTimeout(() => child.kill('SIGKILL'), graceMs),
  ];
  try {
    return await exited;
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
}

function readText(stream: Readable | null, onText: (text: string) => void): void {
  if (!stream) return;
  stream.setEncoding('utf8');
  stream.on('data', onText);
  // A broken pipe is reported by the exit.
  stream.on('error', () => {});
}

/** Keeps about the last `limit` characters without copying the whole ring for each line. */
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
