import type { VideoCodec } from '../../kernel/video-codecs.ts';

/**
 * Reason why a file cannot become a video; all but the last are the file's own fault and final
 * (docs/concepts/videos.md#failures).
 */
export type VideoErrorCode =
  | 'UNSUPPORTED_FORMAT'
  | 'DURATION_EXCEEDED'
  | 'SIZE_EXCEEDED'
  | 'CORRUPT_INPUT'
  | 'NO_VIDEO_TRACK'
  | 'SOURCE_UNREACHABLE'
  | 'UPLOAD_EXPIRED'
  | 'CHECKSUM_MISMATCH'
  | 'INTERNAL';

/** RFC 8216bis 4.4.6.2: what the brightness means. PQ and HLG are HDR. */
export type VideoRange = 'SDR' | 'PQ' | 'HLG';

/** SMPTE ST 2086 and CTA-861.3, in the units of ITU-T H.265 D.3.28 and D.3.35. */
export interface Hdr10 {
  /** Mastering display: coordinates of the primaries in 0.00002, luminance in 0.0001 cd/m². */
  mastering: {
    red: [number, number];
    green: [number, number];
    blue: [number, number];
    white: [number, number];
    max: number;
    min: number;
  } | null;
  /** Maximum pixel luminance and maximum frame-average luminance, in cd/m². */
  light: { maxContent: number; maxAverage: number } | null;
}

/** Seconds after the zero of a video. */
export interface Span {
  startSec: number;
  endSec: number;
}

/** Probe result; sizes and rates are those displayed, with the rotation applied. */
export interface SourceInfo {
  durationSec: number;
  sizeBytes: number;
  /** Bits per second of the whole file. */
  bitrate: number;
  /**
   * Time of zero, in seconds after the file's own start: its first video frame, unless the audio begins well
   * before.
   */
  zeroSec: number;
  video: {
    streamIndex: number;
    codec: string;
    /** RFC 6381; null when it was not worked out. */
    codecs: string | null;
    profile: string | null;
    pixelFormat: string;
    width: number;
    height: number;
    /** Clockwise rotation for display in degrees: 0, 90, 180 or 270. */
    rotation: number;
    /** Whether the frame is flipped vertically before it is rotated. */
    isMirrored?: boolean;
    /**
     * Stored size before rotation, and display aspect ratio. Absent when an older version probed the file.
     */
    frame?: { width: number; height: number; aspect: number };
    /** Span of the video frames, in seconds after zero. Absent when unknown. */
    span?: Span;
    frameRate: number;
    isVariableFrameRate: boolean;
    range: VideoRange;
    /** Values as named by ffprobe (ITU-T H.273). Absent when the file has none. */
    primaries?: string;
    transfer?: string;
    matrix?: string;
    /** `tv` or `pc`. */
    levels?: string;
    /** Mastering display and light levels of PQ. Absent when the file has none. */
    hdr10?: Hdr10;
    isInterlaced: boolean;
    bitrate: number | null;
  };
  /** Playable audio tracks: the default one first, then the others in file order. */
  audio: SourceAudio[];
  /** Tracks of text, in the order of the file. */
  captions: SourceCaptions[];
  chapters: { startSec: number; title: string }[];
  /** Notes about parts of the file that are left out. */
  notes: ProcessingNote[];
  /**
   * Reason why the top rung cannot be copied; null when it can
   * (docs/decisions/transcoding.md#copying-the-top-rendition).
   */
  copyRefusal: string | null;
  /** Whether the video can be split at its keyframes and joined again without loss. */
  canSplit: boolean;
}

export interface SourceAudio {
  streamIndex: number;
  codec: string;
  profile: string | null;
  channels: number;
  sampleRate: number;
  bitrate: number | null;
  /** Whether the track is AAC-LC in mono, stereo or 5.1, begins with the video and has constant settings. */
  canCopy: boolean;
  /** BCP 47; null when the file has none. */
  language: string | null;
  title: string | null;
  /** Audio description for viewers who cannot see. */
  isDescription: boolean;
  /** The channel layout is unknown, so the channels cannot be mixed: the first two are used. */
  isDiscrete?: boolean;
  /** Absent where that is not known. */
  span?: Span;
}

