import type { SourceInfo } from './transcode.ts';

/** Stored span of a broadcast, in milliseconds since the Unix epoch. */
export interface BroadcastSpan {
  fromMs: number;
  untilMs: number;
}

/** Files that contain a span of a broadcast, and its position in them. */
export interface ClipSource {
  /** Fragmented MP4 files in order, each of one encoder run without a gap. */
  parts: string[];
  /** Offset from the beginning of the first part. */
  startSec: number;
  durationSec: number;
  /** Whether the files cover the whole span, or no further media will follow. */
  isWhole: boolean;
}

/** Segments of live streams, for clips of a broadcast (docs/decisions/clips.md). */
export interface BroadcastSegments {
  /**
   * Returns the available span since a moment, including the parts of the segment being written; null when
   * there is none.
   */
  span(streamId: string, sinceMs: number): Promise<BroadcastSpan | null>;
  /**
   * Writes the available media of a span into `dir`, which exists and is exclusive to the caller.
   *
   * @returns null when the beginning of the span is unavailable.
   * @throws {MediaFileError} NO_VIDEO_TRACK when the span has audio only.
   */
  collect(request: BroadcastSpan & { streamId: string; dir: string }): Promise<ClipSource | null>;
}

/** Cutter for clips of video files. */
export interface VideoCutter {
  /**
   * Copies the tracks from the keyframe before the start, with an edit list that trims the clip to the exact
   * frame. Encodes media that MP4 cannot hold or cannot trim in that way, and clips that span several files.
   *
   * @param run.input a file, or consecutive MP4 files with their lengths.
   * @param run.source probe result of a single file: selects the video track.
   * @param run.dir for temporary files; it exists and is exclusive to this run.
   * @returns the path of an MP4 or QuickTime file in `dir`.
   * @throws {MediaFileError} when the file cannot be read.
   */
  cut(run: {
    input: string | readonly { path: string; durationSec: number }[];
    source?: SourceInfo | undefined;
    startSec: number;
    durationSec: number;
    dir: string;
    signal: AbortSignal;
  }): Promise<string>;
}
