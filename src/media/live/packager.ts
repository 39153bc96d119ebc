import type { Writable } from 'node:stream';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { LatencyMode } from '../contract/index.ts';
import type { Launch } from '../ffmpeg/guard.ts';
import type { Hardware } from '../ffmpeg/hardware.ts';
import { liveLimits, reserves } from '../ffmpeg/limits.ts';
import { type FfmpegProcess, OUTPUT_FD, spawnFfmpeg } from '../ffmpeg/process.ts';
import type { FfmpegProgram } from '../ffmpeg/program.ts';
import { type PackagerCommandInput, packagerArgs, type SourceVideo, scaledArgs } from './command.ts';
import type { Composer, EpochInput } from './composer.ts';
import { DirectPackager } from './direct-packager.ts';
import { EncoderChoice } from './encoder-choice.ts';
import type { LadderPlan } from './ladder.ts';
import { ScaledRungs } from './scaled-rungs.ts';
import type { LowLatency } from './state.ts';
import { Supervisor } from './supervisor.ts';

export interface PackagerOptions {
  ffmpeg: FfmpegProgram;
  /** Feeds the publish to one run, starting at its last keyframe. Frames may be batched for `gatherMs`. */
  feed: (reader: Writable, gatherMs?: number) => void;
  plan: LadderPlan;
  /** Hardware that the plan uses; null or absent when it uses none. */
  hardware?: Hardware | null;
  /** Called once, when the hardware has failed: from then on all rungs are encoded in software. */
  onSoftware?: () => void;
  /** Video as announced by the encoder; null without video. */
  source: SourceVideo | null;
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
  /** Returns the process ID of the current ffmpeg; 0 between two runs. */
  pid(): number;
  /** Reports whether recent runs have repeatedly ended by themselves. */
  failing(): boolean;
  start(): void;
  /** Sets the frame rate for the master of this run and of later ones. */
  setFps(fps: number): Promise<void>;
  /**
   * Stops after the publish has ended: lets ffmpeg read to the end of its input for up to `eofWaitMs`, so
   * that the last short segment is included, then stops it. Resolves when none of its processes run.
   */
  stop(eofWaitMs?: number): Promise<void>;
}

const GIVE_UP_FAILURES = 10;
const EOF_WAIT_MS = 1000;
/** File size limit: ffmpeg writes only to pipes. */
const FILE_MAX_BYTES = 0;
/**
 * Part length and hold-back. Parts of LOW are short, and players stay as close behind them as is safe; those
 * of STANDARD cost viewers and server fewer requests (docs/decisions/live-packaging.md#parts).
 */
const PARTS: Readonly<Record<LatencyMode, { seconds: number; holdBackSec: number }>> = {
  LOW: { seconds: 0.2, holdBackSec: 1 },
  STANDARD: { seconds: 0.75, holdBackSec: 3 },
};
/**
 * Ratio of the declared part target to the nominal length. A part has whole frames: at 24 fps, a part of 0.2
 * s has 0.208 s. All but the last are at least 85 % of the target.
 */
const PART_TARGET = 1.17;
const AAC_LC = 'mp4a.40.2';

/**
 * Creates the packager of one publish, without ffmpeg when it needs none (docs/decisions/live-packaging.md).
 * Every run is a new epoch.
 */
export function createPackager(options: PackagerOptions): Packager {
  const { plan, onGiveUp } = options;
  if (plan.isDirect) return directPackager(options, onGiveUp);
  const isCopied = plan.rungs[0]?.mode === 'copy' && plan.audio !== 'encode';
  return isCopied ? new DirectOrFfmpegPackager(options) : new FfmpegPackager(options);
}

/** One ffmpeg for all rungs. */
class FfmpegPackager implements Packager {
  readonly #options: PackagerOptions;
  readonly #supervisor: Supervisor;
  readonly #encoder: EncoderChoice;
  #fps: number;

