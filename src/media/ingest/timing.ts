import type { LiveIssue } from '../contract/index.ts';

/** Statistics from the timestamps of frames and their arrival. Times are in milliseconds. */
export interface Timing {
  /** Missing between frames, by their timestamps, since the publish began. */
  droppedFrames: number;
  /** Frames that arrived more than a second later than the fastest ones. */
  lateFrames: number;
  /** Lead of audio over video among frames that arrive at the same time; null unless both exist. */
  avDriftMs: number | null;
  /** Media received, by the encoder's timestamps without their jumps. */
  mediaMs: number;
  issues: LiveIssue[];
}

type Track = 'audio' | 'video';

const WINDOW_SEC = 30;
const DRIFT_SEC = 5;
const JUMP_SHOWN_MS = 60_000;
/** Thresholds of a timestamp jump: backward, and forward beyond the elapsed time. */
const JUMP_BACK_MS = 1000;
const JUMP_AHEAD_MS = 3000;
const LATE_MS = 1000;
const STALL_MS = 2000;
const STOPPED_MS = 500;
/** Audio-video offset that counts as drift: encoders send them some hundred milliseconds apart. */
const DRIFT_MS = 1000;
const DRIFT_CHANGE_MS = 400;
/** Number and share of frames in the window from which an issue is reported. */
const WORTH_FRAMES = 15;
const WORTH_SHARE = 0.05;
const MAX_STEPS = 31;
/** Shortest frame interval of a camera: closer frames arrived in a burst, as the first ones by WebRTC do. */
const MIN_STEP_MS = 4;

interface Second {
  index: number;
  frames: number;
  dropped: number;
  late: number;
  driftSum: number;
  driftCount: number;
}

interface TrackState {
  timestamp: number;
  atMs: number;
  mediaMs: number;
}

/** Timing of the frames of one publish. `nowMs` is from a monotonic clock. */
export class TimingWatch {
  #droppedFrames = 0;
  #lateFrames = 0;
  #tracks: Partial<Record<Track, TrackState>> = {};
  #seconds: Second[] = [];
  #steps = new FrameSteps();
  #delay = new LowestDelay();
  #firstDriftMs: number | null = null;
  #lastAtMs: number | null = null;
  #jumpedAtMs = Number.NEGATIVE_INFINITY;
  #stalledAtMs = Number.NEGATIVE_INFINITY;

