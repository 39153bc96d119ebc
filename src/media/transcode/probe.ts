import { stat } from 'node:fs/promises';
import { MAX_DURATION_SEC } from '../../kernel/plans.ts';
import { MediaFileError, type SourceInfo } from '../contract/index.ts';
import { isReadSound, isReadVideo } from '../ffmpeg/codecs.ts';
import { checkComplete } from './completeness.ts';
import { splitRefusal, topRefusal } from './eligibility.ts';
import {
  aspectRatio,
  checkPictures,
  ffprobe,
  hasSound,
  type ProbedStream,
  type ProbeReport,
  startOf,
} from './ffprobe.ts';
import { frameRateOf } from './frame-rate.ts';
import { fileFault, notRead, type Tools } from './run.ts';
import { type PacketScan, type ScanInput, scanPackets, type TrackScan } from './scan.ts';
import { sniff, stillPicture } from './sniff.ts';

/** docs/api/plans.md: 8K, standing or lying. */
const MAX_LONG_SIDE = 7680;
const MAX_SHORT_SIDE = 4320;
const MAX_STREAMS = 32;
/** Containers round: twelve hours and a frame are twelve hours. */
const DURATION_TOLERANCE_SEC = 1;
/** Sound that begins so much before the pictures is kept, over a standing first picture. */
const LEAD_KEPT_SEC = 0.2;
/** Headers round, and count empty ends. */
const CUT_SHORT_SEC = 1;
/** Sound that begins so near to the pictures can be copied; what an encoder puts first is not played. */
const AUDIO_LATE_SEC = 0.03;
const AUDIO_EARLY_SEC = 0.06;

interface ProbeInput {
  path: string;
  /** The programs run there, and write nothing. */
  dir: string;
  signal: AbortSignal;
}

/**
 * What the file is, by its own word and by its packets, of which every one is looked at as far as time allows.
 *
 * @throws {MediaFileError}
 */
export async function probeFile(tools: Tools, input: ProbeInput): Promise<SourceInfo> {
  const { path, dir, signal } = input;
  await sniff(path);
  const { report, log } = await ffprobe(tools, { path, cwd: dir, signal });
  const { video, sound } = chooseStreams(report);
  checkPicture(video, log);
  const declaredSec = seconds(report.format.duration);
  checkDuration(declaredSec ?? 0);
  const { scan, isHeard, startSec } = await examine(tools, input, {
    videoIndex: video.index,
    audioIndex: sound?.index ?? null,
    toTheEnd: declaredSec === null,
    maxSec: (seconds(report.format.start_time) ?? 0) + MAX_DURATION_SEC + 2 * DURATION_TOLERANCE_SEC,
  });
  const audio = isHeard ? sound : null;
  if (scan.video === null) throw new MediaFileError('CORRUPT_INPUT', 'The file holds no pictures.');
  if (report.format.format_name === 'gif' && scan.video.packets < 2) throw stillPicture('GIF');
  await checkComplete({ path, report, video, scan });
  const { size } = await stat(path);
  const fileStartSec = startSec ?? seconds(report.format.start_time) ?? 0;
  const track = scan.video;
  return describe({ report, video, audio, scan, track, sizeBytes: size, declaredSec, fileStartSec });
}

/** Reads the packets and tries the decoders at the same time; when one fails, the others are ended. */
async function examine(
  tools: Tools,
  input: ProbeInput,
  scanned: Pick<ScanInput, 'videoIndex' | 'audioIndex' | 'toTheEnd' | 'maxSec'>,
): Promise<{ scan: PacketScan; isHeard: boolean; startSec: number | null }> {
  const { videoIndex, audioIndex } = scanned;
  const failed = new AbortController();
  const signal = AbortSignal.any([input.signal, failed.signal]);
  const file = { path: input.path, cwd: input.dir, signal };
  const pictures = checkPictures(tools, { ...file, streamIndex: videoIndex });
  const sound = audioIndex !== null && hasSound(tools, { ...file, streamIndex: audioIndex });
  const packets = scanPackets(tools, { ...file, ...scanned });
  const start = startOf(tools, { ...file, streamIndex: videoIndex });
  try {
    const [scan, isHeard, startSec] = await Promise.all([packets, sound, start, pictures]);
    return { scan, isHeard, startSec };
  } catch (error) {
    failed.abort();
    await Promise.allSettled([packets, sound, start, pictures]);
    throw error;
  }
}

function chooseStreams(report: ProbeReport): { video: ProbedStream; sound: ProbedStream | null } {
  const { streams } = report;
  if ((report.format.nb_streams ?? streams.length) > MAX_STREAMS) {
    throw new MediaFileError('UNSUPPORTED_FORMAT', `The file has more than ${MAX_STREAMS} tracks.`);
  }
  const videos = streams.filter((stream) => stream.codec_type === 'video' && !isStill(stream));
  const video = videos.find(({ codec_name = '' }) => isReadVideo(codec_name)) ?? videos[0];
  if (!video) throw new MediaFileError('NO_VIDEO_TRACK', 'The file holds no video.');
  const sounds = streams.filter(isReadableSound);
  const sound = sounds.find((stream) => stream.disposition?.default === 1) ?? sounds[0] ?? null;
  return { video, sound };
}

/** Cover art and the like. */
function isStill({ disposition }: ProbedStream): boolean {
  return [disposition?.attached_pic, disposition?.timed_thumbnails, disposition?.still_image].includes(1);
}

