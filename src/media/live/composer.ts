import { type FSWatcher, watch } from 'node:fs';
import { access, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { openOutput, readOutput, removeOutput, renameOutput, UnsafeOutput } from '../ffmpeg/output.ts';
import { codecOfInitSegment } from './h264.ts';
import { renderMaster } from './master.ts';
import { type PrivatePlaylist, parsePrivatePlaylist, renderMediaPlaylist } from './playlist.ts';
import {
  emptyState,
  type LiveEpoch,
  type LiveEpochRung,
  type LiveSlot,
  type LiveState,
  loadState,
  replaceFile,
} from './state.ts';
import {
  appendSlot,
  commonSegments,
  longest,
  mediaPlaylistOf,
  type ReadySegment,
  slideWindow,
  variantsOf,
} from './window.ts';

export interface EpochInput {
  rungs: LiveEpochRung[];
  audioCodec: string;
  /** 0 while it is not known. */
  fps: number;
  segmentSeconds: number;
  /** Called once, when its folder holds what no packager writes; nothing more of the run is shown. */
  onUnsafe?: () => void;
}

export interface ComposerOptions {
  /** `<liveDir>/<streamId>`. */
  dir: string;
  clock: Clock;
  log: Logger;
  /** How long a segment is kept after it has left the window; 60 s unless told otherwise. */
  retainMs?: number;
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

/**
 * Writes the public playlists of one stream from the private ones of its packager runs: `master.m3u8`,
 * `<rung>.m3u8` and `state.json`. Every call waits for the one before it, so a stream has one writer.
 */
export interface Composer {
  /** Takes what the run before has left, then opens a new folder; resolves to its path. */
  beginEpoch(input: EpochInput): Promise<string>;
  /** The frame rate has become known. */
  setFps(fps: number): Promise<void>;
  /** Takes finished segments; also called by the folder watcher between `beginEpoch` and `endEpoch`. */
  poll(): Promise<void>;
  /** The run has ended: takes its last segment and stops watching. */
  endEpoch(): Promise<void>;
  /** Media in the finished segments of this run, and the longest of them, in milliseconds. */
  packaged(): { ms: number; longestMs: number };
  /** The newest finished segment, of the smallest rung; null before there is one. */
  latest(): LatestSegment | null;
  /** Deletes what has been out of the window for long enough. */
  prune(): Promise<void>;
  close(): Promise<void>;
}

const RETAIN_MS = 60_000;
/** Renames are seen by inotify; this is for file systems without it. */
const POLL_MS = 250;
const AAC_LC = 'mp4a.40.2';
const INIT = 'init.mp4';
const INIT_MAX_BYTES = 2 ** 20;
/** Thirty entries take three kilobytes. */
const PRIVATE_MAX_BYTES = 2 ** 16;

export async function openComposer(options: ComposerOptions): Promise<Composer> {
  await mkdir(options.dir, { recursive: true });
  const state = (await loadState(join(options.dir, 'state.json'))) ?? emptyState();
  return new StreamComposer(options, state);
}

class StreamComposer implements Composer {
  readonly #options: ComposerOptions;
  readonly #state: LiveState;
  /** What the files hold, to leave those alone that have not changed. */
  readonly #written = new Map<string, string>();
  #watching: { stop(): void } | null = null;
  #queue: Promise<unknown> = Promise.resolve();
  #queuedPoll: Promise<void> | null = null;
  /** There are slots that the files do not show yet, because writing them failed. */
  #unpublished = false;
  #packaged = { ms: 0, longestMs: 0 };
  /** The run whose folder is not read any more. */
  #unsafe: string | null = null;
  #onUnsafe: () => void = () => {};

  constructor(options: ComposerOptions, state: LiveState) {
    this.#options = options;
    this.#state = state;
  }

  beginEpoch(input: EpochInput): Promise<string> {
    return this.#inTurn(async () => {
      this.#stopWatching();
      await this.#takeReady();
      const { dir, clock, log } = this.#options;
      const name = await newEpochName(dir, clock.ms());
      const folders = input.rungs.map((rung) => join(dir, name, rung.name));
      await Promise.all(folders.map((folder) => mkdir(folder, { recursive: true })));
      startEpoch(this.#state, name, input);
      this.#onUnsafe = input.onUnsafe ?? (() => {});
      this.#packaged = { ms: 0, longestMs: 0 };
      await publish(dir, this.#state, this.#written);
      // Once for each kind of trouble: a full disk would be told four times a second.
      let told = '';
      const onError = (error: unknown): void => {
        if (told !== String(error)) log.error({ err: error, dir }, 'live playlists cannot be written');
        told = String(error);
      };
      this.#watching = watchFolders(folders, () => void this.poll().catch(onError));
      return join(dir, name);
    });
  }

  setFps(fps: number): Promise<void> {
    return this.#inTurn(async () => {
      if (!this.#state.epoch || this.#state.epoch.fps === fps) return;
      this.#state.epoch.fps = fps;
      await publish(this.#options.dir, this.#state, this.#written);
    });
  }

  poll(): Promise<void> {
    this.#queuedPoll ??= this.#inTurn(() => {
      this.#queuedPoll = null;
      return this.#takeReady();
    });
    return this.#queuedPoll;
  }

  endEpoch(): Promise<void> {
    this.#stopWatching();
    return this.#inTurn(() => this.#takeReady());
  }

  packaged(): { ms: number; longestMs: number } {
    return this.#packaged;
  }

  latest(): LatestSegment | null {
    const slot = this.#state.slots.at(-1);
    const rung = slot === undefined ? undefined : Object.keys(slot.rungs).at(-1);
    if (slot === undefined || rung === undefined) return null;
    const folder = join(this.#options.dir, slot.epoch);
    return { folder, initFile: `${rung}/init.mp4`, file: `${rung}/${slot.file}`, startMs: slot.startMs };
  }

  prune(): Promise<void> {
    const { dir, clock, retainMs = RETAIN_MS } = this.#options;
    return this.#inTurn(() => prune(dir, this.#state, clock.ms() - retainMs));
  }

  async close(): Promise<void> {
    this.#stopWatching();
    await this.#queue;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => {});
    return result;
  }

  #stopWatching(): void {
    this.#watching?.stop();
    this.#watching = null;
  }

  async #takeReady(): Promise<void> {
    const { epoch } = this.#state;
    if (!epoch || epoch.name === this.#unsafe) return;
    const { slots } = this.#state;
    const before = slots.length;
    const { dir, clock, log } = this.#options;
    await takeSegments(dir, this.#state, epoch, clock.ms()).catch((error: unknown) => {
      if (!(error instanceof UnsafeOutput)) throw error;
      log.error({ err: error, dir }, 'a packager left what is no segment');
      this.#unsafe = epoch.name;
      this.#onUnsafe();
    });
    const added = slots.length - before;
    for (const slot of slots.slice(slots.length - added)) {
      const ms = longest(slot) * 1000;
      const { ms: before, longestMs } = this.#packaged;
      this.#packaged = { ms: before + ms, longestMs: Math.max(longestMs, ms) };
    }
    this.#unpublished ||= added > 0;
    if (!this.#unpublished) return;
    await publish(this.#options.dir, this.#state, this.#written);
    this.#unpublished = false;
  }
}

function startEpoch(state: LiveState, name: string, input: EpochInput): void {
  state.epoch = {
    name,
    rungs: input.rungs,
    audioCodec: input.audioCodec || AAC_LC,
    fps: input.fps,
    nextIndex: 0,
  };
  state.targetDuration = Math.max(state.targetDuration, input.segmentSeconds);
  for (const rung of input.rungs) {
    if (!state.playlists.includes(rung.name)) state.playlists.push(rung.name);
  }
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

/** Adds a slot for every segment that all rungs have finished. */
async function takeSegments(dir: string, state: LiveState, epoch: LiveEpoch, nowMs: number): Promise<void> {
  const folder = join(dir, epoch.name);
  const lists = await Promise.all(epoch.rungs.map((rung) => readPrivate(folder, rung.name)));
  const ready = commonSegments(
    lists.map((list) => list.segments),
    epoch.nextIndex,
  );
  if (ready.length === 0) return;
  if (epoch.nextIndex === 0) await readInitSegments(folder, epoch, lists);
  let laterMs = ready.reduce((sum, [segment]) => sum + (segment?.durationSec ?? 0) * 1000, 0);
  for (const segments of ready) {
    const [first] = segments;
    if (!first) continue;
    laterMs -= first.durationSec * 1000;
    const rungs: LiveSlot['rungs'] = {};
    for (const [position, rung] of epoch.rungs.entries()) {
      const bytes = await sizeOf(folder, `${rung.name}/${first.file}`);
      rungs[rung.name] = { durationSec: segments[position]?.durationSec ?? first.durationSec, bytes };
    }
    const segment: ReadySegment = { index: first.index, file: first.file, rungs };
    appendSlot(state, epoch, segment, nowMs - laterMs);
  }
  slideWindow(state, nowMs);
}

/** The init segments are complete when the first segment is: gives them one name and reads the codec. */
async function readInitSegments(folder: string, epoch: LiveEpoch, lists: PrivatePlaylist[]): Promise<void> {
  for (const [position, rung] of epoch.rungs.entries()) {
    const name = lists[position]?.initFile ?? INIT;
    // With several rungs ffmpeg numbers the files (init_0.mp4); the address is the same for all.
    if (name !== INIT) await renameOutput(folder, `${rung.name}/${name}`, INIT);
    const codec = codecOfInitSegment(await readOutput(folder, `${rung.name}/${INIT}`, INIT_MAX_BYTES));
    if (codec !== null && rung.videoCodec !== null) rung.videoCodec = codec;
  }
}

/** The state first: a process that dies in between writes the same playlists again from it. */
async function publish(dir: string, state: LiveState, written: Map<string, string>): Promise<void> {
  await replaceFile(join(dir, 'state.json'), JSON.stringify(state));
  const files = state.playlists.map((rung) => [
    `${rung}.m3u8`,
    renderMediaPlaylist(mediaPlaylistOf(state, rung)),
  ]);
  files.push(['master.m3u8', renderMaster(variantsOf(state))]);
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
      await removeOutput(join(dir, slot.epoch), `${rung}/${slot.file}`).catch(ignoreUnsafe);
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

async function readPrivate(folder: string, rung: string): Promise<PrivatePlaylist> {
  try {
    const text = await readOutput(folder, `${rung}/index.m3u8`, PRIVATE_MAX_BYTES);
    return parsePrivatePlaylist(text.toString('utf8'));
  } catch (error) {
    if (error instanceof UnsafeOutput) throw error;
    return { initFile: null, segments: [] };
  }
}

async function sizeOf(folder: string, name: string): Promise<number> {
  try {
    const file = await openOutput(folder, name);
    return (await file.stat().finally(() => file.close())).size;
  } catch (error) {
    if (error instanceof UnsafeOutput) throw error;
    return 0;
  }
}

/** The folder goes as a whole, once nothing of it is shown. */
function ignoreUnsafe(error: unknown): void {
  if (!(error instanceof UnsafeOutput)) throw error;
}

function watchFolders(folders: string[], onChange: () => void): { stop(): void } {
  const watchers: FSWatcher[] = [];
  for (const folder of folders) {
    try {
      const watcher = watch(folder, (_event, file) => {
        if (file === null || file === 'index.m3u8') onChange();
      });
      watcher.on('error', () => watcher.close());
      watchers.push(watcher);
    } catch {
      // No inotify left (the kernel's limit): the timer goes on.
    }
  }
  const timer = setInterval(onChange, POLL_MS);
  timer.unref();
  return {
    stop: () => {
      clearInterval(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}
