import { MAX_DURATION_SEC, MAX_UPLOAD_FPS } from '../../kernel/plans.ts';
import type { AudioPlan, RungPlan, SourceInfo } from '../contract/index.ts';
import type { FfmpegCapabilities } from '../ffmpeg/check.ts';
import { INTERMEDIATE_DECODERS } from '../ffmpeg/codecs.ts';
import { describeCopy, isTagged } from '../ffmpeg/color.ts';
import { concatGuard, inputGuard } from '../ffmpeg/guard.ts';
import { deviceArgs } from '../ffmpeg/hardware.ts';
import { encoderArgs } from './encoders.ts';
import { type FilterInput, videoGraph } from './filters.ts';
import { REDUCED_RATES, rateDivisor } from './frame-rate.ts';
import type { SideImages } from './side-images.ts';
import { colorOf, decoderOptions, tagsOf } from './source-filters.ts';
import { decoderThreads } from './threads.ts';

/** What the muxer waits for before it cuts; the keyframes decide where it does. */
const SEGMENT_SEC = 6;
/** Timestamps are rounded differently in different rungs: a keyframe that is nearly due is due. */
const CUT_TOLERANCE_SEC = 0.01;
const GOP_SEC = 2;
const GOPS_PER_SEGMENT = 3;
const AUDIO_RATE = 48_000;
/** Those that every player of AAC knows: the other 5.1, with its speakers at the sides, has no number there. */
const LAYOUTS: Readonly<Record<number, string>> = { 1: 'mono', 2: 'stereo', 6: '5.1' };
/** Of channels that cannot be mixed; `pan` refuses some of them. */
const FIRST_TWO = 'channelmap=map=0|1:channel_layout=stereo';
/**
 * What an encoder of AAC puts first is not played: such packets are left out, and the first one that is left says by
 * its own time when it begins. Players that do not read edit lists would be late by it.
 */
const WITHOUT_PRIMING = 'noise=drop=lt(pts\\,0)';
const OWN_TIMES = ['-hls_segment_options', 'movflags=+frag_discont'];

/** Reads the source from its first picture on, and never longer than a video may be. */
export function sourceInput(input: string, source: SourceInfo, threads: number): string[] {
  return [
    ...['-nostdin', '-v', 'error', '-stats_period', '1', '-threads', String(decoderThreads(threads))],
    ...(source.zeroSec > 0 ? ['-itsoffset', (-source.zeroSec).toFixed(6)] : []),
    ...['-t', String(MAX_DURATION_SEC + 1), ...decoderOptions(source), ...inputGuard(input)],
  ];
}

/** Nothing of the source but the mapped track: no titles, places, chapters or attachments. */
const PLAIN = ['-map_metadata', '-1', '-map_chapters', '-1', '-dn', '-sn'];

/**
 * One rendition as HLS in its folder. By its times, which no muxer may shift, and its edit list, which takes the
 * delay of the codec away, it begins at the same zero as all others, whichever run made them.
 */
function hls(folder: string, segmentSec: number): string[] {
  return [
    ...[...PLAIN, '-max_muxing_queue_size', '4096', '-avoid_negative_ts', 'disabled', '-f', 'hls'],
    ...['-hls_time', segmentSec.toFixed(6), '-hls_playlist_type', 'vod', '-hls_segment_type', 'fmp4'],
    ...['-hls_flags', 'independent_segments'],
    ...['-hls_fmp4_init_filename', 'init.mp4', '-hls_segment_filename', `${folder}/s_%05d.m4s`],
    `${folder}/index.m3u8`,
  ];
}

/** The source's own pictures, cut at their keyframes, with the colors that the other renditions have. */
export function copiedRung({ video }: SourceInfo, name: string): string[] {
  const track = ['-map', `0:${video.streamIndex}`, '-c:v', 'copy'];
  const colors = isTagged(tagsOf(video)) ? [] : ['-bsf:v', describeCopy(colorOf(video))];
  return [...track, ...colors, ...hls(name, SEGMENT_SEC - CUT_TOLERANCE_SEC)];
}

