/** Media of one kind sent by one participant in a room, in a Janus file (`.mjr`). */
export interface RecordedRoomTrack {
  /** Identity shared by all tracks of one person, across reconnects. */
  identity: string;
  /** Caption below the participant's video; null falls back to the identity. */
  name: string | null;
  source: 'CAMERA' | 'MICROPHONE' | 'SCREEN';
  /** A local file. */
  path: string;
}

/** `GRID`: equal tiles. `SPEAKER`: the active speaker is large. A shared screen is large in both. */
export type RoomLayout = 'GRID' | 'SPEAKER';

/** Composer of one video from the tracks of a room's participants (docs/decisions/room-recordings.md). */
export interface RoomComposer {
  /** Returns the participant and source of a track file; null when it is not a track or is empty. */
  look(path: string): Promise<Pick<RecordedRoomTrack, 'identity' | 'source'> | null>;
  /**
   * Composes an MP4 with H.264 and AAC, in sync within 80 ms from beginning to end.
   *
   * @param run.tracks unreadable tracks are left out.
   * @param run.dir for temporary files; it exists and is exclusive to this run.
   * @param run.height of the 16:9 video, in lines, even.
   * @param run.onProgress completed fraction, 0 to 1.
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

/** Port of the room recorder; filled by the composition root. All methods but `wanted` are idempotent. */
export interface RoomRecordingPort {
  /**
   * Returns the recordings that this node is to record, and those it has finished but not handed over.
   *
   * @param sizes of the files on the node, by recording.
   */
  wanted(nodeId: string, sizes: ReadonlyMap<string, number>): Promise<DesiredRoomRecordings>;
  /** Reports whether the identity has a seat in a room. */
  isPresent(roomId: string, identity: string): Promise<boolean>;
  /** Ends the recording because the disk is full; the room continues. */
  refused(recordingId: string): Promise<void>;
  /**
   * @returns the store prefix of its files, with a trailing slash; null when the recording is no longer
   *   needed.
   */
  prefixOf(recordingId: string): Promise<string | null>;
  /** Records that all files are in the store. */
  collected(recordingId: string, files: readonly { key: string; sizeBytes: number }[]): Promise<void>;
}

export interface DesiredRoomRecordings {
  open: { recordingId: string; roomId: string }[];
  ended: string[];
}
