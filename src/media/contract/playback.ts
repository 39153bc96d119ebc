import type { Readable } from 'node:stream';
import type { VideoRange } from './transcode.ts';

/** Request properties needed to serve a media file. */
export interface FileRequest {
  method: 'GET' | 'HEAD';
  range?: string | undefined;
  ifNoneMatch?: string | undefined;
  ifRange?: string | undefined;
  /** The response is for one viewer: shared caches must not store it. */
  isPrivate?: boolean | undefined;
}

/**
 * Response that a route sends unchanged, independent of the HTTP framework. The route adds the CORS headers.
 */
export interface FileReply {
  status: number;
  headers: Record<string, string>;
  /** null for HEAD and for statuses without content. A stream holds a file open: consume or destroy it. */
  body: Buffer | string | Readable | null;
}

export interface LiveRequest extends FileRequest {
  streamId: string;
}

export interface LiveMasterRequest extends LiveRequest {
  /** Query string, including its `?`, appended to every URL; none when absent. */
  uriSuffix?: string | undefined;
  /** Maximum time to wait for data not available yet: the list of renditions, or the first segment. */
  waitMs?: number | undefined;
}

export interface PlaylistEnding {
  /** Hides segments that began after this (milliseconds since the Unix epoch): the end of the broadcast. */
  untilMs: number;
  /** A segment that was being written when the broadcast ended and is missing will not be added anymore. */
  isSettled: boolean;
}

export interface LivePlaylistRequest extends LiveMasterRequest {
  rung: string;
  /**
   * Hides segments that ended before this (milliseconds since the Unix epoch): the start of the broadcast.
   */
  sinceMs?: number | undefined;
  /** Includes segments stored since then beyond the live window; none when absent. */
  keptSinceMs?: number | undefined;
  /** Set when the broadcast has ended: the response shows the rest of it, or is 404 when there is none. */
  ending?: PlaylistEnding | undefined;
  /** The player has an earlier version and accepts a delta update. */
  isDelta?: boolean | undefined;
}

/**
 * Position a player waits for (draft-pantos-hls-rfc8216bis 6.2.5.2): a segment, or a part of an incomplete
 * one.
 */
export interface LiveEdge {
  seq: number;
  part: number | null;
}

export interface SegmentRequest extends LiveRequest {
  epoch: string;
  rung: string;
  /** `init.mp4`, `s_<digits>.m4s` or, of a part, `s_<digits>.<digits>.m4s`. */
  file: string;
  /**
   * Rejects files finished before this (milliseconds since the Unix epoch) that are not in the playlist: file
   * names can be guessed from those that are, so hiding a segment there is not enough.
   */
  sinceMs?: number | undefined;
  /** Rejects files begun after this: the end of the broadcast. */
  untilMs?: number | undefined;
  /** Segments that have left the live window may be in the store. */
  isKept?: boolean | undefined;
  /** Maximum time to wait for a part, if it is the next one. */
  waitMs?: number | undefined;
}

/** Media node that a stream is on, or was on last. */
export interface StreamLocation {
  nodeId: string;
  /** Base URL for the other nodes, without a trailing slash; null when the node has never reported one. */
  url: string | null;
}

/** The node of a live stream is unreachable. */
export class MediaNodeUnavailableError extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'MediaNodeUnavailableError';
  }
}

/** Playlists and segments of live streams. The caller has checked that the viewer may see the stream. */
export interface LiveFiles {
  /** Never 404 for a well-formed id. */
  readMaster(request: LiveMasterRequest): Promise<FileReply>;
  readMediaPlaylist(request: LivePlaylistRequest): Promise<FileReply>;
  /**
   * Waits until a playlist contains the given position.
   *
   * @returns `too far` immediately when the position is not the next one.
   */
  awaitEdge(
    request: { streamId: string; rung: string; edge: LiveEdge },
    waitMs: number,
  ): Promise<'shown' | 'waiting' | 'too far'>;
  /** @throws {MediaNodeUnavailableError} */
  openSegment(request: SegmentRequest): Promise<FileReply>;
  /** Opens the latest thumbnail; 404 before there is one, or when it is older than `sinceMs`. */
  openThumbnail(request: LiveRequest & { sinceMs?: number | undefined }): Promise<FileReply>;
  notFound(): FileReply;
}

/** Folder of complete files, of a rung or of audio, relative to the master playlist. */
export interface PlayableRendition {
  /** `r1a1/720p` */
  path: string;
  /** RFC 6381. */
  codecs: string;
  /** Bits per second. */
  averageBitrate: number;
  peakBitrate: number;
}

export interface PlayableRung extends PlayableRendition {
  width: number;
  height: number;
  frameRate: number | null;
  videoRange: VideoRange;
  /** Peak of `iframes.m3u8`, bits per second; null without one. */
  iframeBitrate: number | null;
}

/** Audio rendition shared by all rungs. */
export interface PlayableAudio extends PlayableRendition {
  /** Index of the audio track in the video: 0 plays by default. */
  track: number;
  /** BCP 47; null when unknown. */
  language: string | null;
  label: string;
  channels: number;
  /** Audio description for viewers who cannot see. */
  isDescription: boolean;
}

export interface CaptionFile {
  /** File name below `captions/`. */
  file: string;
  /** BCP 47. */
  language: string;
  label: string;
  /** Enabled unless the viewer has chosen another setting. */
  isDefault: boolean;
}

export interface ChapterMark {
  startSec: number;
  title: string;
}

/** Content of the master playlist of a video. */
export interface PlayableVideo {
  rungs: readonly PlayableRung[];
  /** Audio in track order, stereo before the surround version of the same track; empty for a silent video. */
  audio: readonly PlayableAudio[];
  captions: readonly CaptionFile[];
}

/** `uriSuffix` is a query string, including its `?`, appended to every URL in the response; or empty. */
export interface TextRequest extends FileRequest {
  uriSuffix: string;
}

/**
 * Stored files of videos. The caller has checked that the viewer may see the video, and that the key is one
 * of its files.
 */
export interface VideoFiles {
  readMaster(request: TextRequest & { master: PlayableVideo }): FileReply;
  /** A media playlist, or the WebVTT of a storyboard. */
  readIndex(request: TextRequest & { key: string }): Promise<FileReply>;
  readCaptionPlaylist(request: TextRequest & { file: string; durationSec: number }): FileReply;
  readChapters(request: FileRequest & { chapters: readonly ChapterMark[]; durationSec: number }): FileReply;
  /** Opens a file with an immutable key: a segment, an image, a caption. */
  openFile(request: FileRequest & { key: string }): Promise<FileReply>;
  /** Downloads an original; the file name is the title with the extension of its format. */
  downloadOriginal(request: FileRequest & { key: string; title: string }): Promise<FileReply>;
  /** Downloads a rendition and its audio as one fragmented MP4, assembled while it is sent. */
  downloadMp4(request: FileRequest & Mp4Download): Promise<FileReply>;
  /** Returns the name and type that a download of the file would have; null when there is no such file. */
  describeOriginal(file: { key: string; title: string }): Promise<DownloadedFile | null>;
  describeMp4(title: string): DownloadedFile;
  notFound(): FileReply;
}

export interface Mp4Download {
  title: string;
  /** Folders in the store, without a slash at the end. */
  video: string;
  audio: string | null;
  durationSec: number;
}

export interface DownloadedFile {
  filename: string;
  contentType: string;
}
