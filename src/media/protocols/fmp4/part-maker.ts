import { type Sample, type TrackRun, writeFragment } from './fragment.ts';
import type { TrackHead } from './track.ts';

export interface PartMakerOptions {
  video: TrackHead | null;
  audio: TrackHead | null;
  /**
   * Target duration of a part in milliseconds, except for the last before a keyframe; 0 creates one for each
   * frame.
   */
  partMs: number;
  /** Takes each fragment; the bytes are the receiver's. */
  onPart: (bytes: Buffer) => void;
}

/** Encoders round to milliseconds: a part that lacks one is long enough. */
const ROUNDING_MS = 1;
/** Lead of audio over video from which it no longer waits. */
const VIDEO_WAIT_MS = 3000;
const PENDING_MAX_BYTES = 2 ** 25;
const COMPOSITION_MAX_MS = 10_000;
/** Audio later than expected by more than this leaves a gap; audio earlier by more than this is dropped. */
const AUDIO_GAP_SEC = 0.1;
/** Drift beyond which packet durations are slightly adjusted, inaudibly, until the times agree. */
const AUDIO_DRIFT_SEC = 0.005;
const AUDIO_DRIFT_SHARE = 1 / 128;

/**
 * Builds fragments from frames. Times are milliseconds of a timeline that never decreases within a track. A
 * part ends where the next video frame begins, so that its duration is known; audio follows its own rate, and
 * is added to the part in which it is played if it has arrived by then.
 */
export class PartMaker {
  readonly #options: PartMakerOptions;
  readonly #video: Pending;
  readonly #audio: Pending;
  #sequence = 1;
  /** Expected start of the next audio packet; null before the first. */
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

  /** @param samples in the packet, at its own rate. */
  sound(atMs: number, samples: number, data: Buffer): void {
    const audio = this.#audio;
    const { timescale } = audio;
    const at = audio.units(atMs);
    const follows = this.#soundAt ?? at;
    const aside = (at - follows) / timescale;
    if (aside < -AUDIO_GAP_SEC) return;
    const start = aside > AUDIO_GAP_SEC ? at : follows;
    if (start > follows) audio.endLast(start);
    const isAside = start === follows && Math.abs(aside) > AUDIO_DRIFT_SEC;
    const duration = samples + (isAside ? Math.sign(aside) * Math.floor(samples * AUDIO_DRIFT_SHARE) : 0);
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

  /** Flushes audio of a stream without video, or whose video has stalled. */
  #flushSound(atMs: number): void {
    const video = this.#video;
    if (!video.isEmpty) {
      const lastMs = (video.lastStart * 1000) / video.timescale;
      if (atMs - lastMs <= VIDEO_WAIT_MS && !this.#isFull()) return;
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

  /** @param end of the video, in units of its timescale. */
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
  /** End of the last sample; the next one cannot begin earlier. */
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

  /** Estimates the last sample's end from the duration of the previous one. */
  guessEnd(): number {
    const before = this.#samples.at(-2);
    return this.lastStart + Math.max(before?.duration ?? 0, this.units(1));
  }

  /** Returns the samples that begin before `until`; their bytes are valid until `drop`. */
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

  /** Frees the memory of the taken samples. */
  drop(): void {
    this.#data.copyWithin(0, this.#taken, this.#bytes);
    this.#bytes -= this.#taken;
    this.#taken = 0;
  }
}
