import { constants } from 'node:fs';
import { type FileHandle, open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Fragment, type Init, InvalidFragmentsError } from './fragments.ts';
import { codecOfInitSegment } from './h264.ts';
import type { LiveEpoch, LiveEpochRung, LiveState } from './state.ts';
import { addPart, addRung, endSegment, isAwaited, leaveSegments, removeRung, segmentFile } from './window.ts';

/** Writer of the segments of one rung of a run; records them in the state. */
export interface SegmentWriter {
  readonly rung: string;
  /** Writes a piece of the run. @returns whether segments have begun or ended with it. */
  take(piece: Init | Fragment, nowMs: number): Promise<boolean>;
  /** Ends the last segment: nothing follows. */
  end(): Promise<void>;
}

/** Writer that determines the segment boundaries. */
export interface LeadingWriter extends SegmentWriter {
  /** End of the last piece, in seconds of the run. */
  readonly endSec: number;
  /** Returns the segment that contains this presentation time; null before the first known one. */
  segmentAt(shownSec: number): SegmentStart | null;
}

interface SegmentStart {
  index: number;
  /** Presentation time of its first frame. */
  shownSec: number;
}

/** Writer that uses the segment boundaries of another rung, and may miss some segments. */
export interface FollowingWriter extends SegmentWriter {
  /** Returns the lag behind the leading rung; null while the rung is left out. */
  behindSec(): number | null;
  /** Leaves the rung out until it has media again. */
  leave(): Promise<void>;
}

interface Options {
  /** Folder of the run. */
  folder: string;
  state: LiveState;
  epoch: LiveEpoch;
  rung: LiveEpochRung;
}

/** Suffix of the file name of a segment that is being written. */
export const UNFINISHED = '.part';

/**
 * Tolerance for a keyframe a few milliseconds before the boundary, because encoders round timestamps;
 * otherwise the segment would last one keyframe interval longer.
 */
const CUT_TOLERANCE_SECONDS = 0.05;
/**
 * Minimum length of the first segment: players start when there is a whole segment, so it does not wait for
 * the second keyframe.
 */
const FIRST_SEGMENT_SECONDS = 0.75;
/** EXTINF is rounded to whole seconds against EXT-X-TARGETDURATION (RFC 8216, 4.3.3.1). */
const TARGET_ROUNDING_SECONDS = 0.49;
/** Gap between two fragments that does not count as part of the segment. */
const GAP_SECONDS = 1;
/** Lag at which a rung is left out, and below which it may join. */
const JOIN_SECONDS = 3;
/** Remembered segment starts of the leading rung: more than the largest allowed lag. */
const KNOWN_STARTS = 64;
/** Maximum burst of segments, as after a stall; the sustained rate is limited by `SEGMENTS_A_SECOND`. */
const BURST_SEGMENTS = 120;
const SEGMENTS_A_SECOND = 2;
const NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;

/** @param segmentSeconds minimum length of a segment, except for the first. */
export function createSegmentWriter(options: Options & { segmentSeconds: number }): LeadingWriter {
  return new RungWriter(options);
}

export function createFollowingWriter(options: Options & { leader: LeadingWriter }): FollowingWriter {
  return new FollowingRungWriter(options);
}

/** Segment of a rung that is being written. */
class OpenSegment {
  readonly index: number;
  readonly startSec: number;
  /** The segment does not begin with a keyframe, and ends at the next one, however early. */
  readonly isDependent: boolean;
  readonly #options: Options;
  readonly #file: FileHandle;
  /** The segment is not listed: its slot has left the window. */
  #isLate = false;

  static async begin(options: Options, index: number, piece: Fragment): Promise<OpenSegment> {
    const path = pathOf(options, index);
    return new OpenSegment(options, index, piece, await open(path + UNFINISHED, NEW));
  }

  private constructor(options: Options, index: number, piece: Fragment, file: FileHandle) {
    this.#options = options;
    this.index = index;
    this.startSec = piece.startSec;
    this.isDependent = !piece.isIndependent;
    this.#file = file;
  }

