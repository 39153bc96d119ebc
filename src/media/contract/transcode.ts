import type { VideoCodec } from '../../kernel/video-codecs.ts';

/**
 * Why a file cannot become a video; all but the last are the file's own fault and final
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
  /** The display that it was made on: places of the primaries in 0.00002, light in 0.0001 cd/m². */
  mastering: {
    red: [number, number];
    green: [number, number];
    blue: [number, number];
    white: [number, number];
    max: number;
    min: number;
  } | null;
  /** Of the brightest pixel and of the brightest picture, in cd/m². */
  light: { maxContent: number; maxAverage: number } | null;
}

/** Seconds after the zero of a video. */
export interface Span {
  startSec: number;
  endSec: number;
}

/** What the probe found; sizes and rates are as shown, with the rotation applied. */
export interface SourceInfo {
  durationSec: number;
  sizeBytes: number;
  /** Bits per second of the whole file. */
  bitrate: number;
  /** What counts as 0, in seconds after the file's own start: its first frame, unless sound begins well before. */
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
    /** Clockwise degrees that the player must turn it by: 0, 90, 180 or 270. */
    rotation: number;
    /** Mirrored top to bottom before it is turned. */
    isMirrored?: boolean;
    /** Stored size, before it is turned, and the aspect ratio that it is shown with. Absent where an older version probed. */
    frame?: { width: number; height: number; aspect: number };
    /** Seconds after zero between which the file has frames. Absent where that is not known. */
    span?: Span;
    frameRate: number;
    isVariableFrameRate: boolean;
    range: VideoRange;
    /** As ffprobe calls them (ITU-T H.273). Absent where the file does not say. */
    primaries?: string;
    transfer?: string;
    matrix?: string;
    /** `tv` or `pc`. */
    levels?: string;
    /** Of PQ: what it was made on, and how bright it is. Absent where the file does not say. */
    hdr10?: Hdr10;
    isInterlaced: boolean;
    bitrate: number | null;
  };
  /** The sounds that can be heard: the one that plays by default, then the others in the order of the file. */
  audio: SourceAudio[];
  /** Tracks of text, in the order of the file. */
  captions: SourceCaptions[];
  chapters: { startSec: number; title: string }[];
  /** What is left out of the file. */
  notes: ProcessingNote[];
  /**
   * Why the top rung cannot be copied, or null when it can
   * (docs/decisions/transcoding.md#copying-the-top-rendition).
   */
  copyRefusal: string | null;
  /** It can be cut at its keyframes and joined again, frame for frame. */
  canSplit: boolean;
}

export interface SourceAudio {
  streamIndex: number;
  codec: string;
  profile: string | null;
  channels: number;
  sampleRate: number;
  bitrate: number | null;
  /** AAC-LC in mono, stereo or 5.1 that begins with the pictures, and whose settings stay the same. */
  canCopy: boolean;
  /** BCP 47; null where the file does not say. */
  language: string | null;
  title: string | null;
  /** It tells those who cannot see what happens. */
  isDescription: boolean;
  /** Nobody can tell how its channels are to be mixed: the first two are heard. */
  isDiscrete?: boolean;
  /** Absent where that is not known. */
  span?: Span;
}

export interface SourceCaptions {
  streamIndex: number;
  /** BCP 47; null where the file does not say. */
  language: string | null;
  title: string | null;
  /** Shown unless the viewer has chosen otherwise. */
  isDefault: boolean;
  /** What only those need who do not know another language of the film, such as signs. */
  isForced: boolean;
  /** For those who do not hear: with sounds and speakers. */
  isSdh: boolean;
}

/** Why a video lacks something of its file (docs/concepts/videos.md#notes). */
export const PROCESSING_NOTE_CODES = [
  'CAPTIONS_LEFT_OUT',
  'AUDIO_LEFT_OUT',
  'VIDEO_LEFT_OUT',
  'CHAPTERS_LEFT_OUT',
  'SOURCE_DIFFERS',
  'COLORS_DIFFER',
] as const;

/** Something of a file that its video lacks or shows in another way. */
export interface ProcessingNote {
  code: (typeof PROCESSING_NOTE_CODES)[number];
  /** For its owner. */
  message: string;
}

/** One rendition of a sound to make. */
export interface AudioPlan {
  /** `audio` for what plays by default, `audio-1` for the next sound; `audio-1-surround` for its surround. */
  name: string;
  /** Counts the sounds of the source, from 0. */
  track: number;
  streamIndex: number;
  isCopy: boolean;
  channels: number;
  /** Bits per second. */
  bitrate: number;
  language: string | null;
  /** How viewers find it; no two sounds have the same. */
  label: string;
  isDescription: boolean;
  /** The first channels of the source as they are, instead of a mix. */
  isDiscrete?: boolean;
  /** Silence comes before `startSec`, and after the track to `endSec`. Absent where that is not known. */
  span?: Span;
}

/** One video rung to make. */
export interface RungPlan {
  /** `1080p`: the lines of the shorter side; `1080p-hevc`. */
  name: string;
  codec: VideoCodec;
  width: number;
  height: number;
  frameRate: number;
  /** Target, bits per second. */
  bitrate: number;
  /** Taken from the source as it is. */
  isCopy: boolean;
}