/** `ainterleave` counts in microseconds, whatever the time base of its output is. */
const INTERLEAVED = 'asetpts=round(PTS*0.000001/TB)';

/** Silence for every audio rendition that begins later than the video, as the input after the source. */
export function silenceInput(plans: readonly AudioPlan[]): string[] {
  const lengthSec = Math.max(0, ...plans.map(silenceBefore));
  if (lengthSec === 0) return [];
  const silence = `anullsrc=r=${AUDIO_RATE}:cl=stereo`;
  return ['-t', lengthSec.toFixed(6), '-f', 'lavfi', '-i', silence];
}

function silenceBefore({ isCopy, span }: AudioPlan): number {
  return isCopy || span === undefined ? 0 : Math.max(0, span.startSec);
}

/** The sounds, each as HLS in its folder. */
export function audioRenditions(plans: readonly AudioPlan[]): string[] {
  return plans.flatMap((plan) => {
    const { name, streamIndex, isCopy, bitrate, span } = plan;
    const end = span === undefined ? [] : ['-t', span.endSec.toFixed(6)];
    const output = [...end, ...OWN_TIMES, ...hls(name, SEGMENT_SEC)];
    // The filter takes the headers of transport streams away, which some programs leave in other files; others pass.
    if (isCopy) {
      const filters = ['-bsf:a', `${WITHOUT_PRIMING},aac_adtstoasc`];
      return ['-map', `0:${streamIndex}`, '-c:a', 'copy', ...filters, ...output];
    }
    return [
      ...['-filter_complex', audioGraph(plan), '-map', `[${name}]`],
      ...['-c:a', 'aac', '-b:a', String(bitrate), '-bsf:a', WITHOUT_PRIMING, ...output],
    ];
  });
}

/**
 * ffmpeg builds this graph again when the decoder changes its channels or its rate. So nothing in it counts from the
 * first frame that it gets: times are absolute, silence before the track is an input that has ended by then, and silence
 * after it has no length of its own.
 */
function audioGraph(plan: AudioPlan): string {
  const { name, streamIndex, channels, isDiscrete, span } = plan;
  const layout = LAYOUTS[channels] ?? 'stereo';
  const mix = isDiscrete ? FIRST_TWO : `aformat=channel_layouts=${layout}`;
  const track = (timing: string) => `[0:${streamIndex}]aresample=${AUDIO_RATE}:${timing},${mix}`;
  if (span === undefined) return `${track('async=1:first_pts=0')}[${name}]`;
  const own = track('async=1');
  const leadSec = silenceBefore(plan);
  if (leadSec === 0) return `${own},apad[${name}]`;
  const silence = `[1:0]atrim=end=${leadSec.toFixed(6)},aformat=channel_layouts=${layout}`;
  return `${own}[${name}-own];${silence}[${name}-silence];[${name}-silence][${name}-own]ainterleave,${INTERLEAVED},apad[${name}]`;
}

export interface EncodeInput extends Omit<FilterInput, 'rungs' | 'pace'> {
  rungs: readonly RungPlan[];
  /** Keyframes where the source has them; otherwise at a beat of their own, equal in all rungs. */
  alignToSource: boolean;
  /** More than 2: one keyframe for each segment. */
  keyframeSec?: number | undefined;
  threads: number;
  sourceTimeBase: FfmpegCapabilities['sourceTimeBase'];
  /** Made on the way. */
  images?: SideImages | null;
}

/** The pictures of all rungs, decoded once, each into its own HLS. */
export function encodedRungs(input: EncodeInput): string[] {
  const { rungs, alignToSource } = input;
  if (rungs.length === 0) return [];
  const group = groupOfPictures(input.source.video.frameRate, input.keyframeSec);
  const segmentSec = alignToSource ? SEGMENT_SEC - CUT_TOLERANCE_SEC : group.segmentSec;
  return [
    ...graph(input, alignToSource ? 'source' : 'constant'),
    ...rungs.flatMap((rung, index) => [
      ...picture(rung, index, input),
      ...(alignToSource ? sourceKeyframes(input) : fixedKeyframes(group.framesOf(rung))),
      ...hls(rung.name, segmentSec),
    ]),
    ...(input.images?.outputs ?? []),
  ];
}

