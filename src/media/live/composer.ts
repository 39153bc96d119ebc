import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { DvrPosition } from '../contract/index.ts';
import { InvalidFragmentsError } from './fragments.ts';
import { TARGET_DURATION } from './master.ts';
import { type Packaged, Run } from './run.ts';
import {
  emptyState,
  type LiveEpochRung,
  type LiveSlot,
  type LiveState,
  type LowLatency,
  loadState,
} from './state.ts';
import { endOpenSegments, newEpochName, type PublishedState, prune, publish } from './stream-folder.ts';
import { endOf, resumeAfter, slideWindow } from './window.ts';

export interface EpochInput {
  rungs: LiveEpochRung[];
  audioCodec: string;
  /** 0 while it is not known. */
  fps: number;
  segmentSeconds: number;
  lowLatency: LowLatency;
  /**
   * The rungs below the first come from a separate process: they use its segment boundaries, or are left out.
   */
  follows?: boolean;
  /** Called each time rungs that follow the first have fallen too far behind it. */
  onLate?: () => void;
  /**
   * Called once when the packager's output is invalid media or cannot be stored; the rest of the run is
   * discarded.
   */
  onUnfit?: () => void;
}

export interface ComposerOptions {
  /** `<liveDir>/<streamId>`. */
  dir: string;
  clock: Clock;
  log: Logger;
  /** Retention of a segment after it has left the window; 60 s by default. */
  retainMs?: number;
  /**
   * Returns the last stored position of a stream, which may have been on another node before, or published by
   * one since (milliseconds since the Unix epoch); none when absent.
   */
  lastKept?: ((streamId: string, sinceMs: number) => Promise<DvrPosition | null>) | undefined;
}

/** Finished segment that begins with a keyframe, and the files needed to read it. */
export interface LatestSegment {
  /** Folder of the run, which may still be active. */
  folder: string;
  /** File names in that folder. */
  initFile: string;
  file: string;
  /** Milliseconds since the Unix epoch. */
  startMs: number;
}

/** Completed segments, oldest first: those of the window, and those that have just left it. */
export interface FinishedSegments {
  /** The files are `<dir>/<epoch>/<rung>/<file>`, each in a folder with its `init.mp4`. */
  dir: string;
  slots: readonly LiveSlot[];
}

/** Sink for the packager's output of one rung. */
export type RungSink = (bytes: Buffer) => void;

/**
 * Composer of the public playlists: splits the output of a stream's packager runs into segments and parts,
 * and writes `master.m3u8`, `<rung>.m3u8` and `state.json`. Calls are serialized, so a stream has one writer.
 */
export interface Composer {
  /** Ends the previous run, then opens a new folder. @returns the sinks of the rungs, in order. */
  beginEpoch(input: EpochInput): Promise<RungSink[]>;
  /** Restarts the rungs that follow the first. @returns the new sinks for their media. */
  restartFollowers(): Promise<RungSink[]>;
  /** The frame rate has become known. */
  setFps(fps: number): Promise<void>;
  /** Resolves when all received media is in the playlists. */
  poll(): Promise<void>;
  /** Ends the run and completes its last segments. */
  endEpoch(): Promise<void>;
  /** Returns the progress of the current run. */
  packaged(): Packaged;
  /** Returns the newest finished segment of the smallest rung; null before there is one. */
  latest(): LatestSegment | null;
  finished(): FinishedSegments;
  /** Deletes segments whose retention after leaving the window has ended. */
  prune(): Promise<void>;
  close(): Promise<void>;
}

const RETAIN_MS = 60_000;
const AAC_LC = 'mp4a.40.2';
/** Maximum bytes queued for the disk: a few seconds of the highest bitrates. */
const WAITING_MAX_BYTES = 2 ** 27;

export async function openComposer(options: ComposerOptions): Promise<Composer> {
  await mkdir(options.dir, { recursive: true });
  const state = (await loadState(join(options.dir, 'state.json'))) ?? emptyState();
  await endOpenSegments(options.dir, state);
  return new StreamComposer(options, state);
}

/** Current run. */
interface Present {
  run: Run;
  input: EpochInput;
  /** Generation of the follower sinks: output of earlier ones is discarded. */
  turn: number;
}

class StreamComposer implements Composer {
  readonly #options: ComposerOptions;
  readonly #state: LiveState;
  /** Current content of the files, to skip unchanged ones. */
  readonly #shown = new Map<string, PublishedState>();
  #queue: Promise<unknown> = Promise.resolve();
  #queuedPoll: Promise<void> | null = null;
  #present: Present | null = null;

  constructor(options: ComposerOptions, state: LiveState) {
    this.#options = options;
    this.#state = state;
  }

