import type { Writable } from 'node:stream';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { LatencyMode } from '../contract/index.ts';
import { liveLimits } from '../ffmpeg/limits.ts';
import { type FfmpegExit, type FfmpegProcess, OUTPUT_FD, spawnFfmpeg } from '../ffmpeg/process.ts';
import type { FfmpegProgram } from '../ffmpeg/program.ts';
import { packagerArgs } from './command.ts';
import type { Composer, EpochInput } from './composer.ts';
import { DirectPackager } from './direct-packager.ts';
import type { LadderPlan } from './ladder.ts';
import type { LowLatency } from './state.ts';

export interface PackagerOptions {
  ffmpeg: FfmpegProgram;
  /** Gives one run the publish, from its last keyframe on. */
  feed: (stdin: Writable) => void;
  plan: LadderPlan;
  /** The picture that was announced; null without one. */
  source: { width: number; height: number } | null;
  /** RFC 6381 of the copied audio; a transcode and silence are AAC-LC. */
  audioCodec: string;
  segmentSeconds: number;
  latencyMode: LatencyMode;
  composer: Composer;
  log: Logger;
  clock: Clock;
  /** Waits between a failure and the next run, in milliseconds; the last one repeats. */
  backoffMs?: readonly number[];
  /** Called once when it fails too often; it does not start again by itself. */
  onGiveUp?: () => void;
}

export interface Packager {
  /** Of the ffmpeg that runs now; 0 between two runs. */
  pid(): number;
  /** It has just ended again and again by itself. */
  failing(): boolean;
  start(): void;
  /** The frame rate has become known: for the master of this run and of those after it. */
  setFps(fps: number): Promise<void>;
  /**
   * The publish is over: lets ffmpeg read to the end of its input for up to `eofWaitMs`, so that the last
   * short segment is kept, then stops it. Resolves when nothing of it runs any more.
   */
  stop(eofWaitMs?: number): Promise<void>;
}

const BACKOFF_MS = [200, 500, 1000, 2000, 5000] as const;
const GIVE_UP_FAILURES = 10;
const GIVE_UP_WINDOW_MS = 120_000;
const FAILING_AFTER = 3;
const FAILING_WINDOW_MS = 15_000;
const EOF_WAIT_MS = 1000;
/** It writes to pipes alone. */
const FILE_MAX_BYTES = 0;
/**
 * Parts of LOW are short, and players stay as close behind them as is safe; those of STANDARD cost viewers and server
 * fewer requests (docs/decisions/live-packaging.md#parts).
 */
const PARTS: Readonly<Record<LatencyMode, { seconds: number; holdBackSec: number }>> = {
  LOW: { seconds: 0.2, holdBackSec: 1 },
  STANDARD: { seconds: 0.75, holdBackSec: 3 },
};
/** A part has whole frames: at 24 a second, of 0.2 s, it has 0.208. All but the last are at least 85 % of the target. */
const PART_TARGET = 1.17;
const AAC_LC = 'mp4a.40.2';
const NOT_STARTED: FfmpegExit = { code: 0, signal: null, stderr: '' };

/** One supervised ffmpeg for one publish (docs/decisions/live-packaging.md): every run is a new epoch. */
export function createPackager(options: PackagerOptions): Packager {
  if (!options.plan.isDirect) return new SupervisedPackager(options);
  const { composer, log, onGiveUp, source, feed } = options;
  return new DirectPackager({
    feed,
    picture: source,
    hasSound: options.plan.audio === 'copy',
    partMs: PARTS[options.latencyMode].seconds * 1000,
    epoch: (fps) => epochInput(options, fps),
    fps: options.plan.fps,
    composer,
    log,
    ...(onGiveUp === undefined ? {} : { onGiveUp }),
  });
}

class SupervisedPackager implements Packager {
  readonly #options: PackagerOptions;
  /** When the failures of the last two minutes were, in milliseconds since the Unix epoch. */
  readonly #failures: number[] = [];
  #child: FfmpegProcess | null = null;
  #stopped = false;
  #fps: number;
  #wake: (() => void) | null = null;
  #finished: Promise<void> | null = null;