  /**
   * @param timestamp the encoder's, 32 bits.
   * @returns true when the timestamps have jumped.
   */
  frame(track: Track, timestamp: number, nowMs: number): boolean {
    if (this.#lastAtMs !== null && nowMs - this.#lastAtMs > STALL_MS) this.#stalledAtMs = nowMs;
    this.#lastAtMs = nowMs;
    const last = this.#tracks[track];
    const passedMs = nowMs - (last?.atMs ?? nowMs);
    const stepMs = last === undefined ? 0 : (timestamp - last.timestamp) | 0;
    const hasJumped = stepMs < -JUMP_BACK_MS || stepMs - passedMs > JUMP_AHEAD_MS;
    if (hasJumped) this.#onJump(nowMs);
    const mediaMs = (last?.mediaMs ?? 0) + (hasJumped ? passedMs : stepMs);
    this.#tracks[track] = { timestamp, atMs: nowMs, mediaMs };
    const second = this.#second(nowMs);
    if (track === 'video') this.#onVideo(second, { stepMs: hasJumped ? 0 : stepMs, mediaMs, nowMs });
    this.#measureDrift(second, nowMs);
    return hasJumped;
  }

  read(nowMs: number): Timing {
    this.#forget(nowMs);
    const avDriftMs = this.#drift(nowMs);
    const { video, audio } = this.#tracks;
    return {
      droppedFrames: this.#droppedFrames,
      lateFrames: this.#lateFrames,
      avDriftMs,
      mediaMs: (video ?? audio)?.mediaMs ?? 0,
      issues: this.#issues(nowMs, avDriftMs),
    };
  }

  #issues(nowMs: number, avDriftMs: number | null): LiveIssue[] {
    const sum = (name: 'frames' | 'dropped' | 'late') =>
      this.#seconds.reduce((total, second) => total + second[name], 0);
    const isWorth = (count: number, of: number) => count >= WORTH_FRAMES && count > of * WORTH_SHARE;
    const silentMs = this.#lastAtMs === null ? 0 : nowMs - this.#lastAtMs;
    const isStalled = silentMs > STALL_MS || nowMs - this.#stalledAtMs < WINDOW_SEC * 1000;
    const change = avDriftMs === null ? 0 : avDriftMs - (this.#firstDriftMs ?? avDriftMs);
    const issues: LiveIssue[] = [];
    if (isStalled || isWorth(sum('late'), sum('frames'))) issues.push('BITRATE_UNSTABLE');
    if (isWorth(sum('dropped'), sum('frames') + sum('dropped'))) issues.push('FRAMES_DROPPED');
    if (nowMs - this.#jumpedAtMs < JUMP_SHOWN_MS) issues.push('TIMESTAMP_JUMP');
    if (Math.abs(avDriftMs ?? 0) > DRIFT_MS || Math.abs(change) > DRIFT_CHANGE_MS) issues.push('AV_DRIFT');
    return issues;
  }

  #onVideo(second: Second, { stepMs, mediaMs, nowMs }: { stepMs: number; mediaMs: number; nowMs: number }) {
    second.frames++;
    const missing = this.#steps.missingIn(stepMs);
    second.dropped += missing;
    this.#droppedFrames += missing;
    if (this.#delay.over(nowMs - mediaMs, nowMs) <= LATE_MS) return;
    second.late++;
    this.#lateFrames++;
  }

  /** Resets the drift: measurements before a jump do not apply after it. */
  #onJump(nowMs: number): void {
    this.#jumpedAtMs = nowMs;
    this.#firstDriftMs = null;
    for (const second of this.#seconds) second.driftCount = second.driftSum = 0;
  }

  #measureDrift(second: Second, nowMs: number): void {
    const { audio, video } = this.#tracks;
    if (audio === undefined || video === undefined) return;
    // A track that has stopped is not a drift.
    if (nowMs - Math.min(audio.atMs, video.atMs) > STOPPED_MS) return;
    second.driftSum += (audio.timestamp - video.timestamp) | 0;
    second.driftCount++;
  }

  /** Returns the drift over the last complete seconds; later ones are compared with the first. */
  #drift(nowMs: number): number | null {
    const current = Math.floor(nowMs / 1000);
    const whole = this.#seconds.filter(({ index }) => index >= current - DRIFT_SEC && index < current);
    const count = whole.reduce((sum, second) => sum + second.driftCount, 0);
    if (count === 0) return null;
    const drift = Math.round(whole.reduce((sum, second) => sum + second.driftSum, 0) / count);
    if (whole.filter((second) => second.driftCount > 0).length >= DRIFT_SEC) this.#firstDriftMs ??= drift;
    return drift;
  }

  #second(nowMs: number): Second {
    const index = Math.floor(nowMs / 1000);
    const last = this.#seconds.at(-1);
    if (last?.index === index) return last;
    this.#forget(nowMs);
    this.#drift(nowMs);
    const made = { index, frames: 0, dropped: 0, late: 0, driftSum: 0, driftCount: 0 };
    this.#seconds.push(made);
    return made;
  }

  #forget(nowMs: number): void {
    const oldest = Math.floor(nowMs / 1000) - WINDOW_SEC;
    while ((this.#seconds[0]?.index ?? oldest) < oldest) this.#seconds.shift();
  }
}

/** Usual interval between frames, and the number of frames missing in a longer one. */
class FrameSteps {
  #steps: number[] = [];
  #usualMs: number | null = null;

  missingIn(stepMs: number): number {
    if (stepMs < MIN_STEP_MS) return 0;
    this.#steps.push(stepMs);
    const usual = this.#usualMs;
    if (this.#steps.length >= MAX_STEPS) {
      this.#usualMs = this.#steps.toSorted((a, b) => a - b)[MAX_STEPS >> 1] ?? null;
      this.#steps = [];
    }
    return usual === null || stepMs <= usual * 1.5 ? 0 : Math.round(stepMs / usual) - 1;
  }
}

/** Lowest delay of the last half minute or more: that of frames which did not wait. */
class LowestDelay {
  #before = Number.POSITIVE_INFINITY;
  #lowest = Number.POSITIVE_INFINITY;
  #sinceMs: number | null = null;

  /** @returns by how much this delay is above the lowest. */
  over(delayMs: number, nowMs: number): number {
    this.#sinceMs ??= nowMs;
    if (nowMs - this.#sinceMs >= WINDOW_SEC * 1000) {
      this.#before = this.#lowest;
      this.#lowest = Number.POSITIVE_INFINITY;
      this.#sinceMs = nowMs;
    }
    this.#lowest = Math.min(this.#lowest, delayMs);
    return delayMs - Math.min(this.#lowest, this.#before);
  }
}
