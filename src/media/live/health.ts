import type { IngestSession, IngestStats, LiveIssue, StreamHealth, VideoInfo } from '../contract/index.ts';
import type { LadderPlan } from './ladder.ts';
import type { Packaged } from './run.ts';

/** Keyframe interval above which segments are long and viewers far behind. */
export const LONG_KEYFRAME_MS = 4250;
/** Bits per pixel and frame below which moving video breaks up with any encoder. */
const POOR_BITS = 0.015;
/** Factor above the minimum at which the issue ends. */
const ENOUGH_SHARE = 1.2;
/** Frame rate above which each additional frame counts half, because such frames resemble each other. */
const PLAIN_FPS = 30;
const PATIENCE_MS = 10_000;
const LAG_MS = 3000;

/** Current state of one stream. */
interface Facts {
  session: IngestSession;
  stats: IngestStats | null;
  /** Null when nothing is packaged. */
  plan: LadderPlan | null;
  failure: LiveIssue | null;
  /** Progress of the current run. */
  packaged: Packaged | null;
}

/** Detector of persistent problems of a signal. Times are milliseconds of a monotonic clock. */
export class SignalWatch {
  #poorSinceMs: number | null = null;
  /** Smallest lead of the ingest over the packager, with the run in which it was measured. */
  #lead: { run: LadderPlan; ms: number } | null = null;

  look(facts: Facts, nowMs: number): StreamHealth {
    const { session, stats, plan, failure } = facts;
    const { video, audio } = session;
    const issues = new Set<LiveIssue>(plan?.issues ?? []);
    if (failure !== null) issues.add(failure);
    for (const issue of stats?.issues ?? []) issues.add(issue);
    if (this.#isPoor(facts, nowMs)) issues.add('BITRATE_LOW');
    if (this.#lags(facts)) issues.add('TRANSCODE_LAG');
    return {
      bitrateKbps: stats?.bitrateKbps ?? 0,
      fps: stats?.fps ?? video?.fps ?? 0,
      width: video?.width ?? 0,
      height: video?.height ?? 0,
      codec: video?.codec ?? audio?.codec ?? '',
      keyframeIntervalSec: stats?.keyframeIntervalMs == null ? null : stats.keyframeIntervalMs / 1000,
      droppedFrames: stats?.droppedFrames ?? 0,
      lateFrames: stats?.lateFrames ?? 0,
      avDriftMs: stats?.avDriftMs ?? null,
      issues: [...issues],
    };
  }

  #isPoor({ session: { video }, stats }: Facts, nowMs: number): boolean {
    const isShown = this.#poorSinceMs !== null && nowMs - this.#poorSinceMs >= PATIENCE_MS;
    // Hysteresis: a bitrate that is just sufficient does not end the issue.
    const share = isShown ? ENOUGH_SHARE : 1;
    const isPoor =
      video !== undefined && stats !== null && stats.bitrateKbps < share * poorKbps(video, stats.fps);
    if (!isPoor) {
      this.#poorSinceMs = null;
      return false;
    }
    this.#poorSinceMs ??= nowMs;
    return nowMs - this.#poorSinceMs >= PATIENCE_MS;
  }

  /**
   * Reports whether the packager is slower than the ingest: its backlog has grown by more than the segment
   * being written.
   */
  #lags({ plan, stats, packaged }: Facts): boolean {
    if (plan === null || plan.cores === 0 || stats === null || packaged === null || packaged.ms === 0) {
      this.#lead = null;
      return false;
    }
    if (packaged.isLate) return true;
    const leadMs = stats.mediaMs - packaged.ms;
    const before = this.#lead?.run === plan ? this.#lead.ms : leadMs;
    this.#lead = { run: plan, ms: Math.min(before, leadMs) };
    return leadMs - this.#lead.ms > 2 * packaged.longestMs + LAG_MS;
  }
}

function poorKbps({ width, height }: VideoInfo, fps: number): number {
  const frames = Math.min(fps, PLAIN_FPS) + Math.max(0, fps - PLAIN_FPS) / 2;
  return (width * height * frames * POOR_BITS) / 1000;
}
