import type { RecordedRoomTrack } from '../../contract/index.ts';
import { openOutputFile } from '../../ffmpeg/output.ts';
import { clockRateOf, type MediaFrame, readFrames } from './frames.ts';
import type { ResumePoint } from './jitter-buffer.ts';
import { type MjrHeader, readMjrHeader } from './mjr.ts';
import { type TrackClock, TrackClockBuilder } from './track-clock.ts';
import { keyFrameSize, type Vp8Size } from './vp8.ts';

/** Time span in epoch milliseconds. */
export interface Span {
  fromMs: number;
  toMs: number;
}

/** Result of the first pass over a track. */
export interface ScannedTrack extends RecordedRoomTrack {
  header: MjrHeader;
  clock: TrackClock;
  /** Time spans with media. Without media for seconds, the camera or the microphone is off. */
  spans: Span[];
  /** Positions from which reading can resume, in order. */
  entries: { atMs: number; resume: ResumePoint }[];
  /** Loudness of each quarter of a second, from 0 to 127; 0 without audio. */
  loudness: Uint8Array;
  /** Video shapes over time, as far as they affect the layout. */
  shapes: Shape[];
}

/** Size of a video as it was sent, and the clockwise rotation for display. */
export interface Shape {
  atMs: number;
  width: number;
  height: number;
  degrees: 0 | 90 | 180 | 270;
}

export const LEVEL_MS = 250;
/**
 * Gaps after which a source counts as off: cameras send continuously; an unchanged screen may send nothing
 * for a while.
 */
const OFF_AFTER_MS = { CAMERA: 4000, MICROPHONE: 4000, SCREEN: 12_000 };
/** Duration for which the last frame is shown. */
const FRAME_MS = 40;
const ENTRY_EVERY_MS = 2000;
/** Minimum interval between shape changes: phones are not rotated more often. */
const SHAPE_EVERY_MS = 1000;
/** Tolerance of aspect ratios: sizes are rounded to whole blocks. */
const SAME_RATIO = 0.02;
/** Lowest audio level; 0 is the loudest. */
export const SILENCE = 127;

/**
 * Reads a track through once.
 *
 * @param maxMs nothing that came later after the track's beginning is read.
 * @returns null when nothing of it can be read.
 */
export async function scanTrack(
  track: RecordedRoomTrack,
  maxMs: number,
  signal: AbortSignal,
): Promise<ScannedTrack | null> {
  const file = await openOutputFile(track.path);
  try {
    const header = await readMjrHeader(file);
    const clockRate = header === null ? null : clockRateOf(header);
    if (header === null || clockRate === null) return null;
    const found = new Findings(track, header, clockRate, maxMs);
    reading: for await (const frames of readFrames(file, header, null)) {
      signal.throwIfAborted();
      for (const frame of frames) if (!found.add(frame)) break reading;
    }
    return found.result();
  } finally {
    await file.close();
  }
}

class Findings {
  readonly #track: RecordedRoomTrack;
  readonly #header: MjrHeader;
  readonly #maxMs: number;
  readonly #clock: TrackClockBuilder;
  readonly #spans: Span[] = [];
  readonly #entries: ScannedTrack['entries'] = [];
  readonly #shapes: Shape[] = [];
  #degrees: Shape['degrees'] = 0;
  #size: Vp8Size | null = null;
  readonly #loudness: number[] = [];

  constructor(track: RecordedRoomTrack, header: MjrHeader, clockRate: number, maxMs: number) {
    this.#track = track;
    this.#header = header;
    this.#maxMs = maxMs;
    this.#clock = new TrackClockBuilder(clockRate);
  }

  /** @returns false when no more frames are needed. */
  add(frame: MediaFrame): boolean {
    const { receivedMs } = frame;
    if (receivedMs > this.#maxMs) return false;
    this.#clock.add(frame);
    const atMs = this.#header.startedMs + receivedMs;
    const span = this.#spans.at(-1);
    if (span !== undefined && atMs - span.toMs < OFF_AFTER_MS[this.#track.source]) {
      span.toMs = Math.max(span.toMs, atMs + FRAME_MS);
    } else this.#spans.push({ fromMs: atMs, toMs: atMs + FRAME_MS });
    if (frame.isKey && atMs - (this.#entries.at(-1)?.atMs ?? 0) >= ENTRY_EVERY_MS) {
      this.#entries.push({ atMs, resume: frame.resume });
    }
    if (this.#header.kind === 'VIDEO') this.#look(frame, atMs);
    if (frame.level !== null) {
      const window = Math.floor(receivedMs / LEVEL_MS);
      this.#loudness[window] = Math.max(this.#loudness[window] ?? 0, SILENCE - frame.level);
    }
    return true;
  }

  result(): ScannedTrack | null {
    if (this.#entries.length === 0) return null;
    return {
      ...{ ...this.#track, header: this.#header, clock: this.#clock.build() },
      ...{ spans: this.#spans, entries: this.#entries, shapes: this.#shapes },
      loudness: Uint8Array.from(this.#loudness),
    };
  }

  #look(frame: MediaFrame, atMs: number): void {
    this.#degrees = frame.rotation ?? this.#degrees;
    this.#size = keyFrameSize(frame.data) ?? this.#size;
    if (this.#size === null) return;
    const last = this.#shapes.at(-1);
    const next = { atMs, degrees: this.#degrees, ...this.#size };
    if (last !== undefined && (isAlike(last, next) || atMs - last.atMs < SHAPE_EVERY_MS)) return;
    this.#shapes.push(next);
  }
}

/** Reports whether two sizes have the same aspect ratio, and so scale to the same tile. */
function isAlike(a: Shape, b: Shape): boolean {
  return a.degrees === b.degrees && Math.abs((a.width * b.height) / (a.height * b.width) - 1) < SAME_RATIO;
}
