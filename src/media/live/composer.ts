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
  /** The rungs below the first are made beside it: they take its segments, or are left out. */
  follows?: boolean;
  /** Called each time that rungs which follow the first have fallen too far behind it. */
  onLate?: () => void;
  /** Called once, when what a packager writes is no media, or cannot be kept; nothing more of the run is shown. */
  onUnfit?: () => void;
}

export interface ComposerOptions {
  /** `<liveDir>/<streamId>`. */
  dir: string;
  clock: Clock;
  log: Logger;
  /** How long a segment is kept after it has left the window; 60 s unless told otherwise. */
  retainMs?: number;
  /**
   * What is kept of a stream, which may have been on another node before, or has been shown by one since (milliseconds
   * since the Unix epoch); nothing when absent.
   */
  lastKept?: ((streamId: string, sinceMs: number) => Promise<DvrPosition | null>) | undefined;
}

/** A finished segment, which begins with a keyframe, and what is needed to read it. */
export interface LatestSegment {
  /** Of the run, which may go on. */
  folder: string;
  /** Names below it. */
  initFile: string;
  file: string;
  /** Milliseconds since the Unix epoch. */
  startMs: number;
}

/** Segments that nothing is added to any more, oldest first: those of the window, and those that have just left it. */
export interface FinishedSegments {
  /** The files are `<dir>/<epoch>/<rung>/<file>`, each beside its `init.mp4`. */
  dir: string;
  slots: readonly LiveSlot[];
}

/** Takes what a run of the packager writes of one rung, as it comes. */
export type RungSink = (bytes: Buffer) => void;

/**
 * Cuts what the packager runs of one stream write into segments and parts, and writes the public playlists:
 * `master.m3u8`, `<rung>.m3u8` and `state.json`. Every call waits for the one before it, so a stream has one writer.
 */
export interface Composer {
  /** Ends the run before, then opens a new folder. @returns where each rung's media goes, in the order of the rungs. */
  beginEpoch(input: EpochInput): Promise<RungSink[]>;
  /** What makes the rungs that follow the first begins anew. @returns where their media goes from now on. */
  restartFollowers(): Promise<RungSink[]>;
  /** The frame rate has become known. */
  setFps(fps: number): Promise<void>;
  /** Resolves when all that has come is in the playlists. */
  poll(): Promise<void>;
  /** The run has ended: what there is of its last segments is all of them. */
  endEpoch(): Promise<void>;
  /** Of the run that is on. */
  packaged(): Packaged;
  /** The newest finished segment, of the smallest rung; null before there is one. */
  latest(): LatestSegment | null;
  finished(): FinishedSegments;
  /** Deletes what has been out of the window for long enough. */
  prune(): Promise<void>;
  close(): Promise<void>;
}

const RETAIN_MS = 60_000;
const AAC_LC = 'mp4a.40.2';
/** What may wait for the disk: some seconds of the highest bitrates. */
const WAITING_MAX_BYTES = 2 ** 27;

export async function openComposer(options: ComposerOptions): Promise<Composer> {
  await mkdir(options.dir, { recursive: true });
  const state = (await loadState(join(options.dir, 'state.json'))) ?? emptyState();
  await endOpenSegments(options.dir, state);
  return new StreamComposer(options, state);
}

/** The run that is on. */
interface Present {
  run: Run;
  input: EpochInput;
  /** Of the sinks of the rungs that follow: what those before say is no longer taken. */
  turn: number;
}

class StreamComposer implements Composer {
  readonly #options: ComposerOptions;
  readonly #state: LiveState;
  /** What the files hold, to leave those alone that have not changed. */
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
    this.#options.log.error({ err: error, dir: this.#options.dir }, 'a packager run cannot be shown');
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

  /** @param isNew segments have begun or ended, which a new process has to know. */
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