  beginEpoch(input: EpochInput): Promise<RungSink[]> {
    return this.#inTurn(async () => {
      await this.#endRun();
      const { dir, clock } = this.#options;
      const shownUntilMs = endOf(this.#state.slots.at(-1)) ?? 0;
      const kept = await this.#options.lastKept?.(basename(dir), shownUntilMs).catch(() => null);
      if (kept) resumeAfter(this.#state, kept, clock.ms());
      const name = await newEpochName(dir, clock.ms());
      const folders = input.rungs.map((rung) => join(dir, name, rung.name));
      await Promise.all(folders.map((folder) => mkdir(folder, { recursive: true })));
      const epoch = startEpoch(this.#state, name, input);
      const { segmentSeconds, follows = false } = input;
      const run = new Run({ folder: join(dir, name), state: this.#state, epoch, segmentSeconds, follows });
      const present = { run, input, turn: 0 };
      this.#present = present;
      await this.#publish(true);
      return input.rungs.map((_, index) => this.#sink(present, index));
    });
  }

  restartFollowers(): Promise<RungSink[]> {
    return this.#inTurn(async () => {
      const present = this.#present;
      if (present === null) return [];
      present.turn += 1;
      const indexes = await present.run.restartFollowers();
      await this.#publish(true);
      return indexes.map((index) => this.#sink(present, index));
    });
  }

  setFps(fps: number): Promise<void> {
    return this.#inTurn(async () => {
      if (!this.#state.epoch || this.#state.epoch.fps === fps) return;
      this.#state.epoch.fps = fps;
      await this.#publish(true);
    });
  }

  poll(): Promise<void> {
    this.#queuedPoll ??= this.#inTurn(() => {
      this.#queuedPoll = null;
      return this.#takeWaiting();
    });
    return this.#queuedPoll;
  }

  endEpoch(): Promise<void> {
    return this.#inTurn(() => this.#endRun());
  }

  packaged(): Packaged {
    return this.#present?.run.packaged() ?? { ms: 0, longestMs: 0, isLate: false };
  }

  latest(): LatestSegment | null {
    for (const slot of this.#state.slots.toReversed()) {
      const [rung] =
        Object.entries(slot.rungs).findLast(([, held]) => !held.isOpen && !held.isDependent) ?? [];
      if (rung === undefined) continue;
      const folder = join(this.#options.dir, slot.epoch);
      return { folder, initFile: `${rung}/init.mp4`, file: `${rung}/${slot.file}`, startMs: slot.startMs };
    }
    return null;
  }

  finished(): FinishedSegments {
    const { slots, epoch } = this.#state;
    const names = this.#present === null ? [] : (epoch?.rungs.map(({ name }) => name) ?? []);
    const isFinished = (slot: LiveSlot) =>
      Object.values(slot.rungs).every(({ isOpen }) => !isOpen) &&
      (slot.leftAtMs !== null ||
        slot.epoch !== epoch?.name ||
        names.every((name) => slot.rungs[name] || slot.without?.includes(name)));
    return { dir: this.#options.dir, slots: slots.filter(isFinished) };
  }

  prune(): Promise<void> {
    const { dir, clock, retainMs = RETAIN_MS } = this.#options;
    return this.#inTurn(() => prune(dir, this.#state, clock.ms() - retainMs));
  }

  async close(): Promise<void> {
    await this.endEpoch().catch(() => {});
    await this.#queue;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => {});
    return result;
  }

  #sink(present: Present, index: number): RungSink {
    const { turn } = present;
    const isFollower = index > 0 && present.input.follows;
    return (bytes) => {
      if (!isFollower || turn === present.turn) this.#push(present, index, bytes);
    };
  }

  #push(present: Present, index: number, bytes: Buffer): void {
    const { run } = present;
    if (run.isUnfit || present !== this.#present) return;
    try {
      if (!run.push(index, bytes)) return;
    } catch (error) {
      if (!(error instanceof InvalidFragmentsError)) throw error;
      this.#giveUp(present, error);
      return;
    }
    if (run.waitingBytes > WAITING_MAX_BYTES) this.#giveUp(present, new Error('the disk is too slow'));
    else this.poll().catch((error: unknown) => this.#giveUp(present, error));
  }

  #giveUp({ run, input }: Present, error: unknown): void {
    if (run.isUnfit) return;
    run.isUnfit = true;
    this.#options.log.error(
      { err: error, dir: this.#options.dir },
      'the output of a packager cannot be used',
    );
    input.onUnfit?.();
  }

  async #takeWaiting(): Promise<void> {
    const present = this.#present;
    if (present === null) return;
    const nowMs = this.#options.clock.ms();
    const { isChanged, isNew } = await present.run.takeWaiting(nowMs);
    if (!isChanged) return;
    const isLate = await present.run.leaveLate(nowMs);
    await this.#publish(isNew || isLate);
    if (isLate) present.input.onLate?.();
  }

  async #endRun(): Promise<void> {
    const present = this.#present;
    if (present === null) return;
    const isOver = true;
    await present.run
      .takeWaiting(this.#options.clock.ms(), isOver)
      .catch((error: unknown) => this.#giveUp(present, error));
    this.#present = null;
    await present.run.end();
    await this.#publish(true);
  }

  /** @param isNew segments have begun or ended, which must be in the stored state. */
  async #publish(isNew: boolean): Promise<void> {
    const { dir, clock } = this.#options;
    if (isNew) slideWindow(this.#state, clock.ms());
    await publish(dir, this.#state, { isNew, shown: this.#shown });
  }
}

function startEpoch(state: LiveState, name: string, input: EpochInput): NonNullable<LiveState['epoch']> {
  const epoch = {
    name,
    rungs: input.rungs,
    audioCodec: input.audioCodec || AAC_LC,
    fps: input.fps,
    nextIndex: 0,
  };
  state.epoch = epoch;
  state.targetDuration = Math.max(state.targetDuration, input.segmentSeconds, TARGET_DURATION);
  state.lowLatency = { ...input.lowLatency };
  for (const rung of input.rungs) {
    if (!state.playlists.includes(rung.name)) state.playlists.push(rung.name);
  }
  return epoch;
}
