import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { FfmpegExit, FfmpegProcess } from '../ffmpeg/process.ts';

export interface SupervisorOptions {
  /**
   * Starts one run of a program; null when it is not to be started anymore. May throw, which counts as a
   * failure.
   */
  begin: () => Promise<FfmpegProcess | null>;
  /** Called when a run has ended. */
  onEnd?: () => Promise<void>;
  /** Called when a run has ended by itself. */
  onFailure?: () => void;
  /** Called once when it fails too often; it does not start again by itself. */
  onGiveUp?: () => void;
  log: Logger;
  clock: Clock;
  /** Waits between a failure and the next run, in milliseconds; the last one repeats. */
  backoffMs?: readonly number[] | undefined;
  /** Number of failures after which it gives up; unlimited when absent. */
  giveUpAfter?: number;
}

const BACKOFF_MS = [200, 500, 1000, 2000, 5000] as const;
const REMEMBERED_MS = 120_000;
const FAILING_AFTER = 3;
const FAILING_WINDOW_MS = 15_000;

/** Keeps one ffmpeg running (docs/decisions/live-packaging.md#supervision). */
export class Supervisor {
  readonly #options: SupervisorOptions;
  /** Times of the failures in the last two minutes, in milliseconds since the Unix epoch. */
  readonly #failures: number[] = [];
  #child: FfmpegProcess | null = null;
  #stopped = false;
  #wake: (() => void) | null = null;
  #finished: Promise<void> | null = null;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** 0 between two runs. */
  pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Reports whether recent runs have repeatedly ended by themselves. */
  failing(): boolean {
    const since = this.#options.clock.ms() - FAILING_WINDOW_MS;
    return this.#failures.filter((at) => at > since).length >= FAILING_AFTER;
  }

  start(): void {
    this.#finished ??= this.#supervise();
  }

  /** Kills the run; another one begins after the backoff. */
  kill(): void {
    this.#child?.kill('SIGKILL');
  }

  /** Lets the run read to the end of its input for up to `eofWaitMs`, and resolves when no process runs. */
  async stop(eofWaitMs: number): Promise<void> {
    this.#stopped = true;
    this.#wake?.();
    const child = this.#child;
    if (child && !(await endsWithin(child.exited, eofWaitMs))) await child.stop();
    await this.#finished;
  }

  async #supervise(): Promise<void> {
    const { log, onFailure, onGiveUp, giveUpAfter = Number.POSITIVE_INFINITY } = this.#options;
    for (;;) {
      const exit = await this.#runOnce();
      if (this.#stopped) return;
      this.#note(exit);
      onFailure?.();
      if (this.#failures.length >= giveUpAfter) {
        log.error({ failures: this.#failures.length }, 'packager given up');
        onGiveUp?.();
        return;
      }
      await this.#pauseBeforeRetry();
      if (this.#stopped) return;
    }
  }

  /** Never rejects. */
  async #runOnce(): Promise<FfmpegExit> {
    try {
      if (this.#stopped) return NOT_STARTED;
      const child = await this.#options.begin();
      if (child === null) return NOT_STARTED;
      this.#child = child;
      // A `stop` during the start has not seen this process.
      if (this.#stopped) child.kill('SIGKILL');
      const exit = await child.exited;
      this.#child = null;
      await this.#options.onEnd?.();
      return exit;
    } catch (error) {
      return { code: null, signal: null, stderr: '', spawnError: String(error) };
    }
  }

  #note(exit: FfmpegExit): void {
    const now = this.#options.clock.ms();
    this.#failures.push(now);
    while ((this.#failures[0] ?? now) < now - REMEMBERED_MS) this.#failures.shift();
    const reason = exit.spawnError ?? lastLine(exit.stderr);
    const { code, signal } = exit;
    this.#options.log.warn({ code, signal, reason, failures: this.#failures.length }, 'packager ended');
  }

  #pauseBeforeRetry(): Promise<void> {
    const { backoffMs = BACKOFF_MS } = this.#options;
    const ms = backoffMs[Math.min(this.#failures.length, backoffMs.length) - 1] ?? 0;
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

const NOT_STARTED: FfmpegExit = { code: 0, signal: null, stderr: '' };

export async function endsWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.slice(0, 300) ?? '';
}
