import type { LiveIssue } from '../contract/index.ts';
import type { SilentPacket } from '../protocols/codec/silence.ts';
import { FlvTagType } from '../protocols/flv/tags.ts';

/** Silence of a track after which it is replaced, while the other continues. */
const STOPPED_MS = 700;
/** Delay of replacements behind the other track, so that a returning track overlaps little of them. */
const MARGIN_MS = 200;
/** Number of its longest intervals after which video with a low frame rate counts as stopped. */
const STOPPED_INTERVALS = 3;
/** Longest interval assumed before the second frame; it decays by this factor with each frame. */
const FIRST_INTERVAL_MS = 700;
const MAX_INTERVAL_MS = 4000;
const INTERVAL_DECAY = 0.98;
/** Parts of LOW latency are as long. */
const IMAGE_STEP_MS = 200;
/** Maximum bytes per millisecond of repeated keyframes: 8 Mbit/s. */
const IMAGE_BYTES_PER_MS = 1000;
/** After a longer pause a track starts to flow again: a stall of both tracks is not the end of one. */
const PAUSE_MS = 2000;
/** Maximum lead of the replaced time over our clock. */
const MAX_AHEAD_MS = 3000;
/** A larger step of a track is a jump of its clock. */
const MAX_GAP_MS = 10_000;

export interface TrackFillerOptions {
  /** Takes a replacement frame; `timestamp` is on the clock of the encoder, unsigned 32 bits. */
  emit(type: number, timestamp: number, payload: Buffer, keyframe: boolean): void;
}

interface Track {
  /** Where the last frame, sent or replaced, ends: on the clock of the encoder. */
  endMs: number;
  /** When the encoder last sent a frame; a monotonic clock. */
  seenMs: number;
  /** Since when it has sent frames without a pause. */
  flowingSinceMs: number;
  isReplaced: boolean;
  /** Duration replaced since then. */
  replacedMs: number;
}

/**
 * Keeps both tracks of a publish running: when one stops and the other continues, audio is replaced by
 * silence, and video by its last keyframe. Players stop permanently at the end of one track
 * (docs/decisions/live-packaging.md#stopped-tracks). Times are milliseconds.
 */
export class TrackFiller {
  readonly #options: TrackFillerOptions;
  #audio: Track | null = null;
  #video: Track | null = null;
  #silence: SilentPacket | null = null;
  #keyframe: Buffer | null = null;
  /** Frames since the last keyframe: without one, the keyframe is the last image. */
  #framesSinceKey = 0;
  #longestIntervalMs = FIRST_INTERVAL_MS;
  #lastVideoMs: number | null = null;

  constructor(options: TrackFillerOptions) {
    this.#options = options;
  }

  /** The audio track is announced; null where its silence is unknown. */
  setSilence(silence: SilentPacket | null): void {
    this.#silence = silence;
  }

  /** The images before are of no use with a new header. */
  forgetImage(): void {
    this.#keyframe = null;
  }

  /** Handles a frame of the encoder. @returns whether it may be passed on. */
  video(timestamp: number, payload: Buffer, keyframe: boolean, nowMs: number): boolean {
    const track = this.#video;
    this.#measureInterval(timestamp);
    if (track?.isReplaced && !this.#mayReturn(track, timestamp, keyframe)) return false;
    this.#framesSinceKey = keyframe ? 0 : this.#framesSinceKey + 1;
    if (keyframe) this.#keyframe = Buffer.from(payload);
    this.#video = {
      endMs: timestamp,
      seenMs: nowMs,
      flowingSinceMs: flowingSince(track, nowMs),
      isReplaced: false,
      replacedMs: 0,
    };
    this.#fillAudio(timestamp, nowMs);
    return true;
  }

