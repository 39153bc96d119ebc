import { stat } from 'node:fs/promises';
import { MAX_DURATION_SEC } from '../../kernel/plans.ts';
import {
  type Hdr10,
  MediaFileError,
  type ProcessingNote,
  type SourceInfo,
  type Span,
  type VideoRange,
} from '../contract/index.ts';
import { isSupportedVideo } from '../ffmpeg/codecs.ts';
import { hasRareMatrix } from '../ffmpeg/color.ts';
import { checkAnimation } from './animations.ts';
import {
  defaultFirst,
  describeAudio,
  isReadableAudio,
  type ProbedAudio,
  probeAudioTracks,
  selectAudioTracks,
} from './audio.ts';
import { checkComplete } from './completeness.ts';
import { copyIneligibleReason, declaresSettings, splitIneligibleReason } from './eligibility.ts';
import {
  aspectRatio,
  assertVideoDecodes,
  decodesAll,
  type FfmpegReport,
  ffprobe,
  type ProbedStream,
  type ProbeReport,
  probeWithFfmpeg,
  sideDataOf,
  type TrackInput,
} from './ffprobe.ts';
import { frameRateOf } from './frame-rate.ts';
import { readHdr10 } from './hdr10.ts';
import { fileFault, type Tools, unsupportedFormatError } from './run.ts';
import { type PacketScan, type ScanInput, scanPackets, type TrackScan } from './scan.ts';
import { sniff, stillImageError } from './sniff.ts';
import { tagsOf } from './source-filters.ts';
import { describeTracks } from './tracks.ts';

/** Maximum long side (docs/concepts/plans.md): 8K, landscape or portrait. */
const MAX_LONG_SIDE = 7680;
const MAX_SHORT_SIDE = 4320;
const MAX_STREAMS = 32;
/** Tolerance for rounding in containers: twelve hours and a frame count as twelve hours. */
const DURATION_TOLERANCE_SEC = 1;
/** Maximum lead of audio over the video that is retained, with the first frame frozen. */
const MAX_AUDIO_LEAD_SEC = 0.2;
/** Tolerance in frames: containers round times to milliseconds. */
const BEAT_TOLERANCE = 0.05;
/** Padding that encoders add to the end of the audio to fill a packet. */
const AUDIO_TAIL_SEC = 0.05;
/** Tolerance for headers that round or count empty ends. */
const CUT_SHORT_SEC = 1;

const CLOSED_CAPTIONS: ProcessingNote = {
  code: 'CAPTIONS_LEFT_OUT',
  message: 'Embedded captions (CEA-608 or CEA-708) are not supported. Add them as WebVTT or SubRip.',
};

/** ITU-T H.273, table 3, as ffprobe calls them. */
const RANGES: Readonly<Record<string, VideoRange>> = { smpte2084: 'PQ', 'arib-std-b67': 'HLG' };

function rangeOf({ color_transfer: transfer = '' }: ProbedStream): VideoRange {
  return RANGES[transfer] ?? 'SDR';
}

interface ProbeInput {
  path: string;
  /** Working directory of the programs, which write nothing. */
  dir: string;
  signal: AbortSignal;
  /** Whether this ffmpeg can tone-map HDR to SDR. */
  canToneMap: boolean;
}

/**
 * Probes a file by its container and by its packets, all of which are read if time allows.
 *
 * @throws {MediaFileError}
 */
export async function probeFile(tools: Tools, input: ProbeInput): Promise<SourceInfo> {
  const { path, dir, signal } = input;
  await sniff(path);
  const { report, log } = await ffprobe(tools, { path, cwd: dir, signal });
  const video = selectVideoTrack(report);
  checkPicture(video, log);
  const declaredSec = seconds(report.format.duration);
  checkDuration(declaredSec ?? 0);
  const sounds = report.streams.filter(isReadableAudio);
  const { scan, heard, word, hdr10 } = await examine(tools, input, sounds, {
    isHdr10: rangeOf(video) === 'PQ',
    videoIndex: video.index,
    audioIndexes: sounds.map(({ index }) => index),
    toTheEnd: declaredSec === null,
    maxSec: (seconds(report.format.start_time) ?? 0) + MAX_DURATION_SEC + 2 * DURATION_TOLERANCE_SEC,
  });
  if (scan.video === null) throw new MediaFileError('CORRUPT_INPUT', 'The file contains no video frames.');
  const isGif = report.format.format_name === 'gif';
  if (isGif && scan.video.packets < 2) throw stillImageError('GIF');
  await checkComplete({ path, report, video, scan });
  const { size } = await stat(path);
  const fileStartSec = word.startSec ?? seconds(report.format.start_time) ?? 0;
  const track = scan.video;
  const info = describe({
    report,
    video,
    hdr10,
    heard,
    hasClosedCaptions: word.hasClosedCaptions,
    scan,
    track,
    sizeBytes: size,
    declaredSec,
    fileStartSec,
  });
  info.notes.push(...colorNotes(info.video, input.canToneMap));
  // A still frame is repeated.
  const shown = info.durationSec * info.video.frameRate;
  if (isGif) checkAnimation('GIF', info.video, Math.max(track.packets, shown));
  return info;
}