function isReadableSound(stream: ProbedStream): boolean {
  const { codec_type, codec_name, channels, sample_rate } = stream;
  return (
    codec_type === 'audio' && isReadSound(codec_name ?? '') && (channels ?? 0) > 0 && Number(sample_rate) > 0
  );
}

function checkPicture(video: ProbedStream, log: string): void {
  const { codec_name, codec_tag_string, width = 0, height = 0 } = video;
  if (codec_name === undefined || codec_name === 'unknown' || codec_tag_string === 'encv') {
    throw new MediaFileError('UNSUPPORTED_FORMAT', 'The video is coded in a way that cannot be read.');
  }
  if (!isReadVideo(codec_name)) throw notRead(codec_name);
  if (width < 1 || height < 1) {
    throw fileFault(log) ?? new MediaFileError('CORRUPT_INPUT', 'The size of the picture cannot be found.');
  }
  if (Math.max(width, height) > MAX_LONG_SIDE || Math.min(width, height) > MAX_SHORT_SIDE) {
    throw new MediaFileError('UNSUPPORTED_FORMAT', 'The picture is larger than 7680 by 4320.');
  }
}

function checkDuration(sec: number): void {
  if (sec > MAX_DURATION_SEC + DURATION_TOLERANCE_SEC) {
    throw new MediaFileError('DURATION_EXCEEDED', 'The video is longer than 12 hours.');
  }
}

interface Findings {
  report: ProbeReport;
  video: ProbedStream;
  audio: ProbedStream | null;
  scan: PacketScan;
  track: TrackScan;
  sizeBytes: number;
  declaredSec: number | null;
  /** What ffmpeg takes for zero. */
  fileStartSec: number;
}

function describe(found: Findings): SourceInfo {
  const { report, video, audio, scan, track, sizeBytes, fileStartSec } = found;
  const videoStart = Math.max(0, (seconds(video.start_time) ?? track.startSec) - fileStartSec);
  const audioStart = audio ? Math.max(0, (seconds(audio.start_time) ?? fileStartSec) - fileStartSec) : null;
  const lead = audioStart === null ? 0 : videoStart - audioStart;
  const { frameRate, isVariable } = frameRateOf(video, track);
  // At a beat of the pictures, or they would all be moved to the next one.
  const zeroSec = lead <= LEAD_KEPT_SEC ? videoStart : videoStart % (1 / frameRate);
  const durationSec = durationOf(found, fileStartSec + zeroSec, 1 / frameRate);
  checkDuration(durationSec);
  const size = shownSize(video);
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
      ...size,
      frameRate,
      isVariableFrameRate: isVariable,
      isHdr: ['smpte2084', 'arib-std-b67'].includes(video.color_transfer ?? ''),
      isInterlaced: ['tt', 'bb', 'tb', 'bt'].includes(video.field_order ?? ''),
      bitrate: Math.round((track.bytes * 8) / Math.max(track.endSec - track.startSec, 0.001)),
    },
    audio: audio && describeAudio(audio, scan.audio && scan.audio.startSec - fileStartSec - zeroSec),
    copyRefusal: null,
    canSplit: false,
  };
  const isCutShort = (found.declaredSec ?? 0) - zeroSec - durationSec > CUT_SHORT_SEC;
  const facts = { info, scan, stream: video, container: report.format.format_name, lead, isCutShort };
  return { ...info, copyRefusal: topRefusal(facts), canSplit: splitRefusal(facts) === null };
}

/** Headers of broken files promise more than there is, and some promise nothing: the packets tell. */
function durationOf(
  { scan, audio, track, declaredSec }: Findings,
  zeroSec: number,
  frameSec: number,
): number {
  const readSec = Math.max(track.endSec, (audio && scan.audio?.endSec) ?? 0) - zeroSec;
  const sec = scan.isComplete ? readSec : Math.max(readSec, declaredSec ?? 0);
  return Math.max(Math.round(sec * 1000) / 1000, Math.ceil(frameSec * 1000) / 1000);
}

/** @param offsetSec how much later than the pictures its first packet is; null when there is none. */
function describeAudio(audio: ProbedStream, offsetSec: number | null): SourceInfo['audio'] {
  const channels = audio.channels ?? 0;
  const isAacLc = audio.codec_name === 'aac' && audio.profile === 'LC';
  const isInStep = offsetSec !== null && offsetSec <= AUDIO_LATE_SEC && offsetSec >= -AUDIO_EARLY_SEC;
  return {
    streamIndex: audio.index,
    codec: audio.codec_name ?? '',
    profile: audio.profile ?? null,
    channels,
    sampleRate: Number(audio.sample_rate),
    bitrate: Number(audio.bit_rate) || null,
    canCopy: isAacLc && channels <= 2 && isInStep,
  };
}

/** The picture with square pixels, turned as the player turns it. */
function shownSize(video: ProbedStream): { width: number; height: number; rotation: number } {
  const ratio = aspectRatio(video.sample_aspect_ratio);
  const width = Math.max(1, Math.round((video.width ?? 1) * ratio));
  const height = video.height ?? 1;
  // ffprobe's angle is counterclockwise, and -0 is possible.
  const degrees = -(video.side_data_list?.find((data) => data.rotation !== undefined)?.rotation ?? 0);
  const rotation = (((Math.round(degrees / 90) * 90) % 360) + 360) % 360;
  return rotation % 180 === 0 ? { width, height, rotation } : { width: height, height: width, rotation };
}

function seconds(text: string | undefined): number | null {
  const value = Number.parseFloat(text ?? '');
  return Number.isFinite(value) ? value : null;
}
