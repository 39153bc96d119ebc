import { constants } from 'node:fs';
import { type FileHandle, open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Fragment, Init } from './fragments.ts';
import { codecOfInitSegment } from './h264.ts';
import type { LiveEpoch, LiveEpochRung, LiveState } from './state.ts';
import { addPart, endSegment, segmentFile } from './window.ts';

/** Writes the segments of one rung of a run, and says in the state what is there. */
export interface SegmentWriter {
  readonly rung: string;
  /** Puts a piece of the run where it belongs. @returns whether segments have begun or ended with it. */
  take(piece: Init | Fragment, nowMs: number): Promise<boolean>;
  /** Nothing follows: what there is of the last segment is all of it. */
  end(): Promise<void>;
}

interface Options {
  /** The run's. */
  folder: string;
  state: LiveState;
  epoch: LiveEpoch;
  rung: LiveEpochRung;
  segmentSeconds: number;
}

interface Current {
  index: number;
  startSec: number;
  file: FileHandle;
  /** It ends at the next keyframe, however soon that comes. */
  isDependent: boolean;
  /** Nobody sees it: its place has left the window. */
  isLate: boolean;
}

/** Behind the name of a segment that is still being written. */
export const UNFINISHED = '.part';

/**
 * A keyframe that comes a few milliseconds before the boundary (encoders round timestamps) must still end
 * the segment, or the segment would last a whole keyframe interval more.
 */
const CUT_TOLERANCE_SECONDS = 0.05;
/** Players begin when there is a whole segment: the first does not wait for the second keyframe. */
const FIRST_SEGMENT_SECONDS = 0.75;
/** A gap between two fragments is no part of the segment. */
const GAP_SECONDS = 1;
const NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;

export function createSegmentWriter(options: Options): SegmentWriter {
  return new RungWriter(options);
}

class RungWriter implements SegmentWriter {
  readonly rung: string;
  readonly #options: Options;
  #current: Current | null = null;
  #nextIndex = 0;
  /** Where the last fragment ended. */
  #endSec = 0;

  constructor(options: Options) {
    this.#options = options;
    this.rung = options.rung.name;
  }

  async take(piece: Init | Fragment, nowMs: number): Promise<boolean> {
    if (piece.type === 'init') return this.#takeInit(piece);
    const begins = this.#current === null || this.#isCut(this.#current, piece);
    if (begins) await this.#next(piece);
    const current = this.#current;
    if (current === null) return begins;
    const { state, epoch } = this.#options;
    await current.file.appendFile(piece.bytes);
    this.#endSec = piece.startSec + piece.durationSec;
    const part = {
      durationSec: piece.durationSec,
      bytes: piece.bytes.length,
      isIndependent: piece.isIndependent,
    };
    current.isLate = addPart(state, epoch, { rung: this.rung, index: current.index }, part, nowMs) === null;
    const isFirst = current.index === 0 && lasts(current, this.#endSec, FIRST_SEGMENT_SECONDS);
    if (isFirst) await this.#finish(this.#endSec);
    return begins || isFirst;
  }

  async end(): Promise<void> {
    await this.#finish();
  }

  async #takeInit({ bytes }: Init): Promise<boolean> {
    const { folder, rung } = this.#options;
    await writeFile(join(folder, this.rung, 'init.mp4'), bytes);
    const codec = codecOfInitSegment(bytes);
    if (codec !== null && rung.videoCodec !== null) rung.videoCodec = codec;
    return true;
  }

  #isCut(current: Current, { startSec, isIndependent }: Fragment): boolean {
    const leastSec = current.isDependent ? 0 : this.#options.segmentSeconds;
    return isIndependent && lasts(current, startSec, leastSec);
  }

  async #next({ startSec, isIndependent }: Fragment): Promise<void> {
    const isGap = Math.abs(startSec - this.#endSec) > GAP_SECONDS;
    await this.#finish(isGap ? undefined : startSec);
    const index = this.#nextIndex;
    this.#nextIndex += 1;
    const path = this.#pathOf(index);
    this.#current = {
      index,
      startSec,
      isDependent: !isIndependent,
      file: await open(path + UNFINISHED, NEW),
      isLate: false,
    };
  }

  /** @param nextSec where the next one begins: the end of this one. */
  async #finish(nextSec?: number): Promise<void> {
    const current = this.#current;
    if (current === null) return;
    this.#current = null;
    await current.file.close();
    const path = this.#pathOf(current.index);
    if (current.isLate) return rm(path + UNFINISHED, { force: true });
    await rename(path + UNFINISHED, path);
    const { state, epoch } = this.#options;
    const durationSec = nextSec === undefined ? undefined : nextSec - current.startSec;
    endSegment(state, epoch, { rung: this.rung, index: current.index }, durationSec);
  }

  #pathOf(index: number): string {
    return join(this.#options.folder, this.rung, segmentFile(index));
  }
}

function lasts(current: Current, endSec: number, leastSec: number): boolean {
  return endSec - current.startSec >= leastSec - CUT_TOLERANCE_SECONDS;
}