  constructor(options: PackagerOptions) {
    const { log, clock, backoffMs, onGiveUp, composer } = options;
    this.#encoder = encoderChoice(options);
    this.#options = options;
    this.#fps = options.plan.fps;
    this.#supervisor = new Supervisor({
      begin: () => this.#begin(),
      onEnd: () => composer.endEpoch(),
      onFailure: () => this.#encoder.failed(),
      ...(onGiveUp === undefined ? {} : { onGiveUp }),
      giveUpAfter: GIVE_UP_FAILURES,
      log,
      clock,
      backoffMs,
    });
  }

  pid(): number {
    return this.#supervisor.pid();
  }

  failing(): boolean {
    return this.#supervisor.failing();
  }

  start(): void {
    this.#supervisor.start();
  }

  setFps(fps: number): Promise<void> {
    this.#fps = fps;
    return this.#options.composer.setFps(fps);
  }

  stop(eofWaitMs = EOF_WAIT_MS): Promise<void> {
    return this.#supervisor.stop(eofWaitMs);
  }

  async #begin(): Promise<FfmpegProcess> {
    const { composer, ffmpeg, log, feed } = this.#options;
    const onUnfit = () => this.#supervisor.kill();
    const outputs = await composer.beginEpoch({ ...epochInput(this.#options, this.#fps), onUnfit });
    const args = packagerArgs(commandInput(this.#options, this.#encoder));
    const program = await livePackager(ffmpeg, this.#encoder);
    return spawnFfmpeg({ program, args, log, input: feed, outputs });
  }
}

/** Packager without ffmpeg; falls back to ffmpeg when the source cannot be stored unchanged. */
class DirectOrFfmpegPackager implements Packager {
  #packager: Packager;
  #isStopped = false;

  constructor(options: PackagerOptions) {
    this.#packager = directPackager(options, () => {
      if (this.#isStopped) return;
      this.#packager = new FfmpegPackager(options);
      this.#packager.start();
    });
  }

  pid(): number {
    return this.#packager.pid();
  }

  failing(): boolean {
    return this.#packager.failing();
  }

  start(): void {
    this.#packager.start();
  }

  setFps(fps: number): Promise<void> {
    return this.#packager.setFps(fps);
  }

  stop(eofWaitMs?: number): Promise<void> {
    this.#isStopped = true;
    return this.#packager.stop(eofWaitMs);
  }
}

function directPackager(options: PackagerOptions, onGiveUp?: () => void): DirectPackager {
  const { composer, log, clock, plan, source, feed, ffmpeg, backoffMs } = options;
  const isScaled = plan.rungs.length > 1;
  const encoder = encoderChoice(options);
  const scaled = new ScaledRungs({
    begin: async (outputs, input) => {
      const args = scaledArgs(commandInput(options, encoder));
      const program = await livePackager(ffmpeg, encoder);
      return spawnFfmpeg({ program, args, log, input, outputs });
    },
    composer,
    onFailure: () => encoder.failed(),
    log,
    clock,
    backoffMs,
  });
  return new DirectPackager({
    feed,
    picture: source,
    hasSound: plan.audio === 'copy',
    partMs: PARTS[options.latencyMode].seconds * 1000,
    epoch: (fps) => epochInput(options, fps),
    fps: plan.fps,
    composer,
    log,
    ...(isScaled ? { scaled } : {}),
    ...(onGiveUp === undefined ? {} : { onGiveUp }),
  });
}

function encoderChoice({ plan, hardware = null, log, onSoftware }: PackagerOptions): EncoderChoice {
  return new EncoderChoice({ plan, hardware, log, onSoftware });
}

function livePackager({ guard, bin }: FfmpegProgram, encoder: EncoderChoice): Promise<Launch> {
  const hardware = encoder.hardware();
  const isReserving = hardware !== null && reserves(hardware.kind);
  const devices = hardware?.nodes ?? [];
  return guard.start(
    bin,
    { ...liveLimits(FILE_MAX_BYTES), isReserving },
    { reads: [], writes: null, devices },
  );
}

function commandInput(options: PackagerOptions, encoder: EncoderChoice): PackagerCommandInput {
  const { sourceTimeBase } = options.ffmpeg.info;
  const partSeconds = PARTS[options.latencyMode].seconds;
  const [plan, hardware] = [encoder.plan(), encoder.hardware()];
  return { ...options, plan, hardware, partSeconds, firstFd: OUTPUT_FD, sourceTimeBase };
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