  /** Handles a frame of the encoder. @returns whether it may be passed on. */
  audio(timestamp: number, nowMs: number): boolean {
    const track = this.#audio;
    const durationMs = this.#silence?.durationMs ?? 0;
    const aheadMs = track?.isReplaced ? -step(track.endMs, timestamp) : 0;
    if (aheadMs > durationMs / 2 && aheadMs < MAX_GAP_MS) return false;
    this.#audio = {
      ...{ endMs: (timestamp + durationMs) % 2 ** 32, seenMs: nowMs },
      ...{ flowingSinceMs: flowingSince(track, nowMs), isReplaced: false, replacedMs: 0 },
    };
    this.#fillVideo(timestamp, nowMs);
    return true;
  }

  issues(): LiveIssue[] {
    return [
      ...(this.#audio?.isReplaced ? (['AUDIO_STOPPED'] as const) : []),
      ...(this.#video?.isReplaced ? (['VIDEO_STOPPED'] as const) : []),
    ];
  }

  /** Frames in between refer to images that the decoder no longer has, unless the keyframe was the last one. */
  #mayReturn(track: Track, timestamp: number, keyframe: boolean): boolean {
    if (!keyframe && this.#framesSinceKey > 0) return false;
    const aheadMs = -step(track.endMs, timestamp);
    return aheadMs <= 0 || aheadMs >= MAX_GAP_MS;
  }

  #measureInterval(timestamp: number): void {
    const intervalMs = step(this.#lastVideoMs ?? timestamp, timestamp);
    this.#lastVideoMs = timestamp;
    if (intervalMs < 0 || intervalMs > MAX_INTERVAL_MS) return;
    this.#longestIntervalMs = Math.max(intervalMs, this.#longestIntervalMs * INTERVAL_DECAY);
  }

  #fillAudio(videoMs: number, nowMs: number): void {
    const silence = this.#silence;
    if (silence === null) return;
    this.#audio ??= {
      ...{ endMs: videoMs, seenMs: nowMs, flowingSinceMs: nowMs },
      ...{ isReplaced: false, replacedMs: 0 },
    };
    const track = this.#audio;
    if (!hasStopped(track, this.#video, videoMs, STOPPED_MS)) return;
    this.#fill(track, { otherMs: videoMs, nowMs, stepMs: silence.durationMs }, (timestamp) =>
      this.#options.emit(FlvTagType.audio, timestamp, silence.payload, false),
    );
  }

  #fillVideo(audioMs: number, nowMs: number): void {
    const [track, keyframe] = [this.#video, this.#keyframe];
    if (track === null || keyframe === null) return;
    const stoppedMs = Math.max(STOPPED_MS, STOPPED_INTERVALS * this.#longestIntervalMs);
    if (!hasStopped(track, this.#audio, audioMs, stoppedMs)) return;
    const stepMs = Math.max(IMAGE_STEP_MS, keyframe.length / IMAGE_BYTES_PER_MS);
    // The last frame was shown for a step.
    if (!track.isReplaced) track.endMs = (track.endMs + stepMs) % 2 ** 32;
    this.#fill(track, { otherMs: audioMs, nowMs, stepMs }, (timestamp) =>
      this.#options.emit(FlvTagType.video, timestamp, keyframe, true),
    );
  }

  /**
   * Limits replacements to slightly more than the time passed on our clock, since timestamps come from the
   * encoder.
   */
  #fill(
    track: Track,
    { otherMs, nowMs, stepMs }: { otherMs: number; nowMs: number; stepMs: number },
    emit: (timestamp: number) => void,
  ): void {
    track.isReplaced = true;
    const maxReplacedMs = nowMs - track.seenMs + MAX_AHEAD_MS;
    const gapMs = step(track.endMs, otherMs);
    const isJump = gapMs < 0 || track.replacedMs + gapMs - MARGIN_MS > maxReplacedMs;
    if (isJump) track.endMs = otherMs;
    while (step(track.endMs, otherMs) >= MARGIN_MS) {
      emit(Math.round(track.endMs) % 2 ** 32);
      track.endMs = (track.endMs + stepMs) % 2 ** 32;
      track.replacedMs += stepMs;
    }
  }
}

function flowingSince(track: Track | null, nowMs: number): number {
  return track === null || nowMs - track.seenMs > PAUSE_MS ? nowMs : track.flowingSinceMs;
}

/**
 * Reports whether a track is silent although the other one, which is at `otherMs`, has been flowing for
 * `stoppedMs`.
 */
function hasStopped(track: Track, other: Track | null, otherMs: number, stoppedMs: number): boolean {
  if (track.isReplaced) return true;
  if (other === null) return false;
  const silentMs = other.seenMs - Math.max(track.seenMs, other.flowingSinceMs);
  return silentMs >= stoppedMs && step(track.endMs, otherMs) >= stoppedMs;
}

/** Returns the difference of two 32-bit timestamps, with fractions. */
function step(fromMs: number, toMs: number): number {
  const difference = (toMs - fromMs) % 2 ** 32;
  if (difference >= 2 ** 31) return difference - 2 ** 32;
  return difference < -(2 ** 31) ? difference + 2 ** 32 : difference;
}