/** The same, each into one Matroska file for `stitch`. */
export function encodedChunk(input: Omit<EncodeInput, 'alignToSource'>): string[] {
  return [
    ...graph({ ...input, alignToSource: true }, 'source'),
    ...input.rungs.flatMap((rung, index) => [
      ...[...picture(rung, index, input), ...sourceKeyframes(input), ...PLAIN],
      ...['-f', 'matroska', `${rung.name}.mkv`],
    ]),
  ];
}

function graph(input: EncodeInput, pace: FilterInput['pace']): string[] {
  const filters = videoGraph({ ...input, pace }, input.images?.pictures);
  const device = input.hardware ? deviceArgs(input.hardware.hardware) : [];
  return [...device, '-filter_complex_threads', String(input.threads), '-filter_complex', filters];
}

function picture(rung: RungPlan, index: number, input: Omit<EncodeInput, 'alignToSource'>): string[] {
  return ['-map', `[v${index}]`, ...encoderArgs(rung, input), '-fps_mode', 'passthrough'];
}

function sourceKeyframes({ sourceTimeBase }: Pick<FfmpegCapabilities, 'sourceTimeBase'>): string[] {
  return ['-force_key_frames', 'source', '-g', '99999', '-enc_time_base', sourceTimeBase];
}

function fixedKeyframes(frames: number): string[] {
  return ['-g', String(frames), '-keyint_min', String(frames)];
}

interface GroupOfPictures {
  segmentSec: number;
  framesOf(rung: RungPlan): number;
}

/**
 * About two seconds, and a whole number of frames at every rate that a rung may have: the cuts are equal to the
 * last one, also where the rungs are made by different runs.
 */
function groupOfPictures(sourceRate: number, keyframeSec = GOP_SEC): GroupOfPictures {
  const ceilings = [MAX_UPLOAD_FPS, REDUCED_RATES.medium, REDUCED_RATES.small];
  const divisors = ceilings.map((ceiling) => rateDivisor(sourceRate, ceiling));
  const step = divisors.reduce(leastCommonMultiple, 1);
  const sourceFrames = step * Math.max(1, Math.round((GOP_SEC * sourceRate) / step));
  const segmentSec = (sourceFrames * GOPS_PER_SEGMENT) / sourceRate;
  return {
    // A little less, or rounding would skip a keyframe that is exactly due.
    segmentSec: segmentSec - 0.000002,
    framesOf(rung) {
      const frames = Math.max(1, Math.round(sourceFrames / Math.round(sourceRate / rung.frameRate)));
      return keyframeSec > GOP_SEC ? frames * GOPS_PER_SEGMENT : frames;
    },
  };
}

function leastCommonMultiple(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y !== 0) [x, y] = [y, x % y];
  return (a / x) * b;
}

/** Cuts the pictures at keyframes, about `chunkSec` apart, and writes where in `chunks.csv`. */
export function splitArgs(source: SourceInfo, chunkSec: number): string[] {
  return [
    ...['-map', `0:${source.video.streamIndex}`, '-c', 'copy', ...PLAIN],
    // Or the first chunk would be said to begin earlier than the others by the delay of the codec.
    ...['-avoid_negative_ts', 'disabled', '-f', 'segment'],
    ...['-segment_time', String(chunkSec), '-segment_format', 'matroska', '-reset_timestamps', '1'],
    ...['-segment_list', 'chunks.csv', '-segment_list_type', 'csv', 'chunk_%05d.mkv'],
  ];
}

/** Joins what `encodedChunk` wrote; the list has exact durations. */
export function stitchArgs(listPath: string, name: string): string[] {
  return [
    ...[
      '-nostdin',
      '-v',
      'error',
      '-stats_period',
      '1',
      ...concatGuard(listPath, 'matroska', INTERMEDIATE_DECODERS),
    ],
    ...['-map', '0:v:0', '-c', 'copy', ...hls(name, SEGMENT_SEC - CUT_TOLERANCE_SEC)],
  ];
}
