import type { SourceInfo } from './transcode.ts';

/** What of a broadcast is kept, in milliseconds since the Unix epoch. */
export interface BroadcastSpan {
  fromMs: number;
  untilMs: number;
}

/** Files with a span of a broadcast in them, and where in them it is. */
export interface ClipSource {
  /** Fragmented MP4, each of one run of the encoder without a gap, in their order. */
  parts: string[];
  /** After the beginning of the first part. */
  startSec: number;
  durationSec: number;
  /** All of the span is there, or nothing more of it will come after what is. */
  isWhole: boolean;
}

/** The segments of live streams, for those who cut something out of a broadcast (docs/decisions/clips.md). */
export interface BroadcastSegments {
  /** What there is since a moment, with the parts of the segment that is being written; null when nothing. */
  span(streamId: string, sinceMs: number): Promise<BroadcastSpan | null>;
  /**
   * Writes what there is of a span into `dir`, which exists and belongs to the caller alone.
   *
   * @returns null when its beginning is not there.
   * @throws {MediaFileError} NO_VIDEO_TRACK when it is of sound alone.
   */
  collect(request: BroadcastSpan & { streamId: string; dir: string }): Promise<ClipSource | null>;
}

/** Cuts a piece out of a video file. */
export interface VideoCutter {
  /**
   * Copies its tracks from the keyframe before the start, with an edit list that begins and ends the piece at the very
   * frame. What MP4 cannot hold, or cannot be begun in that way, is encoded; so is what goes from one file into the next.
   *
   * @param run.input a file, or MP4 files that come one after the other, with their lengths.
   * @param run.source what is known of a single file: which of its pictures are taken.
   * @param run.dir for files on the way; it exists and belongs to this run alone.
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