function colorNotes(video: SourceInfo['video'], canToneMap: boolean): ProcessingNote[] {
  const notTheSame = (message: string): ProcessingNote => ({ code: 'COLORS_DIFFER', message });
  if (video.range !== 'SDR' && !canToneMap) {
    return [notTheSame('The video is HDR, which this server cannot convert; colors look pale in H.264.')];
  }
  if (!hasRareMatrix(tagsOf(video))) return [];
  return [
    notTheSame(
      `Colors may differ between players, because few support the color matrix of the video (${video.matrix}).`,
    ),
  ];
}

/** Reads the packets and tries the decoders at the same time; when one fails, the others are ended. */
async function examine(
  tools: Tools,
  input: ProbeInput,
  sounds: readonly ProbedStream[],
  scanned: Pick<ScanInput, 'videoIndex' | 'audioIndexes' | 'toTheEnd' | 'maxSec'> & { isHdr10: boolean },
): Promise<{ scan: PacketScan; heard: ProbedAudio; word: FfmpegReport; hdr10: Hdr10 | null }> {
  const { videoIndex, isHdr10 } = scanned;
  const failed = new AbortController();
  const signal = AbortSignal.any([input.signal, failed.signal]);
  const file = { path: input.path, cwd: input.dir, signal };
  const tracks = decodable(tools, file, videoIndex, sounds);
  const packets = scanPackets(tools, { ...file, ...scanned });
  const beside = isHdr10 ? sideDataOf(tools, { ...file, streamIndex: videoIndex }) : Promise.resolve([]);
  try {
    const [scan, { heard, word }, sideData] = await Promise.all([packets, tracks, beside]);
    return { scan, heard, word, hdr10: readHdr10(sideData) };
  } catch (error) {
    failed.abort();
    await Promise.allSettled([packets, tracks, beside]);
    throw error;
  }
}

/**
 * Returns the decodable audio tracks, and the start of ffmpeg's clock. @throws {MediaFileError} when the
 * video cannot be decoded.
 */
async function decodable(
  tools: Tools,
  file: Omit<TrackInput, 'streamIndex'>,
  videoIndex: number,
  sounds: readonly ProbedStream[],
): Promise<{ heard: ProbedAudio; word: FfmpegReport }> {
  const streamIndexes = [videoIndex, ...sounds.map(({ index }) => index)];
  const whole = await decodesAll(tools, { ...file, streamIndexes });
  if (whole !== null) return { heard: { tracks: [...sounds], discrete: new Set() }, word: whole };
  const pictures = { ...file, streamIndex: videoIndex };
  await assertVideoDecodes(tools, pictures);
  return { heard: await probeAudioTracks(tools, sounds, file), word: await probeWithFfmpeg(tools, pictures) };
}

function selectVideoTrack(report: ProbeReport): ProbedStream {
  const { streams } = report;
  if ((report.format.nb_streams ?? streams.length) > MAX_STREAMS) {
    throw new MediaFileError('UNSUPPORTED_FORMAT', `The file has more than ${MAX_STREAMS} tracks.`);
  }
  const videos = streams.filter((stream) => stream.codec_type === 'video' && !isStill(stream));
  const [video] = videos.toSorted((a, b) => rankOf(a) - rankOf(b) || areaOf(b) - areaOf(a));
  if (!video) throw new MediaFileError('NO_VIDEO_TRACK', 'The file contains no video.');
  return video;
}

/**
 * Returns the sort key: decodable tracks come first, and among them the ones that players select by default.
 */
function rankOf({ codec_name: codec = '', disposition }: ProbedStream): number {
  return (isSupportedVideo(codec) ? 0 : 2) + (disposition?.default === 1 ? 0 : 1);
}

