import { type Sample, type TrackRun, writeFragment } from './fragment.ts';
import type { TrackHead } from './track.ts';

export interface PartMakerOptions {
  video: TrackHead | null;
  audio: TrackHead | null;
  /** How long a part becomes, in milliseconds, but for the last before a keyframe; 0 makes one of each frame. */
  partMs: number;
  /** Takes each fragment; the bytes are the receiver's. */
  onPart: (bytes: Buffer) => void;
}

/** Encoders round to milliseconds: a part that lacks one is long enough. */
const ROUNDING_MS = 1;
/** Sound further ahead of the picture than this no longer waits for it. */
const PICTURE_WAIT_MS = 3000;
const PENDING_MAX_BYTES = 2 ** 25;
const COMPOSITION_MAX_MS = 10_000;
/** Sound that comes so much later than it would follow leaves a gap; so much earlier, and it is left out. */
const SOUND_GAP_SEC = 0.1;
/** Beyond this, packets are made a little longer or shorter, which nobody hears, until the times agree. */
const SOUND_DRIFT_SEC = 0.005;
const SOUND_DRIFT_SHARE = 1 / 128;

/**
 * Makes fragments of frames. Times come in milliseconds from a line that never goes back within a track. A part ends where
 * the picture's next frame begins, so that its length is known; sound follows its own rate, and goes with the part that it is
 * heard in if it has come by then.
 */
export class PartMaker {
  readonly #options: PartMakerOptions;
  readonly #video: Pending;
  readonly #audio: Pending;
  #sequence = 1;
  /** Where the next packet of sound would follow; null before the first. */
  #soundAt: number | null = null;

  constructor(options: PartMakerOptions) {
    this.#options = options;
    this.#video = new Pending(options.video);
    this.#audio = new Pending(options.audio);
  }

  frame(atMs: number, compositionMs: number, isKeyframe: boolean, data: Buffer): void {
    const { partMs } = this.#options;
    const video = this.#video;
    const start = Math.max(video.units(atMs), video.end);
    const pendingMs = video.isEmpty ? 0 : ((start - video.start) * 1000) / video.timescale;
    if (!video.isEmpty) {
      video.endLast(start);
      if (isKeyframe || pendingMs >= partMs - ROUNDING_MS || this.#isFull()) this.#flush(start);
    }
    const composition = video.units(
      Math.max(-COMPOSITION_MAX_MS, Math.min(compositionMs, COMPOSITION_MAX_MS)),
    );
    video.add({ start, duration: 0, composition, isSync: isKeyframe }, data);
  }

  /** @param samples that the packet holds, in its own rate. */
  sound(atMs: number, samples: number, data: Buffer): void {
    const audio = this.#audio;
    const { timescale } = audio;
    const at = audio.units(atMs);
    const follows = this.#soundAt ?? at;
    const aside = (at - follows) / timescale;
    if (aside < -SOUND_GAP_SEC) return;
    const start = aside > SOUND_GAP_SEC ? at : follows;
    if (start > follows) audio.endLast(start);
    const isAside = start === follows && Math.abs(aside) > SOUND_DRIFT_SEC;
    const duration = samples + (isAside ? Math.sign(aside) * Math.floor(samples * SOUND_DRIFT_SHARE) : 0);
    audio.add({ start, duration, composition: 0, isSync: true }, data);
    this.#soundAt = start + duration;
    this.#flushSound((start * 1000) / timescale);
  }

  /** Nothing follows. */
  end(): void {
    const video = this.#video;
    if (!video.isEmpty) video.endLast(video.guessEnd());
    this.#flush(Number.POSITIVE_INFINITY);
  }

  /** Sound alone, and sound whose picture stands still. */
  #flushSound(atMs: number): void {
    const video = this.#video;
    if (!video.isEmpty) {
      const lastMs = (video.lastStart * 1000) / video.timescale;
      if (atMs - lastMs <= PICTURE_WAIT_MS && !this.#isFull()) return;
      video.endLast(Math.max(video.units(atMs), video.lastStart + 1));
      this.#flush(video.end);
      return;
    }
    const audio = this.#audio;
    const pendingMs = ((audio.end - audio.start) * 1000) / audio.timescale;
    if (pendingMs >= this.#options.partMs - ROUNDING_MS || this.#isFull())
      this.#flush(Number.POSITIVE_INFINITY);
  }

  #isFull(): boolean {
    return this.#video.bytes + this.#audio.bytes > PENDING_MAX_BYTES;
  }

  /** @param end of the picture, in its own units. */
  #flush(end: number): void {
    const video = this.#video;
    const audio = this.#audio;
    const untilSound = video.isEmpty ? end : (end / video.timescale) * audio.timescale;
    const runs = [video.take(Number.POSITIVE_INFINITY), audio.take(untilSound)];
    if (runs.every(({ samples }) => samples.length === 0)) return;
    this.#options.onPart(writeFragment(this.#sequence, runs));
    this.#sequence = (this.#sequence + 1) % 2 ** 32;
    video.drop();
    audio.drop();
  }
}