  async append({ bytes, durationSec, isIndependent }: Fragment, nowMs: number): Promise<void> {
    const { state, epoch, rung } = this.#options;
    await this.#file.appendFile(bytes);
    const part = { durationSec, bytes: bytes.length, isIndependent };
    this.#isLate = addPart(state, epoch, { rung: rung.name, index: this.index }, part, nowMs) === null;
  }

  lasts(endSec: number, leastSec: number): boolean {
    return endSec - this.startSec >= leastSec - CUT_TOLERANCE_SECONDS;
  }

  /** @param nextSec start of the next segment, which is the end of this one. */
  async finish(nextSec?: number): Promise<void> {
    const { state, epoch, rung } = this.#options;
    await this.#file.close();
    const path = pathOf(this.#options, this.index);
    if (this.#isLate) return rm(path + UNFINISHED, { force: true });
    await rename(path + UNFINISHED, path);
    const durationSec = nextSec === undefined ? undefined : nextSec - this.startSec;
    endSegment(state, epoch, { rung: rung.name, index: this.index }, durationSec);
  }
}

function pathOf({ folder, rung }: Options, index: number): string {
  return join(folder, rung.name, segmentFile(index));
}

async function takeInit({ folder, rung }: Options, { bytes }: Init): Promise<void> {
  await writeFile(join(folder, rung.name, 'init.mp4'), bytes);
  const codec = codecOfInitSegment(bytes);
  if (codec !== null && rung.videoCodec !== null) rung.videoCodec = codec;
}

class RungWriter implements LeadingWriter {
  readonly rung: string;
  /** End of the last fragment. */
  endSec = 0;
  /** End of the last fragment with video. */
  #pictureSec = 0;
  readonly #options: Options & { segmentSeconds: number };
  #current: OpenSegment | null = null;
  #nextIndex = 0;
  /** Starts of the last segments. */
  readonly #starts: SegmentStart[] = [];
  /** Segments that may begin now. */
  #spare = BURST_SEGMENTS;
  #countedMs = performance.now();

  constructor(options: Options & { segmentSeconds: number }) {
    this.#options = options;
    this.rung = options.rung.name;
  }

  async take(piece: Init | Fragment, nowMs: number): Promise<boolean> {
    if (piece.type === 'init') {
      await takeInit(this.#options, piece);
      return true;
    }
    const begins = this.#current === null || this.#isCut(this.#current, piece);
    if (begins) await this.#next(piece);
    const current = this.#current;
    if (current === null) return begins;
    await current.append(piece, nowMs);
    this.endSec = piece.startSec + piece.durationSec;
    if (!piece.isSoundAlone) this.#pictureSec = this.endSec;
    const isFirst = current.index === 0 && current.lasts(this.endSec, FIRST_SEGMENT_SECONDS);
    if (isFirst) await this.#finish(this.endSec);
    return begins || isFirst;
  }

  segmentAt(shownSec: number): SegmentStart | null {
    return this.#starts.findLast((start) => start.shownSec <= shownSec + CUT_TOLERANCE_SECONDS) ?? null;
  }

  async end(): Promise<void> {
    await this.#finish();
  }

  #isCut(current: OpenSegment, { startSec, durationSec, isIndependent, isSoundAlone }: Fragment): boolean {
    const { segmentSeconds, state } = this.#options;
    if (isIndependent) return current.lasts(startSec, current.isDependent ? 0 : segmentSeconds);
    // EXT-X-TARGETDURATION must not change (RFC 8216, 6.2.1): with longer keyframe intervals, a segment ends
    // without a keyframe.
    if (startSec + durationSec - current.startSec > state.targetDuration + TARGET_ROUNDING_SECONDS)
      return true;
    // When video is missing there is no keyframe to wait for; between two frames it is not missing.
    const isAway = isSoundAlone === true && startSec - this.#pictureSec >= segmentSeconds;
    return isAway && current.lasts(startSec, segmentSeconds);
  }

  /** @throws {InvalidFragmentsError} for more segments than live media produces. */
  async #next(piece: Fragment): Promise<void> {
    this.#count();
    const { startSec, shownSec } = piece;
    const isGap = Math.abs(startSec - this.endSec) > GAP_SECONDS;
    await this.#finish(isGap ? undefined : startSec);
    const index = this.#nextIndex;
    this.#nextIndex += 1;
    this.#starts.push({ index, shownSec });
    if (this.#starts.length > KNOWN_STARTS) this.#starts.shift();
    this.#current = await OpenSegment.begin(this.#options, index, piece);
  }

  #count(): void {
    const nowMs = performance.now();
    const earned = ((nowMs - this.#countedMs) / 1000) * SEGMENTS_A_SECOND;
    this.#spare = Math.min(BURST_SEGMENTS, this.#spare + earned) - 1;
    this.#countedMs = nowMs;
    if (this.#spare < 0) throw new InvalidFragmentsError('segments arrive faster than real time');
  }

  async #finish(nextSec?: number): Promise<void> {
    const current = this.#current;
    this.#current = null;
    await current?.finish(nextSec);
  }
}

class FollowingRungWriter implements FollowingWriter {
  readonly rung: string;
  readonly #options: Options & { leader: LeadingWriter };
  #endSec = 0;
  #init: Buffer | null = null;
  #current: OpenSegment | null = null;
  /** Whether the rung has joined and has the segments that begin from here on. */
  #isIn = true;

  constructor(options: Options & { leader: LeadingWriter }) {
    this.#options = options;
    this.rung = options.rung.name;
  }

  /** @throws {InvalidFragmentsError} for a header that differs from that of the run. */
  async take(piece: Init | Fragment, nowMs: number): Promise<boolean> {
    if (piece.type === 'init') return this.#takeInit(piece);
    const { epoch, leader } = this.#options;
    this.#endSec = piece.startSec + piece.durationSec;
    if (!this.#isIn && leader.endSec - this.#endSec > JOIN_SECONDS) return false;
    const hasJoined = !this.#isIn;
    this.#isIn = true;
    if (hasJoined) addRung(epoch, this.rung);
    const start = leader.segmentAt(piece.shownSec);
    if (start === null) return hasJoined;
    const begins = start.index !== this.#current?.index;
    if (begins && !(await this.#next(start, piece))) return hasJoined;
    await this.#current?.append(piece, nowMs);
    return hasJoined || begins;
  }

  behindSec(): number | null {
    return this.#isIn ? this.#options.leader.endSec - this.#endSec : null;
  }

  async leave(): Promise<void> {
    this.#isIn = false;
    await this.end();
    removeRung(this.#options.state, this.#options.epoch, this.rung);
  }

  async end(): Promise<void> {
    const current = this.#current;
    this.#current = null;
    await current?.finish();
  }

  /** @returns whether the rung has the segment. */
  async #next({ index, shownSec }: SegmentStart, piece: Fragment): Promise<boolean> {
    const { state, epoch } = this.#options;
    const { rung } = this;
    const last = this.#current;
    const follows = last !== null && index === last.index + 1;
    if (last !== null) {
      this.#current = null;
      await last.finish(follows ? piece.startSec : undefined);
      leaveSegments(state, epoch, rung, { from: last.index + 1, to: index - 1 });
    }
    const isAtStart = piece.isIndependent && piece.shownSec - shownSec <= CUT_TOLERANCE_SECONDS;
    if (!isAwaited(state, epoch, { rung, index }) || !(follows || isAtStart)) {
      // A rung that joins in the middle of a segment is listed from the next one.
      leaveSegments(state, epoch, rung, { from: index, to: index });
      return false;
    }
    this.#current = await OpenSegment.begin(this.#options, index, piece);
    return true;
  }

  async #takeInit(piece: Init): Promise<boolean> {
    // Players have already loaded it, from a URL with immutable content.
    if (this.#init !== null && !this.#init.equals(piece.bytes))
      throw new InvalidFragmentsError('another header');
    if (this.#init !== null) return false;
    this.#init = piece.bytes;
    await takeInit(this.#options, piece);
    return true;
  }
}