function areaOf({ width = 0, height = 0 }: ProbedStream): number {
  return width * height;
}

/** Reports whether the stream is cover art or similar. */
function isStill({ disposition }: ProbedStream): boolean {
  return [disposition?.attached_pic, disposition?.timed_thumbnails, disposition?.still_image].includes(1);
}

function checkPicture(video: ProbedStream, log: string): void {
  const { codec_name, codec_tag_string, width = 0, height = 0 } = video;
  if (codec_name === undefined || codec_name === 'unknown' || codec_tag_string === 'encv') {
    throw new MediaFileError('UNSUPPORTED_FORMAT', 'The codec of the video is not supported.');
  }
  if (!isSupportedVideo(codec_name)) throw unsupportedFormatError(codec_name);
  if (width < 1 || height < 1) {
    throw (
      fileFault(log) ??
      new MediaFileError('CORRUPT_INPUT', 'The resolution of the video cannot be determined.')
    );
  }
  if (Math.max(width, height) > MAX_LONG_SIDE || Math.min(width, height) > MAX_SHORT_SIDE) {
    throw new MediaFileError('UNSUPPORTED_FORMAT', 'The resolution exceeds 7680 by 4320.');
  }
  if (isDolbyVisionAlone(video)) throw new MediaFileError('UNSUPPORTED_FORMAT', DOLBY_VISION);
}

const DOLBY_VISION =
  'The video is Dolby Vision without a compatible base layer (such as profile 5), whose colors cannot be shown. Export it as HDR10, HLG or SDR.';
const INCOMPATIBLE_PROFILE = 5;

/** Reports whether the video is correct only with Dolby Vision metadata, which ffmpeg does not apply. */
function isDolbyVisionAlone({ side_data_list: list = [] }: ProbedStream): boolean {
  return list.some(
    ({ dv_profile: profile, dv_bl_signal_compatibility_id: compatible }) =>
      profile !== undefined && (profile === INCOMPATIBLE_PROFILE || compatible === 0),
  );
}

/** @throws {MediaFileError} */
export function checkDuration(sec: number): void {
  if (sec > MAX_DURATION_SEC + DURATION_TOLERANCE_SEC) {
    throw new MediaFileError('DURATION_EXCEEDED', 'The video is longer than 12 hours.');
  }
}

interface Findings {
  report: ProbeReport;
  video: ProbedStream;
  hdr10: Hdr10 | null;
  heard: ProbedAudio;
  hasClosedCaptions: boolean;
  scan: PacketScan;
  track: TrackScan;
  sizeBytes: number;
  declaredSec: number | null;
  /** Start time of the file according to ffmpeg. */
  fileStartSec: number;
}