/** What is made of one source: highest rung first, and what is heard by default first. */
export interface LadderPlan {
  /** H.264: with these the video is READY. */
  rungs: RungPlan[];
  /** The same in other codecs, made afterwards. */
  further: RungPlan[];
  /** Seconds between keyframes that are ours, by what the pictures need; 2 where nobody has looked. */
  keyframeSec?: number;
  audio: AudioPlan[];
}

/** A rung, or a sound that all rungs share, whose files are complete in `<outDir>/<name>/`. */
export interface RenditionFiles {
  name: string;
  kind: 'VIDEO' | 'AUDIO';
  width: number | null;
  height: number | null;
  frameRate: number | null;
  /** Of its playlist. */
  durationSec: number;
  codecs: string;
  videoRange: VideoRange;
  averageBitrate: number;
  peakBitrate: number;
  /** Peak of the playlist of its keyframes, bits per second; null without one. */
  iframeBitrate: number | null;
  sizeBytes: number;
  /** `init.mp4`, `index.m3u8`, `iframes.m3u8` with pictures, and the segments. */
  files: string[];
}

export interface TranscodeRun {
  /** Absolute path of the original. */
  input: string;
  source: SourceInfo;
  /** Exists, is empty, and belongs to this run alone. */
  outDir: string;
  signal: AbortSignal;
  /** 0 to 1 of this run. */
  onProgress?: (fraction: number) => void;
}

/** A piece of a long source, cut at a keyframe (docs/decisions/transcoding.md#long-sources-in-chunks). */
export interface SourceChunk {
  index: number;
  file: string;
  startSec: number;
  durationSec: number;
}

/**
 * ffmpeg on users' files, under the guard of docs/decisions/untrusted-media.md. Every function rejects with a
 * `MediaFileError` when the file itself is at fault, and with the signal's reason when it was aborted; it never
 * leaves a program running.
 */
export interface Transcoder {
  /** Reports whether the other functions read the file by a copy alone: an animated WebP, or one whose timestamps jump. */
  needsCopy(path: string, signal: AbortSignal): Promise<boolean>;
  /** Makes it. @param dir exists, and belongs to the copy alone. @returns its path. */
  makeCopy(path: string, dir: string, signal: AbortSignal): Promise<string>;
  probe(input: string, signal: AbortSignal): Promise<SourceInfo>;
  /**
   * Pure. Never upscales.
   *
   * @param maxHeight of the plan: lines of the shorter side.
   * @param further codecs beside H.264.
   */
  plan(source: SourceInfo, maxHeight: number, further?: readonly VideoCodec[]): LadderPlan;
  /** The copied top rung and the given sounds: fractions of a second of work where they are copied too. */
  copyTop(run: TranscodeRun & { rung: RungPlan; audio: AudioPlan[] }): Promise<RenditionFiles[]>;
  /**
   * All given rungs and sounds in one process. `alignToSource` when a copied rung exists. H.264 is always SDR with 8
   * bits; the other codecs keep 10 bits and HDR.
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
   * Looks at a few seconds of the pictures: fewer rungs where the lower ones are for nobody, and keyframes further apart
   * where that saves much.
   *
   * @param run `keep`: names of rungs that are made already.
   */
  refine(run: TranscodeRun & { ladder: LadderPlan; keep: readonly string[] }): Promise<LadderPlan>;
  /**
   * The same, at least one rung, with the images of `images` made on the way of the pictures that are decoded anyway:
   * their names in `<outDir>/img`, or null when that failed.
   */
  encodeWithImages(
    run: Parameters<Transcoder['encode']>[0],
  ): Promise<{ renditions: RenditionFiles[]; images: string[] | null }>;
  /** The captions of the source as WebVTT on the clock of the file; null for a track that cannot be read. */
  captions(run: TranscodeRun): Promise<(string | null)[]>;
  /** null when the source cannot be cut exactly: encode the whole. */
  split(run: TranscodeRun & { chunkSec: number }): Promise<SourceChunk[] | null>;
  /**
   * Encodes one chunk (`input`) of a source into `<outDir>/<rung>.mkv`; video only. `source` is that of the whole
   * file. Keyframes are the source's: rungs that are made of the whole file need `alignToSource`.
   */
  encodeChunk(run: TranscodeRun & { chunk: SourceChunk; rungs: RungPlan[] }): Promise<void>;
  /** Joins the rung's encoded chunks, frame for frame. */
  stitch(
    run: Omit<TranscodeRun, 'input'> & { rung: RungPlan; chunks: SourceChunk[] },
  ): Promise<RenditionFiles>;
  /**
   * `poster.jpg` at `posterAtSec`, or at a good place when null; with `storyboard` also `storyboard.vtt` with its
   * `sb_001.jpg`…, and `preview.webp`, an animation of a few seconds, where this ffmpeg can write one.
   */
  images(run: TranscodeRun & { posterAtSec: number | null; storyboard: boolean }): Promise<string[]>;
}

/** The file is at fault: trying again cannot help. The message may be shown to its owner. */
export class MediaFileError extends Error {
  readonly code: VideoErrorCode;

  constructor(code: VideoErrorCode, message: string) {
    super(message);
    this.name = 'MediaFileError';
    this.code = code;
  }
}
