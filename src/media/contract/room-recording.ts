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
  /** Whose track a file is; null when it is none, or has nothing in it. */
  look(path: string): Promise<Pick<RecordedRoomTrack, 'identity' | 'source'> | null>;
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

/** What the media server's recorder asks and tells; filled by the composition root. All but `wanted` may be repeated. */
export interface RoomRecordingPort {
  /**
   * What this node is to record, and what it has recorded and not handed over.
   *
   * @param sizes of what lies on the node, by recording.
   */
  wanted(nodeId: string, sizes: ReadonlyMap<string, number>): Promise<DesiredRoomRecordings>;
  /** Whether somebody has a seat in a room. */
  isPresent(roomId: string, identity: string): Promise<boolean>;
  /** The disk is full: it ends here, and the room goes on. */
  refused(recordingId: string): Promise<void>;
  /** @returns where its files go in the store, with a slash at the end; null when nobody wants them any more. */
  prefixOf(recordingId: string): Promise<string | null>;
  /** All of its files are in the store. */
  collected(recordingId: string, files: readonly { key: string; sizeBytes: number }[]): Promise<void>;
}

export interface DesiredRoomRecordings {
  open: { recordingId: string; roomId: string }[];
  ended: string[];
}