function describe(found: Findings): SourceInfo {
  const { report, video, hdr10, heard, scan, track, sizeBytes, fileStartSec } = found;
  const container = report.format.format_name;
  const isDeclared = declaresSettings(container);
  const { kept: audio, notes } = selectAudioTracks(defaultFirst(heard.tracks));
  const videoStart = Math.max(0, (seconds(video.start_time) ?? track.startSec) - fileStartSec);
  const [main] = audio;
  const audioStart = main ? Math.max(0, (seconds(main.start_time) ?? fileStartSec) - fileStartSec) : null;
  const lead = audioStart === null ? 0 : videoStart - audioStart;
  const { frameRate, isVariable } = frameRateOf(video, track);
  // Aligned to the frame rate, otherwise all frames would move to the next position.
  const zeroSec = lead <= MAX_AUDIO_LEAD_SEC ? videoStart : beatRemainder(videoStart, 1 / frameRate);
  const beginSec = fileStartSec + zeroSec;
  const durationSec = durationOf(found, audio, { beginSec, frameSec: 1 / frameRate });
  const spanOf = ({ startSec, endSec }: Span): Span => {
    return { startSec: startSec - beginSec, endSec: endSec - beginSec };
  };
  checkDuration(durationSec);
  const all = { report, video, audio: heard.tracks, isStill };
  const described = describeTracks({ ...all, zeroSec: beginSec, durationSec });
  const info: SourceInfo = {
    durationSec,
    sizeBytes,
    bitrate: Math.round((sizeBytes * 8) / durationSec),
    zeroSec,
    video: {
      streamIndex: video.index,
      codec: video.codec_name ?? '',
      codecs: null,
      profile: video.profile ?? null,
      pixelFormat: video.pix_fmt ?? '',
      ...shownSize(video),
      ...(scan.isComplete && scan.hasAllTimestamps ? { span: spanOf(track) } : {}),
      frameRate,
      isVariableFrameRate: isVariable,
      range: rangeOf(video),
      ...(video.color_primaries === undefined ? {} : { primaries: video.color_primaries }),
      ...(video.color_transfer === undefined ? {} : { transfer: video.color_transfer }),
      ...(video.color_space === undefined ? {} : { matrix: video.color_space }),
      ...(video.color_range === undefined ? {} : { levels: video.color_range }),
      ...(hdr10 === null ? {} : { hdr10 }),
      isInterlaced: ['tt', 'bb', 'tb', 'bt'].includes(video.field_order ?? ''),
      bitrate: Math.round((track.bytes * 8) / Math.max(track.endSec - track.startSec, 0.001)),
    },
    audio: audio.map((one) => {
      const span = scan.audio.get(one.index);
      const facts = { isDeclared, discrete: heard.discrete, durationSec, frameRate };
      return describeAudio(one, { ...facts, span: span === undefined ? null : spanOf(span) });
    }),
    ...described,
    notes: [...described.notes, ...notes, ...(found.hasClosedCaptions ? [CLOSED_CAPTIONS] : [])],
    copyRefusal: null,
    canSplit: false,
  };
  const isCutShort = (found.declaredSec ?? 0) - zeroSec - durationSec > CUT_SHORT_SEC;
  const facts = { info, scan, stream: video, container, lead, isCutShort };
  return {
    ...info,
    copyRefusal: copyIneligibleReason(facts),
    canSplit: splitIneligibleReason(facts) === null,
  };
}

/** Returns the remainder of a time after whole frames; 0 when only rounding makes it less than one frame. */
function beatRemainder(sec: number, frameSec: number): number {
  const frames = sec / frameSec;
  return Math.max(0, sec - Math.floor(frames + BEAT_TOLERANCE) * frameSec);
}

/** Returns the duration according to the packets: headers of broken files declare too much or nothing. */
function durationOf(
  { scan, track, declaredSec }: Findings,
  audio: readonly ProbedStream[],
  { beginSec, frameSec }: { beginSec: number; frameSec: number },
): number {
  const ends = audio.map(({ index }) => {
    const { lastSec = 0, endSec = 0 } = scan.audio.get(index) ?? {};
    return Math.max(lastSec, endSec - AUDIO_TAIL_SEC);
  });
  const readSec = Math.max(track.endSec, ...ends) - beginSec;
  const sec = scan.isComplete ? readSec : Math.max(readSec, declaredSec ?? 0);
  return Math.max(Math.round(sec * 1000) / 1000, Math.ceil(frameSec * 1000) / 1000);
}

type Shape = Pick<SourceInfo['video'], 'width' | 'height' | 'rotation' | 'isMirrored' | 'frame'>;

/** Returns the display size: with square pixels, after rotation. */
function shownSize(video: ProbedStream): Shape {
  const ratio = aspectRatio(video.sample_aspect_ratio);
  const stored = { width: video.width ?? 1, height: video.height ?? 1 };
  const width = Math.max(1, Math.round(stored.width * ratio));
  const { height } = stored;
  const turned = video.side_data_list?.find((data) => data.rotation !== undefined);
  // ffprobe's angle is counterclockwise, and can be -0.
  const rotation = (((Math.round(-(turned?.rotation ?? 0) / 90) * 90) % 360) + 360) % 360;
  return {
    ...(rotation % 180 === 0 ? { width, height } : { width: height, height: width }),
    rotation,
    isMirrored: isMirror(turned?.displaymatrix),
    frame: { ...stored, aspect: (stored.width * ratio) / height },
  };
}

/** Reports whether a matrix of ISO/IEC 14496-12 8.2.2.2, as printed by ffprobe, mirrors the video. */
function isMirror(matrix = ''): boolean {
  const [[a = 1, b = 0] = [], [c = 0, d = 1] = []] = matrix
    .trim()
    .split('\n')
    .map((row) => row.replace(/^\w+:/, '').trim().split(/\s+/).map(Number));
  return a * d - b * c < 0;
}

function seconds(text: string | undefined): number | null {
  const value = Number.parseFloat(text ?? '');
  return Number.isFinite(value) ? value : null;
}
