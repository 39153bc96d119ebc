/** What one participant sent of one kind in a room, in a file of Janus (`.mjr`). */
export interface RecordedRoomTrack {
  /** The same for all that one person sent, however often they came back. */
  identity: string;
  /** What stands below their picture; their identity without. */
  name: string | null;
  source: 'CAMERA' | 'MICROPHONE' | 'SCREEN';
  /** A local file. */
  path: string;
}

/** `GRID`: all alike. `SPEAKER`: whoever speaks is large. A screen that is shared is large in both. */
export type RoomLayout = 'GRID' | 'SPEAKER';

/** Makes one video of what the participants of a room have sent (docs/decisions/room-recordings.md). */
export interface RoomComposer {
  /**
   * H.264 and AAC in an MP4, in sync within 80 ms from the beginning to the end.
   *
   * @param run.tracks those that cannot be read are left out.
   * @param run.dir for files on the way; it exists and belongs to this run alone.
   * @param run.height of the picture, in lines, even; it is 16 by 9.
   * @param run.onProgress the part that is done, 0 to 1.
   * @returns the path of the video, in `dir`, at most `maxSec` long.
   * @throws {MediaFileError} when no track can be read.
   */
  compose(run: {
    tracks: readonly RecordedRoomTrack[];
    dir: string;
    layout: RoomLayout;
    height: number;
    maxSec: number;
    signal: AbortSignal;
    onProgress?: (share: number) => void;
  }): Promise<{ path: string; durationSec: number; startedMs: number }>;
}
