/**
 * What is wrong or was changed on the way, for the dashboard and `stream.health.issues`:
 * - `RESOLUTION_CAPPED`, `FRAME_RATE_CAPPED`: above the plan's ceiling, so the top rung is a transcode.
 * - `CODEC_TRANSCODED`: not 8-bit 4:2:0 H.264, which is therefore encoded of it, in its place or beside it.
 * - `CODEC_NOT_EVERYWHERE`: not H.264 and AAC, and shown as it comes: not every browser plays it.
 * - `INTERLACED`: interlaced video that is shown as it comes; encoded renditions are deinterlaced.
 * - `KEYFRAME_INTERVAL`: more than 4 s between keyframes; who has just come is further behind.
 * - `OPEN_GOP`: groups of pictures are open, so players cannot begin with their first picture; the top is a transcode.
 * - `NO_KEYFRAMES`: pictures are refreshed bit by bit, which players cannot begin with, so the top is a transcode.
 * - `NO_TRANSCODE_CAPACITY`, `UNSUPPORTED_CODEC`, `RESOLUTION_CHANGED`: the publish was ended, it cannot be shown.
 * - `BITRATE_OVER_PLAN`: more bits a second than the plan allows, for 10 s; after 10 s more the publish is ended.
 *   More than 2,000 messages a second end it immediately.
 * - `ENCODERS_OVER_PLAN`: the plan allows no further encoder beside those that are connected; the publish was refused.
 * - `BITRATE_LOW`: too few bits for so large a picture, for 10 s.
 * - `BITRATE_UNSTABLE`: nothing came for 2 s, or more than 5 % of the frames a second late, in the last 30 s.
 * - `FRAMES_DROPPED`: more than 5 % of the frames are missing by their timestamps, in the last 30 s.
 * - `TIMESTAMP_JUMP`: timestamps went back, or ahead of time, in the last minute.
 * - `AV_DRIFT`: sound and picture of the same time come further apart than at the beginning, or a second apart.
 * - `AUDIO_STOPPED`, `VIDEO_STOPPED`: the track stopped while the other goes on; silence or the last keyframe replaces it.
 * - `B_FRAMES`: somebody wanted to watch by WebRTC, which has no place for them, and was refused.
 * - `TRANSCODE_LAG`: the packager encodes more slowly than the signal comes.
 * - `PACKAGER_FAILED`: the packager was given up; the signal is kept, the preview is off.
 * - `RECORDING_FAILED`: the broadcast is to be recorded and is not; the recorder is tried again and again.
 * - `DISK_FULL`: it is not recorded because the server has no room; it goes on when there is.
 */
export type LiveIssue =
  | 'RESOLUTION_CAPPED'
  | 'FRAME_RATE_CAPPED'
  | 'CODEC_TRANSCODED'
  | 'CODEC_NOT_EVERYWHERE'
  | 'INTERLACED'
  | 'KEYFRAME_INTERVAL'
  | 'NO_KEYFRAMES'
  | 'OPEN_GOP'
  | RejectionIssue
  | 'BITRATE_LOW'
  | 'BITRATE_UNSTABLE'
  | 'FRAMES_DROPPED'
  | 'TIMESTAMP_JUMP'
  | 'AV_DRIFT'
  | 'AUDIO_STOPPED'
  | 'VIDEO_STOPPED'
  | 'B_FRAMES'
  | 'TRANSCODE_LAG'
  | 'PACKAGER_FAILED'
  | 'RECORDING_FAILED'
  | 'DISK_FULL';

/** Why a publish was ended by us. */
export type RejectionIssue =
  | 'NO_TRANSCODE_CAPACITY'
  | 'UNSUPPORTED_CODEC'
  | 'RESOLUTION_CHANGED'
  | 'BITRATE_OVER_PLAN'
  | 'ENCODERS_OVER_PLAN';

export interface StreamHealth {
  bitrateKbps: number;
  fps: number;
  /** 0 for an audio-only publish. */
  width: number;
  height: number;
  /** RFC 6381 codec string of the video, or of the audio when there is no video. */
  codec: string;
  /** Largest seen lately; null before the second keyframe. */
  keyframeIntervalSec: number | null;
  /** Of this connection: missing by their timestamps, and more than a second late. */
  droppedFrames: number;
  lateFrames: number;
  /** How far the sound is ahead of the picture; null without both. */
  avDriftMs: number | null;
  issues: LiveIssue[];
}