export interface SourceCaptions {
  streamIndex: number;
  /** BCP 47; null when the file has none. */
  language: string | null;
  title: string | null;
  /** Enabled unless the viewer has chosen another setting. */
  isDefault: boolean;
  /** Forced captions: translations of foreign-language passages and signs only. */
  isForced: boolean;
  /** Captions for deaf and hard-of-hearing viewers, with sounds and speakers. */
  isSdh: boolean;
}

/** Codes of differences between a file and its video (docs/concepts/videos.md#notes). */
export const PROCESSING_NOTE_CODES = [
  'CAPTIONS_LEFT_OUT',
  'AUDIO_LEFT_OUT',
  'VIDEO_LEFT_OUT',
  'CHAPTERS_LEFT_OUT',
  'SOURCE_DIFFERS',
  'COLORS_DIFFER',
] as const;

/** Difference between a file and its video. */
export interface ProcessingNote {
  code: (typeof PROCESSING_NOTE_CODES)[number];
  /** Message for the owner. */
  message: string;
}

/** Plan of one audio rendition. */
export interface AudioPlan {
  /**
   * `audio` for the default track, `audio-1` for the next one; `audio-1-surround` for its surround version.
   */
  name: string;
  /** Index of the audio track in the source, from 0. */
  track: number;
  streamIndex: number;
  isCopy: boolean;
  channels: number;
  /** Bits per second. */
  bitrate: number;
  language: string | null;
  /** Label in the player, unique among the audio renditions. */
  label: string;
  isDescription: boolean;
  /** Uses the first channels of the source unchanged, instead of a mix. */
  isDiscrete?: boolean;
  /** Padded with silence before `startSec`, and after the track to `endSec`. Absent when unknown. */
  span?: Span;
}

/** Plan of one video rung. */
export interface RungPlan {
  /** `1080p`: the lines of the shorter side; `1080p-hevc`. */
  name: string;
  codec: VideoCodec;
  width: number;
  height: number;
  frameRate: number;
  /** Target, bits per second. */
  bitrate: number;
  /** Copied from the source. */
  isCopy: boolean;
}

/** Renditions of one source: highest rung first, and the default audio first. */
export interface LadderPlan {
  /** H.264 rungs: with these the video is READY. */
  rungs: RungPlan[];
  /** Rungs in additional codecs, encoded after READY. */
  further: RungPlan[];
  /** Seconds between encoded keyframes, chosen by content; 2 when not analyzed. */
  keyframeSec?: number;
  audio: AudioPlan[];
}

/** Rung or shared audio rendition whose files are complete in `<outDir>/<name>/`. */
export interface RenditionFiles {
  name: string;
  kind: 'VIDEO' | 'AUDIO';
  width: number | null;
  height: number | null;
  frameRate: number | null;
  /** Duration of its playlist. */
  durationSec: number;
  codecs: string;
  videoRange: VideoRange;
  averageBitrate: number;
  peakBitrate: number;
  /** Peak of the playlist of its keyframes, bits per second; null without one. */
  iframeBitrate: number | null;
  sizeBytes: number;
  /** `init.mp4`, `index.m3u8`, `iframes.m3u8` for video, and the segments. */
  files: string[];
}

export interface TranscodeRun {
  /** Absolute path of the original. */
  input: string;
  source: SourceInfo;
  /** Directory that exists, is empty, and is exclusive to this run. */
  outDir: string;
  signal: AbortSignal;
  /** Receives the progress of this run, 0 to 1. */
  onProgress?: (fraction: number) => void;
}

/** Chunk of a long source, cut at a keyframe (docs/decisions/transcoding.md#long-sources-in-chunks). */
export interface SourceChunk {
  index: number;
  file: string;
  startSec: number;
  durationSec: number;
}

