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

/** Minimum segment length of the muxer; it cuts at the next keyframe. */
const SEGMENT_SEC = 6;
/**
 * Tolerance for timestamps rounded differently in different rungs: a keyframe that is nearly due counts as
 * due.
 */
const CUT_TOLERANCE_SEC = 0.01;
const GOP_SEC = 2;
const GOPS_PER_SEGMENT = 3;
const AUDIO_RATE = 48_000;
/** Layouts that every AAC player knows: 5.1 with side speakers has no channel configuration there. */
const LAYOUTS: Readonly<Record<number, string>> = { 1: 'mono', 2: 'stereo', 6: '5.1' };
/** Filter for channels that cannot be mixed; `pan` rejects some of them. */
const FIRST_TWO = 'channelmap=map=0|1:channel_layout=stereo';
/**
 * Filter that drops AAC priming packets, which are not played; the timestamp of the first remaining packet is
 * the start. Players that ignore edit lists would otherwise be late by the priming.
 */
const WITHOUT_PRIMING = 'noise=drop=lt(pts\\,0)';
const OWN_TIMES = ['-hls_segment_options', 'movflags=+frag_discont'];

/**
 * Returns the arguments that read the source from its first frame on, limited to the maximum duration of a
 * video.
 */
export function sourceInput(input: string, source: SourceInfo, threads: number): string[] {
  return [
    ...['-nostdin', '-v', 'error', '-stats_period', '1', '-threads', String(decoderThreads(threads))],
    ...(source.zeroSec > 0 ? ['-itsoffset', (-source.zeroSec).toFixed(6)] : []),
    ...['-t', String(MAX_DURATION_SEC + 1), ...decoderOptions(source), ...inputGuard(input)],
  ];
}

/** Arguments that exclude everything but the mapped track: no titles, locations, chapters or attachments. */
const PLAIN = ['-map_metadata', '-1', '-map_chapters', '-1', '-dn', '-sn'];

/**
 * Returns the arguments for one rendition as HLS in its folder. Because of its timestamps, which no muxer may
 * shift, and its edit list, which removes the codec delay, it begins at the same zero as all others, in any
 * run.
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

/**
 * Returns the arguments that copy the source's video, cut at its keyframes and tagged with the colors of the
 * other renditions.
 */
export function copiedRung({ video }: SourceInfo, name: string): string[] {
  const track = ['-map', `0:${video.streamIndex}`, '-c:v', 'copy'];
  const colors = isTagged(tagsOf(video)) ? [] : ['-bsf:v', describeCopy(colorOf(video))];
  return [...track, ...colors, ...hls(name, SEGMENT_SEC - CUT_TOLERANCE_SEC)];
}

/** Filter that corrects `ainterleave`, which counts in microseconds, whatever its output time base is. */
const INTERLEAVED = 'asetpts=round(PTS*0.000001/TB)';

/**
 * Returns the silence for every audio rendition that begins later than the video, as an input after the
 * source.
 */
export function silenceInput(plans: readonly AudioPlan[]): string[] {
  const lengthSec = Math.max(0, ...plans.map(silenceBefore));
  if (lengthSec === 0) return [];
  const silence = `anullsrc=r=${AUDIO_RATE}:cl=stereo`;
  return ['-t', lengthSec.toFixed(6), '-f', 'lavfi', '-i', silence];
}

function silenceBefore({ isCopy, span }: AudioPlan): number {
  return isCopy || span === undefined ? 0 : Math.max(0, span.startSec);
}

/** Returns the arguments for the audio renditions, each as HLS in its folder. */
export function audioRenditions(plans: readonly AudioPlan[]): string[] {
  return plans.flatMap((plan) => {
    const { name, streamIndex, isCopy, bitrate, span } = plan;
    const end = span === undefined ? [] : ['-t', span.endSec.toFixed(6)];
    const output = [...end, ...OWN_TIMES, ...hls(name, SEGMENT_SEC)];
    // The filter removes transport stream headers, which some programs leave in other files.
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
 * Returns the audio filter graph. ffmpeg rebuilds it when the decoder changes channels or sample rate, so
 * nothing in it counts from its first frame: times are absolute, silence before the track is an input that
 * has ended by then, and silence after it has no length of its own.
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
  /** Keyframes at those of the source; otherwise at a regular interval, equal in all rungs. */
  alignToSource: boolean;
  /** Keyframe interval; more than 2 means one keyframe per segment. */
  keyframeSec?: number | undefined;
  threads: number;
  sourceTimeBase: FfmpegCapabilities['sourceTimeBase'];
  /** Images created in the same run. */
  images?: SideImages | null;
}

/** Returns the arguments that encode all rungs from one decode, each into its own HLS. */
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

/** Returns the arguments that encode all rungs, each into one Matroska file for `stitch`. */
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
 * Returns a GOP of about two seconds with a whole number of frames at every possible frame rate of a rung:
 * segment boundaries are equal up to the last one, even in different runs.
 */
function groupOfPictures(sourceRate: number, keyframeSec = GOP_SEC): GroupOfPictures {
  const ceilings = [MAX_UPLOAD_FPS, REDUCED_RATES.medium, REDUCED_RATES.small];
  const divisors = ceilings.map((ceiling) => rateDivisor(sourceRate, ceiling));
  const step = divisors.reduce(leastCommonMultiple, 1);
  const sourceFrames = step * Math.max(1, Math.round((GOP_SEC * sourceRate) / step));
  const segmentSec = (sourceFrames * GOPS_PER_SEGMENT) / sourceRate;
  return {
    // Slightly less, otherwise rounding would skip a keyframe that is exactly due.
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

/**
 * Returns the arguments that split the video at keyframes, about `chunkSec` apart, and write the positions to
 * `chunks.csv`.
 */
export function splitArgs(source: SourceInfo, chunkSec: number): string[] {
  return [
    ...['-map', `0:${source.video.streamIndex}`, '-c', 'copy', ...PLAIN],
    // Otherwise the first chunk would start earlier than the others by the codec delay.
    ...['-avoid_negative_ts', 'disabled', '-f', 'segment'],
    ...['-segment_time', String(chunkSec), '-segment_format', 'matroska', '-reset_timestamps', '1'],
    ...['-segment_list', 'chunks.csv', '-segment_list_type', 'csv', 'chunk_%05d.mkv'],
  ];
}

/** Returns the arguments that join the output of `encodedChunk`; the list has exact durations. */
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
