import type { IngestEngine, IngestSession, LiveIssue } from '../contract/index.ts';

/** Reasons why a publish cannot be played by WebRTC, as messages for viewers and publishers. */
export const INCOMPATIBLE_REASONS = {
  codec:
    'Real-time playback is unavailable: browsers support only 8-bit 4:2:0 H.264 over WebRTC. Set the encoder to H.264, profile Main or High, or play HLS.',
  reordered:
    'Real-time playback is unavailable: the video has B-frames, which WebRTC does not support. Set them to 0 in the encoder (in OBS: "Max B-frames" 0, or Tune "zerolatency"), or play HLS.',
  keyframes:
    'Real-time playback is unavailable: the video has no keyframes. Turn intra refresh off in the encoder, or play HLS.',
  plan: "Real-time playback is unavailable: the video exceeds the plan's live limits. Play HLS.",
} as const;

const FPS_TOLERANCE = 1;
/** Baseline, Main and High. */
const SHOWN_PROFILES = /^avc1\.(?:42|4d|64)/i;

/** Returns the reason found in the media description of the encoder; null when there is none. */
export function incompatibleReason({ video, grant }: Pick<IngestSession, 'video' | 'grant'>): string | null {
  if (video === undefined) return null;
  if (!SHOWN_PROFILES.test(video.codec)) return INCOMPATIBLE_REASONS.codec;
  if (video.lacksKeyframes === true) return INCOMPATIBLE_REASONS.keyframes;
  const isAbove =
    Math.min(video.width, video.height) > grant.maxHeight || video.fps > grant.maxFps + FPS_TOLERANCE;
  return isAbove ? INCOMPATIBLE_REASONS.plan : null;
}

/** Failed requests for real-time playback, reported to the publisher. */
export interface CompatibilityReports {
  note(streamId: string, words: string): void;
  /** Returns the issue of the current publish. */
  issue(streamId: string): LiveIssue | null;
}

export function createCompatibilityReports(engine: Pick<IngestEngine, 'list'>): CompatibilityReports {
  const refused = new Map<string, string>();
  const sessionOf = (streamId: string) => engine.list().find((session) => session.streamId === streamId);
  return {
    note(streamId, words) {
      const session = sessionOf(streamId);
      if (session !== undefined && words === INCOMPATIBLE_REASONS.reordered)
        refused.set(streamId, session.sessionId);
    },
    issue(streamId) {
      const known = refused.get(streamId);
      if (known === undefined) return null;
      if (sessionOf(streamId)?.sessionId === known) return 'B_FRAMES';
      refused.delete(streamId);
      return null;
    },
  };
}
