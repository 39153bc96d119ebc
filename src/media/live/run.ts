import { createFragmentReader, type Fragment, type Init } from './fragments.ts';
import {
  createFollowingWriter,
  createSegmentWriter,
  type FollowingWriter,
  type LeadingWriter,
  type SegmentWriter,
} from './segment-writer.ts';
import type { LiveEpoch, LiveState } from './state.ts';

export interface RunOptions {
  /** Parent of the rung folders. */
  folder: string;
  state: LiveState;
  epoch: LiveEpoch;
  segmentSeconds: number;
  /**
   * The rungs below the first come from a separate process: they use its segment boundaries, and may be
   * absent.
   */
  follows: boolean;
}

/** Progress of a run. */
export interface Packaged {
  /** Media of the slowest rung, in milliseconds; rungs that follow the first do not count. */
  ms: number;
  /** Duration of the longest pieces. */
  longestMs: number;
  /** Whether an expected rung is absent. */
  isLate: boolean;
}

type StreamPiece = Init | Fragment;

/** Lag behind the first rung at which a rung is left out, after `PATIENCE_MS`, until it has caught up. */
const BEHIND_SECONDS = 5;
const PATIENCE_MS = 5000;

/** Queue of one rung. */
class Line<W extends SegmentWriter> {
  readonly writer: W;
  reader = createFragmentReader();
  waiting: StreamPiece[] = [];
  /** Duration of the media taken from the queue. */
  ms = 0;
  /** Time since which it has been too far behind, or left out; null otherwise. */
  behindSinceMs: number | null = null;

  constructor(writer: W) {
    this.writer = writer;
  }

  /** Removes queued pieces: all of them, or those presented before `beforeSec`. */
  takeWaiting(beforeSec = Number.POSITIVE_INFINITY): StreamPiece[] {
    const until = this.waiting.findIndex((piece) => piece.type === 'fragment' && piece.shownSec >= beforeSec);
    return this.waiting.splice(0, until < 0 ? this.waiting.length : until);
  }
}

/** One run of a packager: parses its output and passes it to the segment writers. */
export class Run {
  /** Bytes queued for the disk. */
  waitingBytes = 0;
  isUnfit = false;
  readonly #options: RunOptions;
  readonly #leaders: Line<LeadingWriter>[];
  readonly #followers: Line<FollowingWriter>[];
  #longestMs = 0;

  constructor(options: RunOptions) {
    this.#options = options;
    const { folder, state, epoch, segmentSeconds, follows } = options;
    const leading = follows ? epoch.rungs.slice(0, 1) : epoch.rungs;
    this.#leaders = leading.map(
      (rung) => new Line(createSegmentWriter({ folder, state, epoch, rung, segmentSeconds })),
    );
    const [leader] = this.#leaders;
    this.#followers = epoch.rungs.slice(leading.length).flatMap((rung) => {
      if (leader === undefined) return [];
      return new Line(createFollowingWriter({ folder, state, epoch, rung, leader: leader.writer }));
    });
  }

  /**
   * @param index of the rung.
   * @returns whether pieces have been completed.
   * @throws {InvalidFragmentsError}
   */
  push(index: number, bytes: Buffer): boolean {
    const line = this.#lines()[index];
    const pieces = line?.reader.push(bytes) ?? [];
    line?.waiting.push(...pieces);
    for (const piece of pieces) this.waitingBytes += piece.bytes.length;
    return pieces.length > 0;
  }

  /** @returns whether anything has changed, and whether segments have begun or ended. */
  async takeWaiting(nowMs: number, isOver = false): Promise<{ isChanged: boolean; isNew: boolean }> {
    const found = { isChanged: false, isNew: false };
    const take = async (line: Line<SegmentWriter>, pieces: StreamPiece[]) => {
      for (const piece of pieces) {
        this.waitingBytes -= piece.bytes.length;
        found.isChanged = true;
        found.isNew = (await line.writer.take(piece, nowMs)) || found.isNew;
        const ms = piece.type === 'init' ? 0 : piece.durationSec * 1000;
        line.ms += ms;
        this.#longestMs = Math.max(this.#longestMs, ms);
      }
    };
    for (const line of this.#leaders) await take(line, line.takeWaiting());
    // The start of a segment is known when the first rung has passed it.
    const known = isOver ? Number.POSITIVE_INFINITY : (this.#leaders[0]?.writer.endSec ?? 0);
    for (const line of this.#followers) await take(line, line.takeWaiting(known));
    return found;
  }

  /** Leaves out the rungs that stay too far behind. @returns whether any were added to those left out. */
  async leaveLate(nowMs: number): Promise<boolean> {
    const { epoch } = this.#options;
    let isNew = false;
    for (const line of this.#followers) {
      const { writer } = line;
      if ((writer.behindSec() ?? Number.POSITIVE_INFINITY) <= BEHIND_SECONDS) line.behindSinceMs = null;
      else line.behindSinceMs ??= nowMs;
      const isLate = line.behindSinceMs !== null && nowMs - line.behindSinceMs >= PATIENCE_MS;
      if (!isLate || epoch.late?.includes(writer.rung)) continue;
      await writer.leave();
      epoch.late = [...(epoch.late ?? []), writer.rung];
      isNew = true;
    }
    return isNew;
  }

  /** Restarts the rungs that follow the first. @returns their numbers. */
  async restartFollowers(): Promise<number[]> {
    for (const line of this.#followers) {
      for (const { bytes } of line.waiting) this.waitingBytes -= bytes.length;
      line.waiting = [];
      line.reader = createFragmentReader();
      await line.writer.leave();
    }
    return this.#followers.map((_, index) => this.#leaders.length + index);
  }

  async end(): Promise<void> {
    for (const { writer } of this.#leaders) await writer.end();
    for (const { writer } of this.#followers) await writer.leave();
  }

  packaged(): Packaged {
    const { late = [] } = this.#options.epoch;
    const ms = Math.min(...this.#leaders.map((line) => line.ms));
    return { ms, longestMs: this.#longestMs, isLate: late.length > 0 };
  }

  #lines(): Line<SegmentWriter>[] {
    return [...this.#leaders, ...this.#followers];
  }
}
