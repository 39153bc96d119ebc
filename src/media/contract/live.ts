/**
 * Problem or automatic change of a signal, for the dashboard and `stream.health.issues`:
 * - `RESOLUTION_CAPPED`, `FRAME_RATE_CAPPED`: above the plan's limit, so the top rung is a transcode.
 * - `CODEC_TRANSCODED`: not 8-bit 4:2:0 H.264; an H.264 encode replaces or accompanies it.
 * - `CODEC_NOT_EVERYWHERE`: passthrough of codecs other than H.264 and AAC: not every browser plays it.
 * - `INTERLACED`: passthrough of interlaced video; encoded renditions are deinterlaced.
 * - `KEYFRAME_INTERVAL`: more than 4 s between keyframes; new viewers start further behind.
 * - `OPEN_GOP`: GOPs are open, so players cannot start at their first frame; the top rung is a transcode.
 * - `NO_KEYFRAMES`: intra refresh, at which players cannot start, so the top rung is a transcode.
 * - `NO_TRANSCODE_CAPACITY`, `UNSUPPORTED_CODEC`, `RESOLUTION_CHANGED`: the publish was ended because it
 *   cannot be played.
 * - `BITRATE_OVER_PLAN`: bitrate above the plan's limit for 10 s; after 10 s more the publish is ended. More
 *   than 2,000 messages per second end it immediately.
 * - `ENCODERS_OVER_PLAN`: the plan's limit of connected encoders is reached; the publish was rejected.
 * - `BITRATE_LOW`: bitrate too low for the resolution, for 10 s.
 * - `BITRATE_UNSTABLE`: no media for 2 s, or more than 5 % of the frames a second late, in the last 30 s.
 * - `FRAMES_DROPPED`: more than 5 % of the frames are missing by their timestamps, in the last 30 s.
 * - `TIMESTAMP_JUMP`: timestamps jumped back, or ahead of time, in the last minute.
 * - `AV_DRIFT`: audio and video of the same time arrive further apart than at the beginning, or a second
 *   apart.
 * - `AUDIO_STOPPED`, `VIDEO_STOPPED`: the track stopped while the other continues; silence or the last
 *   keyframe replaces it.
 * - `B_FRAMES`: a WebRTC viewer was rejected, because WebRTC does not support B-frames.
 * - `TRANSCODE_LAG`: the packager encodes more slowly than real time.
 * - `PACKAGER_FAILED`: the packager has failed permanently; the signal stays connected, the preview is off.
 * - `RECORDING_FAILED`: the broadcast should be recorded and is not; the recorder is restarted repeatedly.
 * - `DISK_FULL`: the server has no disk space for the recording; it continues when there is space.
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

/** Reason for which the server ended a publish. */
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
  /** Largest recent interval; null before the second keyframe. */
  keyframeIntervalSec: number | null;
  /**
   * Frames of this connection that are missing by their timestamps; `lateFrames` came more than a second
   * late.
   */
  droppedFrames: number;
  lateFrames: number;
  /** Lead of the audio over the video; null unless both are present. */
  avDriftMs: number | null;
  issues: LiveIssue[];
}