/**
 * Transcoder of users' files, with ffmpeg under the guard of docs/decisions/untrusted-media.md. Every
 * function rejects with a `MediaFileError` when the file itself is at fault, and with the signal's reason
 * when it was aborted; it never leaves a program running.
 */
export interface Transcoder {
  /**
   * Reports whether the other functions need a copy of the file: an animated WebP, or a file whose timestamps
   * jump.
   */
  needsCopy(path: string, signal: AbortSignal): Promise<boolean>;
  /** Creates the copy. @param dir exists, and is exclusive to the copy. @returns its path. */
  makeCopy(path: string, dir: string, signal: AbortSignal): Promise<string>;
  probe(input: string, signal: AbortSignal): Promise<SourceInfo>;
  /**
   * Plans the ladder. A pure function; never upscales.
   *
   * @param maxHeight of the plan: lines of the shorter side.
   * @param further codecs in addition to H.264.
   */
  plan(source: SourceInfo, maxHeight: number, further?: readonly VideoCodec[]): LadderPlan;
  /**
   * Copies the top rung and creates the given audio; takes fractions of a second when the audio is copied
   * too.
   */
  copyTop(run: TranscodeRun & { rung: RungPlan; audio: AudioPlan[] }): Promise<RenditionFiles[]>;
  /**
   * Encodes all given rungs and audio renditions in one process. Requires `alignToSource` when a copied rung
   * exists. H.264 is always 8-bit SDR; the other codecs keep 10 bits and HDR.
   */
  encode(
    run: TranscodeRun & {
      rungs: RungPlan[];
      audio: AudioPlan[];
      alignToSource: boolean;
      /** 2 when absent. */
      keyframeSec?: number | undefined;
    },
  ): Promise<RenditionFiles[]>;
  /**
   * Analyzes a few seconds of the video: drops lower rungs that save too little, and lengthens the keyframe
   * interval where that saves much.
   *
   * @param run `keep`: names of existing rungs.
   */
  analyzeComplexity(run: TranscodeRun & { ladder: LadderPlan; keep: readonly string[] }): Promise<LadderPlan>;
  /**
   * Encodes like `encode`, with at least one rung, and creates the images of `images` from the frames decoded
   * anyway.
   * @returns their names in `<outDir>/img`; null images when that failed.
   */
  encodeWithImages(
    run: Parameters<Transcoder['encode']>[0],
  ): Promise<{ renditions: RenditionFiles[]; images: string[] | null }>;
  /** Extracts the captions of the source as WebVTT on the clock of the file; null for an unreadable track. */
  captions(run: TranscodeRun): Promise<(string | null)[]>;
  /** Splits the source into chunks; null when it cannot be split exactly and must be encoded as a whole. */
  split(run: TranscodeRun & { chunkSec: number }): Promise<SourceChunk[] | null>;
  /**
   * Encodes one chunk (`input`) of a source into `<outDir>/<rung>.mkv`; video only. `source` is that of the
   * whole file. Keyframes are the source's: rungs encoded from the whole file need `alignToSource`.
   */
  encodeChunk(run: TranscodeRun & { chunk: SourceChunk; rungs: RungPlan[] }): Promise<void>;
  /** Joins the rung's encoded chunks, frame for frame. */
  stitch(
    run: Omit<TranscodeRun, 'input'> & { rung: RungPlan; chunks: SourceChunk[] },
  ): Promise<RenditionFiles>;
  /**
   * Creates `poster.jpg` at `posterAtSec`, or at a chosen position when null; with `storyboard` also
   * `storyboard.vtt` with its `sb_001.jpg`…, and `preview.webp`, an animation of a few seconds, if this
   * ffmpeg supports it.
   */
  images(run: TranscodeRun & { posterAtSec: number | null; storyboard: boolean }): Promise<string[]>;
}

/** The file is at fault: a retry cannot help. The message may be shown to its owner. */
export class MediaFileError extends Error {
  readonly code: VideoErrorCode;

  constructor(code: VideoErrorCode, message: string) {
    super(message);
    this.name = 'MediaFileError';
    this.code = code;
  }
}
