import type { Readable } from 'node:stream';
import type { VideoRange } from './transcode.ts';

/** What a reader of media files needs to know of a request. */
export interface FileRequest {
  method: 'GET' | 'HEAD';
  range?: string | undefined;
  ifNoneMatch?: string | undefined;
  ifRange?: string | undefined;
  /** The answer is not for everybody: shared caches must not keep it. */
  isPrivate?: boolean | undefined;
}

/** What a route sends as it is; it knows no HTTP framework. Who may read it across origins is not said here. */
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
  /** A query with its `?`, put after every address; nothing when absent. */
  uriSuffix?: string | undefined;
  /** Wait so long for what nobody has shown before: which qualities there are, or the first segment. */
  waitMs?: number | undefined;
}

export interface PlaylistEnding {
  /** Hide what began after this (milliseconds since the Unix epoch): the end of the broadcast. */
  untilMs: number;
  /** The segment that was being written when it ended will not come any more, if it is not there. */
  isSettled: boolean;
}

export interface LivePlaylistRequest extends LiveMasterRequest {
  rung: string;
  /** Hide what ended before this (milliseconds since the Unix epoch): the start of the broadcast. */
  sinceMs?: number | undefined;
  /** Show what is kept since then beyond the live window; nothing of it when absent. */
  keptSinceMs?: number | undefined;
  /** The broadcast is over: the rest of it is shown, or 404 when there is none. */
  ending?: PlaylistEnding | undefined;
  /** The player has an earlier version, and may be told only what has come since. */
  isDelta?: boolean | undefined;
}

/** What a player waits for (draft-pantos-hls-rfc8216bis 6.2.5.2): a segment, or a part of one that is not whole yet. */
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
   * Refuse what was finished before this (milliseconds since the Unix epoch) and is not in the playlist: file
   * names can be guessed from those that are, so hiding a segment there is not enough.
   */
  sinceMs?: number | undefined;
  /** Likewise what was begun after this: the end of the broadcast. */
  untilMs?: number | undefined;
  /** What has left the live window may be in the store. */
  isKept?: boolean | undefined;
  /** Wait so long for a part that is the next one. */
  waitMs?: number | undefined;
}

/** The media node that a stream is on, or was on last. */
export interface StreamLocation {
  nodeId: string;
  /** Where it listens for the others, without a slash at the end; null where it has never said so. */
  url: string | null;
}

/** The node that has a live stream cannot be asked now. */
export class MediaNodeUnavailableError extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'LiveNodeAway';
  }
}

/** Playlists and segments of live streams. The caller has checked that the viewer may see the stream. */
export interface LiveFiles {
  /** Never 404 for a well-formed id. */
  readMaster(request: LiveMasterRequest): Promise<FileReply>;
  readMediaPlaylist(request: LivePlaylistRequest): Promise<FileReply>;
  /**
   * Waits until a playlist shows what a player waits for.
   *
   * @returns `too far` at once for what does not come next.
   */
  awaitEdge(
    request: { streamId: string; rung: string; edge: LiveEdge },
    waitMs: number,
  ): Promise<'shown' | 'waiting' | 'too far'>;
  /** @throws {MediaNodeUnavailableError} */
  openSegment(request: SegmentRequest): Promise<FileReply>;
  /** The latest picture; 404 before there is one, or when it is older than `sinceMs`. */
  openThumbnail(request: LiveRequest & { sinceMs?: number | undefined }): Promise<FileReply>;
  notFound(): FileReply;
}

/** A set of complete files: the rung's or the audio's folder, relative to the master playlist. */
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

/** A sound that all rungs share. */
export interface PlayableAudio extends PlayableRendition {
  /** Counts the sounds of the video: 0 plays by default. */
  track: number;
  /** BCP 47; null where nobody has said. */
  language: string | null;
  label: string;
  channels: number;
  /** It tells those who cannot see what happens. */
  isDescription: boolean;
}

export interface CaptionFile {
  /** Of its file, below `captions/`. */
  file: string;
  /** BCP 47. */
  language: string;
  label: string;
  /** Shown unless the viewer has chosen otherwise. */
  isDefault: boolean;
}

export interface ChapterMark {
  startSec: number;
  title: string;
}

/** What the master playlist of a video names. */
export interface PlayableVideo {
  rungs: readonly PlayableRung[];
  /** By their tracks, a stereo before the surround of the same; none for a silent video. */
  audio: readonly PlayableAudio[];
  captions: readonly CaptionFile[];
}

/** `uriSuffix` is a query with its `?`, put after every address in the answer; or nothing. */
export interface TextRequest extends FileRequest {
  uriSuffix: string;
}

/**
 * The files of videos, out of the store. The caller has checked that the viewer may see the video, and that the
 * key is one of its files.
 */
export interface VideoFiles {
  readMaster(request: TextRequest & { master: PlayableVideo }): FileReply;
  /** A media playlist, or the WebVTT of a storyboard. */
  readIndex(request: TextRequest & { key: string }): Promise<FileReply>;
  readCaptionPlaylist(request: TextRequest & { file: string; durationSec: number }): FileReply;
  readChapters(request: FileRequest & { chapters: readonly ChapterMark[]; durationSec: number }): FileReply;
  /** A file whose key is unique for ever: a segment, a picture, a caption. */
  openFile(request: FileRequest & { key: string }): Promise<FileReply>;
  /** An original, to be kept under the title, with the ending of what it is. */
  downloadOriginal(request: FileRequest & { key: string; title: string }): Promise<FileReply>;
  /** A rendition with its sound as one fragmented MP4, which is put together while it is sent. */
  downloadMp4(request: FileRequest & Mp4Download): Promise<FileReply>;
  /** How a download of the file would be called, and what it is; null when there is no such file. */
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