interface PendingSample extends Omit<Sample, 'bytes'> {
  start: number;
}

const FIRST_BYTES = 2 ** 16;

/** Samples of one track that wait for their part; the memory that they lie in is used again. */
class Pending {
  readonly timescale: number;
  readonly #head: TrackHead | null;
  #samples: (Sample & { start: number })[] = [];
  #data = Buffer.alloc(0);
  #bytes = 0;
  #taken = 0;
  /** Where the last sample ends; nothing may begin before it. */
  end = 0;

  constructor(head: TrackHead | null) {
    this.#head = head;
    this.timescale = head?.timescale ?? 1000;
  }

  get isEmpty(): boolean {
    return this.#samples.length === 0;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get start(): number {
    return this.#samples[0]?.start ?? this.end;
  }

  get lastStart(): number {
    return this.#samples.at(-1)?.start ?? this.end;
  }

  units(ms: number): number {
    return Math.round((ms * this.timescale) / 1000);
  }

  add(sample: PendingSample, data: Buffer): void {
    const bytes = this.#bytes + data.length;
    if (bytes > this.#data.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(bytes, 2 * this.#data.length, FIRST_BYTES));
      this.#data.copy(grown, 0, 0, this.#bytes);
      this.#data = grown;
    }
    data.copy(this.#data, this.#bytes);
    this.#bytes = bytes;
    this.#samples.push({ ...sample, bytes: data.length });
    this.end = sample.start + sample.duration;
  }

  /** The last sample lasts until `end`. */
  endLast(end: number): void {
    const last = this.#samples.at(-1);
    if (last === undefined || end <= last.start) return;
    last.duration = end - last.start;
    this.end = end;
  }

  /** As long as the one before it, for want of a better knowledge. */
  guessEnd(): number {
    const before = this.#samples.at(-2);
    return this.lastStart + Math.max(before?.duration ?? 0, this.units(1));
  }

  /** The samples that begin before `until`; their bytes are good until `drop`. */
  take(until: number): TrackRun {
    const count = this.#samples.findIndex(({ start }) => start >= until);
    const samples = count < 0 ? this.#samples : this.#samples.slice(0, count);
    const bytes = samples.reduce((sum, sample) => sum + sample.bytes, 0);
    this.#samples = count < 0 ? [] : this.#samples.slice(count);
    const start = samples[0]?.start ?? 0;
    const { trackId = 0, isVideo = false } = this.#head ?? {};
    this.#taken = bytes;
    return { trackId, isVideo, start, samples, data: this.#data.subarray(0, bytes) };
  }

  /** Makes room of what was taken. */
  drop(): void {
    this.#data.copyWithin(0, this.#taken, this.#bytes);
    this.#bytes -= this.#taken;
    this.#taken = 0;
  }
}