  constructor(options: PackagerOptions) {
    this.#options = options;
    this.#fps = options.plan.fps;
  }

  pid(): number {
    return this.#child?.pid ?? 0;
  }

  failing(): boolean {
    const since = this.#options.clock.ms() - FAILING_WINDOW_MS;
    return this.#failures.filter((at) => at > since).length >= FAILING_AFTER;
  }

  start(): void {
    this.#finished ??= this.#supervise();
  }

  setFps(fps: number): Promise<void> {
    this.#fps = fps;
    return this.#options.composer.setFps(fps);
  }

  async stop(eofWaitMs = EOF_WAIT_MS): Promise<void> {
    this.#stopped = true;
    this.#wake?.();
    const child = this.#child;
    if (child && !(await endsWithin(child.exited, eofWaitMs))) await child.stop();
    await this.#finished;
  }

  async #supervise(): Promise<void> {
    const { log, onGiveUp } = this.#options;
    for (;;) {
      const exit = await this.#runOnce();
      if (this.#stopped) return;
      if (!this.#mayRetry(exit)) {
        log.error({ failures: this.#failures.length }, 'packager given up');
        onGiveUp?.();
        return;
      }
      await this.#pauseBeforeRetry();
      if (this.#stopped) return;
    }
  }

  /** One ffmpeg from its folder to its last segment. Never rejects: a full disk is a failure like others. */
  async #runOnce(): Promise<FfmpegExit> {
    const { composer, ffmpeg, log } = this.#options;
    try {
      const onUnfit = () => this.#child?.kill('SIGKILL');
      const outputs = await composer.beginEpoch({ ...epochInput(this.#options, this.#fps), onUnfit });
      if (this.#stopped) return NOT_STARTED;
      const { sourceTimeBase } = ffmpeg.info;
      const partSeconds = PARTS[this.#options.latencyMode].seconds;
      const args = packagerArgs({ ...this.#options, partSeconds, firstFd: OUTPUT_FD, sourceTimeBase });
      const view = { reads: [], writes: null };
      const program = await ffmpeg.guard.start(ffmpeg.bin, liveLimits(FILE_MAX_BYTES), view);
      if (this.#stopped) return NOT_STARTED;
      this.#child = spawnFfmpeg({ program, args, log, input: this.#options.feed, outputs });
      const exit = await this.#child.exited;
      this.#child = null;
      await composer.endEpoch();
      return exit;
    } catch (error) {
      return { code: null, signal: null, stderr: '', spawnError: String(error) };
    }
  }

  #mayRetry(exit: FfmpegExit): boolean {
    const now = this.#options.clock.ms();
    this.#failures.push(now);
    while ((this.#failures[0] ?? now) < now - GIVE_UP_WINDOW_MS) this.#failures.shift();
    const reason = exit.spawnError ?? lastLine(exit.stderr);
    const { code, signal } = exit;
    this.#options.log.warn({ code, signal, reason, failures: this.#failures.length }, 'packager ended');
    return this.#failures.length < GIVE_UP_FAILURES;
  }

  #pauseBeforeRetry(): Promise<void> {
    const backoffMs = this.#options.backoffMs ?? BACKOFF_MS;
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

function epochInput(options: PackagerOptions, fps: number): EpochInput {
  const { plan } = options;
  return {
    rungs: plan.rungs.map(({ name, width, height, videoCodec, videoKbps }) => ({
      name,
      width,
      height,
      videoCodec,
      videoKbps,
    })),
    audioCodec: plan.audio === 'copy' ? options.audioCodec : AAC_LC,
    fps,
    segmentSeconds: options.segmentSeconds,
    lowLatency: lowLatencyOf(options.latencyMode),
  };
}

function lowLatencyOf(mode: LatencyMode): LowLatency {
  const { seconds, holdBackSec } = PARTS[mode];
  return { partTargetSec: Math.round(seconds * PART_TARGET * 1000) / 1000, holdBackSec };
}

async function endsWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
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
