import type { IngestSession, IngestStats, LiveIssue, StreamHealth, VideoInfo } from '../contract/index.ts';
import type { LadderPlan } from './ladder.ts';
import type { Packaged } from './run.ts';

/** Beyond, segments are long and viewers far behind. */
export const LONG_KEYFRAME_MS = 4250;
/** Below, a moving picture falls apart whatever the encoder. Bits for each point and frame. */
const POOR_BITS = 0.015;
/** So much more than that it takes until all is well again. */
const ENOUGH_SHARE = 1.2;
/** What is above 30 frames a second needs half as much more: such frames resemble each other. */
const PLAIN_FPS = 30;
const PATIENCE_MS = 10_000;
const LAG_MS = 3000;

/** Of one stream as it is now. */
interface Facts {
  session: IngestSession;
  stats: IngestStats | null;
  /** Null when nothing packages it. */
  plan: LadderPlan | null;
  failure: LiveIssue | null;
  /** Of this run. */
  packaged: Packaged | null;
}

/** What is wrong with a signal for some time. Times are milliseconds of a clock that never goes back. */
export class SignalWatch {
  #poorSinceMs: number | null = null;
  /** The smallest lead of the ingest over the packager, and the run that it was seen in. */
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
    // What is just enough for a moment does not take the word away.
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

  /** The packager takes in less than comes: what is behind grows by more than a segment in the making. */
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
