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
  /** Where each rung has a folder. */
  folder: string;
  state: LiveState;
  epoch: LiveEpoch;
  segmentSeconds: number;
  /** The rungs below the first are made beside it: they take its segments, and may be absent. */
  follows: boolean;
}

/** How much of a run there is. */
export interface Packaged {
  /** By its slowest rung, in milliseconds; rungs that follow the first do not count. */
  ms: number;
  /** The longest pieces in which it comes. */
  longestMs: number;
  /** A rung is absent that should be there. */
  isLate: boolean;
}

type Piece = Init | Fragment;

/** A rung that stays so far behind the first for so long is left out until it has caught up. */
const BEHIND_SECONDS = 5;
const PATIENCE_MS = 5000;

/** A rung as it comes. */
class Line<W extends SegmentWriter> {
  readonly writer: W;
  reader = createFragmentReader();
  waiting: Piece[] = [];
  /** Of what was taken. */
  ms = 0;
  /** Since when it has been too far behind, or left out; null while all is well. */
  behindSinceMs: number | null = null;

  constructor(writer: W) {
    this.writer = writer;
  }

  /** Takes what waits out of the line: all that has come, or what is shown before then. */
  takeWaiting(beforeSec = Number.POSITIVE_INFINITY): Piece[] {
    const until = this.waiting.findIndex((piece) => piece.type === 'fragment' && piece.shownSec >= beforeSec);
    return this.waiting.splice(0, until < 0 ? this.waiting.length : until);
  }
}

/** One run of a packager: takes apart what it writes, and has it written. */
export class Run {
  /** What waits for the disk. */
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
   * @returns whether pieces have become whole with them.
   * @throws {BadFragments}
   */
  push(index: number, bytes: Buffer): boolean {
    const line = this.#lines()[index];
    const pieces = line?.reader.push(bytes) ?? [];
    line?.waiting.push(...pieces);
    for (const piece of pieces) this.waitingBytes += piece.bytes.length;
    return pieces.length > 0;
  }

  /** @returns whether there is anything new, and whether segments have begun or ended. */
  async takeWaiting(nowMs: number, isOver = false): Promise<{ isChanged: boolean; isNew: boolean }> {
    const found = { isChanged: false, isNew: false };
    const take = async (line: Line<SegmentWriter>, pieces: Piece[]) => {
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
    // Where a segment begins is known when the first rung has gone beyond it.
    const known = isOver ? Number.POSITIVE_INFINITY : (this.#leaders[0]?.writer.endSec ?? 0);
    for (const line of this.#followers) await take(line, line.takeWaiting(known));
    return found;
  }

  /** Leaves out the rungs that stay too far behind. @returns whether there are any that were not before. */
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

  /** What makes the rungs that follow begins anew. @returns their numbers. */
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
