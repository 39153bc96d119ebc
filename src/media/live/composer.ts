import { access, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { KeptNumbers } from '../contract/index.ts';
import {
  BadFragments,
  createFragmentReader,
  type Fragment,
  type FragmentReader,
  type Init,
} from './fragments.ts';
import { renderMaster } from './master.ts';
import { type MediaPlaylist, parseMediaPlaylist, renderMediaPlaylist } from './playlist.ts';
import { createSegmentWriter, type SegmentWriter, UNFINISHED } from './segment-writer.ts';
import {
  emptyState,
  type LiveEpochRung,
  type LiveSlot,
  type LiveState,
  type LowLatency,
  loadState,
  replaceFile,
} from './state.ts';
import { continueAfter, mediaPlaylistOf, slideWindow, variantsOf } from './window.ts';

export interface EpochInput {
  rungs: LiveEpochRung[];
  audioCodec: string;
  /** 0 while it is not known. */
  fps: number;
  segmentSeconds: number;
  lowLatency: LowLatency;
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
  /** What is kept of a stream, which may have been on another node before; nothing when absent. */
  lastKept?: ((streamId: string) => Promise<KeptNumbers | null>) | undefined;
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
  /** The frame rate has become known. */
  setFps(fps: number): Promise<void>;
  /** Resolves when all that has come is in the playlists. */
  poll(): Promise<void>;
  /** The run has ended: what there is of its last segments is all of them. */
  endEpoch(): Promise<void>;
  /** Media of this run, by its slowest rung, and the longest pieces in which it comes, in milliseconds. */
  packaged(): { ms: number; longestMs: number };
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

/** A rung of the run that is on. */
interface Line {
  reader: FragmentReader;
  writer: SegmentWriter;
  waiting: (Init | Fragment)[];
  /** Of what was taken. */
  ms: number;
}

interface Run {
  name: string;
  lines: Line[];
  longestMs: number;
  isUnfit: boolean;
  onUnfit: () => void;
}

class StreamComposer implements Composer {
  readonly #options: ComposerOptions;
  readonly #state: LiveState;
  /** What the files hold, to leave those alone that have not changed. */
  readonly #written = new Map<string, string>();
  #queue: Promise<unknown> = Promise.resolve();
  #queuedPoll: Promise<void> | null = null;
  #run: Run | null = null;
  #waitingBytes = 0;

  constructor(options: ComposerOptions, state: LiveState) {
    this.#options = options;
    this.#state = state;
  }

  beginEpoch(input: EpochInput): Promise<RungSink[]> {
    return this.#inTurn(async () => {
      await this.#endRun();
      const { dir, clock } = this.#options;
      const kept = await this.#options.lastKept?.(basename(dir)).catch(() => null);
      if (kept) continueAfter(this.#state, kept, clock.ms());
      const name = await newEpochName(dir, clock.ms());
      const folders = input.rungs.map((rung) => join(dir, name, rung.name));
      await Promise.all(folders.map((folder) => mkdir(folder, { recursive: true })));
      const epoch = startEpoch(this.#state, name, input);
      const lines = epoch.rungs.map((rung): Line => {
        const { segmentSeconds } = input;
        const folder = join(dir, name);
        const writer = createSegmentWriter({ folder, state: this.#state, epoch, rung, segmentSeconds });
        return { reader: createFragmentReader(), writer, waiting: [], ms: 0 };
      });
      const run = { name, lines, longestMs: 0, isUnfit: false, onUnfit: input.onUnfit ?? (() => {}) };
      this.#run = run;
      await this.#publish(true);
      return lines.map((line) => (bytes) => this.#push(run, line, bytes));
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

  packaged(): { ms: number; longestMs: number } {
    if (this.#run === null) return { ms: 0, longestMs: 0 };
    const { lines, longestMs } = this.#run;
    return { ms: Math.min(...lines.map(({ ms }) => ms)), longestMs };
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
    const names = this.#run === null ? [] : (epoch?.rungs.map(({ name }) => name) ?? []);
    const isFinished = (slot: LiveSlot) =>
      Object.values(slot.rungs).every(({ isOpen }) => !isOpen) &&
      (slot.leftAtMs !== null || slot.epoch !== epoch?.name || names.every((name) => slot.rungs[name]));
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

  #push(run: Run, line: Line, bytes: Buffer): void {
    if (run.isUnfit || run !== this.#run) return;
    try {
      const pieces = line.reader.push(bytes);
      if (pieces.length === 0) return;
      line.waiting.push(...pieces);
      for (const piece of pieces) this.#waitingBytes += piece.bytes.length;
    } catch (error) {
      if (!(error instanceof BadFragments)) throw error;
      this.#giveUp(run, error);
      return;
    }
    if (this.#waitingBytes > WAITING_MAX_BYTES) this.#giveUp(run, new Error('the disk is too slow'));
    else this.poll().catch((error: unknown) => this.#giveUp(run, error));
  }

  #giveUp(run: Run, error: unknown): void {
    if (run.isUnfit) return;
    run.isUnfit = true;
    this.#options.log.error({ err: error, dir: this.#options.dir }, 'a packager run cannot be shown');
    run.onUnfit();
  }

  async #takeWaiting(): Promise<void> {
    const run = this.#run;
    if (run === null) return;
    const { clock } = this.#options;
    let isNew = false;
    let isChanged = false;
    for (const line of run.lines) {
      const { waiting } = line;
      line.waiting = [];
      for (const piece of waiting) {
        this.#waitingBytes -= piece.bytes.length;
        isChanged = true;
        isNew = (await line.writer.take(piece, clock.ms())) || isNew;
        const ms = piece.type === 'init' ? 0 : piece.durationSec * 1000;
        line.ms += ms;
        run.longestMs = Math.max(run.longestMs, ms);
      }
    }
    if (isChanged) await this.#publish(isNew);
  }

  async #endRun(): Promise<void> {
    const run = this.#run;
    if (run === null) return;
    await this.#takeWaiting().catch((error: unknown) => this.#giveUp(run, error));
    this.#run = null;
    this.#waitingBytes = 0;
    for (const { writer } of run.lines) await writer.end();
    await this.#publish(true);
  }

  /** @param isNew segments have begun or ended, which a new process has to know. */
  async #publish(isNew: boolean): Promise<void> {
    const { dir, clock } = this.#options;
    if (isNew) slideWindow(this.#state, clock.ms());
    await publish(dir, this.#state, { isNew, written: this.#written });
  }
}

/** Keyframes further apart than this are an issue of the signal, so segments are no longer (RFC 8216 4.3.3.1). */
const TARGET_DURATION = 4;

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

/** Names are unique for ever, because segments are cached by their address. */
async function newEpochName(dir: string, nowMs: number): Promise<string> {
  for (let at = nowMs; ; at += 1) {
    const name = at.toString(36);
    const taken = await access(join(dir, name)).then(
      () => true,
      () => false,
    );
    if (!taken) return name;
  }
}

/** A process that was killed has left parts of segments: they are all that there will be of these. */
async function endOpenSegments(dir: string, state: LiveState): Promise<void> {
  const open = state.slots.filter((slot) => Object.values(slot.rungs).some(({ isOpen }) => isOpen));
  for (const slot of open) {
    for (const [rung, held] of Object.entries(slot.rungs)) {
      if (!held.isOpen) continue;
      // The playlist is newer than the state.
      const shown = (await readPlaylist(dir, rung))?.open;
      if (shown?.epoch === slot.epoch && shown.file === slot.file && shown.rung === rung) {
        held.durationSec = shown.durationSec;
        held.parts = (shown.parts ?? []).map(({ offset: _, ...part }) => part);
        held.bytes = held.parts.reduce((sum, { bytes }) => sum + bytes, 0);
      }
      const path = join(dir, slot.epoch, rung, slot.file);
      await rename(path + UNFINISHED, path).catch(() => {});
      const isThere = await stat(path).then(
        () => true,
        () => false,
      );
      delete held.isOpen;
      if (!isThere) delete slot.rungs[rung];
    }
  }
}

async function readPlaylist(dir: string, rung: string): Promise<MediaPlaylist | null> {
  const text = await readFile(join(dir, `${rung}.m3u8`), 'utf8').catch(() => '');
  return parseMediaPlaylist(text);
}

/** The state first: a process that dies in between writes the same playlists again from it. */
async function publish(
  dir: string,
  state: LiveState,
  { isNew, written }: { isNew: boolean; written: Map<string, string> },
): Promise<void> {
  if (isNew) await replaceFile(join(dir, 'state.json'), JSON.stringify(state));
  const files = state.playlists.map((rung) => [
    `${rung}.m3u8`,
    renderMediaPlaylist(mediaPlaylistOf(state, rung), { hasOffsets: true }),
  ]);
  if (isNew) files.push(['master.m3u8', renderMaster(variantsOf(state))]);
  await Promise.all(
    files.map(async ([name = '', text = '']) => {
      if (written.get(name) === text) return;
      await replaceFile(join(dir, name), text);
      written.set(name, text);
    }),
  );
}

async function prune(dir: string, state: LiveState, leftBeforeMs: number): Promise<void> {
  const due = state.slots.filter((slot) => slot.leftAtMs !== null && slot.leftAtMs <= leftBeforeMs);
  for (const slot of due) {
    for (const rung of Object.keys(slot.rungs))
      await rm(join(dir, slot.epoch, rung, slot.file), { force: true });
  }
  state.slots = state.slots.filter((slot) => !due.includes(slot));
  if (due.length > 0) await replaceFile(join(dir, 'state.json'), JSON.stringify(state));
  // Folders that nothing refers to: finished runs, and runs that never made a segment.
  const used = new Set([...state.slots.map((slot) => slot.epoch), state.epoch?.name]);
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    if (entry.isDirectory() && !used.has(entry.name))
      await rm(join(dir, entry.name), { recursive: true, force: true });
  }
}
