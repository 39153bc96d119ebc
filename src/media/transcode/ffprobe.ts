import { type Static, Type } from 'typebox';
import { compileSchema } from '../../platform/schema-validator.ts';
import { MediaFileError } from '../contract/index.ts';
import { inputGuard, probeGuard } from '../ffmpeg/guard.ts';
import { UnsafeOutputError } from '../ffmpeg/output.ts';
import { lineReader, reportReader } from '../ffmpeg/text.ts';
import type { SideData } from './hdr10.ts';
import { corruptInputError, fileFault, runTool, type Tools } from './run.ts';

const Text = Type.Optional(Type.String({ maxLength: 200 }));
const Count = Type.Optional(Type.Integer());

const Stream = Type.Object({
  index: Type.Integer({ minimum: 0 }),
  codec_type: Text,
  codec_name: Text,
  codec_tag_string: Text,
  profile: Text,
  pix_fmt: Text,
  width: Count,
  height: Count,
  sample_aspect_ratio: Text,
  field_order: Text,
  color_transfer: Text,
  color_primaries: Text,
  color_space: Text,
  color_range: Text,
  r_frame_rate: Text,
  avg_frame_rate: Text,
  start_time: Text,
  duration: Text,
  sample_rate: Text,
  channels: Count,
  channel_layout: Text,
  bit_rate: Text,
  disposition: Type.Optional(
    Type.Object({
      default: Count,
      forced: Count,
      hearing_impaired: Count,
      visual_impaired: Count,
      captions: Count,
      descriptions: Count,
      attached_pic: Count,
      timed_thumbnails: Count,
      still_image: Count,
    }),
  ),
  tags: Type.Optional(
    Type.Object({ language: Type.Optional(Type.String()), title: Type.Optional(Type.String()) }),
  ),
  side_data_list: Type.Optional(
    Type.Array(
      Type.Object({
        rotation: Type.Optional(Type.Number()),
        displaymatrix: Type.Optional(Type.String({ maxLength: 1000 })),
        dv_profile: Count,
        dv_bl_signal_compatibility_id: Count,
      }),
    ),
  ),
});

const Report = Type.Object({
  streams: Type.Array(Stream),
  chapters: Type.Optional(
    Type.Array(
      Type.Object({
        start_time: Text,
        tags: Type.Optional(Type.Object({ title: Type.Optional(Type.String()) })),
      }),
    ),
  ),
  format: Type.Object({ format_name: Type.String(), start_time: Text, duration: Text, nb_streams: Count }),
});
const reports = compileSchema(Report);

export type ProbedStream = Static<typeof Stream>;
export type ProbeReport = Static<typeof Report>;

const STILLS = 'attached_pic,timed_thumbnails,still_image';
const ENTRIES = [
  'format=format_name,start_time,duration,nb_streams',
  `stream=${Object.keys(Stream.properties)
    .filter((name) => !['disposition', 'side_data_list', 'tags'].includes(name))
    .join(',')}`,
  `stream_disposition=default,forced,hearing_impaired,visual_impaired,captions,descriptions,${STILLS}`,
  'stream_tags=language,title',
  'chapter=start_time:chapter_tags=title',
  'stream_side_data=rotation,displaymatrix,dv_profile,dv_bl_signal_compatibility_id',
].join(':');

const TIMEOUT_MS = 60_000;
const OUTPUT_MAX_CHARS = 2 ** 20;
const LIMITS = { memoryBytes: 4 * 2 ** 30, cpuSec: 60, fileBytes: 0, isUrgent: true };

/**
 * Returns the container's properties, with only languages and titles of the tags, and the log output.
 *
 * @throws {MediaFileError}
 */
export async function ffprobe(
  tools: Tools,
  input: { path: string; cwd: string; signal: AbortSignal },
): Promise<{ report: ProbeReport; log: string }> {
  const output = reportReader(OUTPUT_MAX_CHARS);
  const log = await runTool(tools, {
    program: 'ffprobe',
    cwd: input.cwd,
    args: [
      ...['-v', 'error', '-analyzeduration', '20M', '-probesize', '20M'],
      ...['-of', 'json=compact=1', '-show_entries', ENTRIES, ...probeGuard(input.path)],
    ],
    limits: LIMITS,
    looks: true,
    signal: input.signal,
    enough: output.isTooLong,
    timeoutMs: TIMEOUT_MS,
    onOutput: output.onOutput,
  });
  if (output.isTooLong.aborted)
    throw new MediaFileError('UNSUPPORTED_FORMAT', 'The file has too many tracks.');
  const report = parse(output.text(), log);
  if (!reports.matches(report)) throw fileFault(log) ?? corruptInputError();
  return { report, log };
}

function parse(output: string, log: string): unknown {
  try {
    return JSON.parse(output);
  } catch (error) {
    throw new Error(`ffprobe returned no report: ${log.slice(-300)}`, { cause: error });
  }
}

export interface TrackInput {
  path: string;
  cwd: string;
  streamIndex: number;
  signal: AbortSignal;
}

/**
 * Decodes the first frame, to prove that there is one and that a decoder supports it.
 *
 * @throws {MediaFileError}
 */
export async function assertVideoDecodes(tools: Tools, input: TrackInput): Promise<void> {
  const { frames, log } = await decodeFirst(tools, input);
  if (frames > 0) return;
  tools.log.info({ log: log.slice(-2000) }, 'no frame could be decoded');
  throw fileFault(log) ?? new MediaFileError('CORRUPT_INPUT', 'No frame of the file can be decoded.');
}

/** Output arguments to which every audio track must be convertible. */
const MIXED = ['-ac', '2'];

/**
 * Reports whether the audio track can be decoded. A video without audio is better than none.
 *
 * @param options `mixed`: whether it must also be possible to mix its channels to stereo.
 */
export async function audioDecodes(
  tools: Tools,
  input: TrackInput,
  { mixed = false }: { mixed?: boolean } = {},
): Promise<boolean> {
  try {
    return (await decodeFirst(tools, input, mixed ? MIXED : [])).frames > 0;
  } catch (error) {
    if (error instanceof MediaFileError && !(error instanceof UnsafeOutputError)) return false;
    throw error;
  }
}

/**
 * Runs both checks for all tracks and the queries of `probeWithFfmpeg` in one process: most files are intact,
 * and each process costs a fifth of a second of CPU time to start.
 *
 * @param streamIndexes of the video and audio tracks.
 * @returns null when a track does not decode, audio cannot be mixed, or ffmpeg reports no start time: then
 *   each track is checked separately.
 */
export async function decodesAll(
  tools: Tools,
  { path, cwd, streamIndexes, signal }: Omit<TrackInput, 'streamIndex'> & { streamIndexes: number[] },
): Promise<FfmpegReport | null> {
  let frames = 0;
  try {
    const log = await runTool(tools, {
      program: 'ffmpeg',
      cwd,
      args: [
        ...['-nostdin', '-hide_banner', '-nostats', '-v', 'info', '-threads', String(tools.threads)],
        ...inputGuard(path),
        ...streamIndexes.flatMap((index, at) => [
          ...['-map', `0:${index}`, ...(at === 0 ? [] : MIXED), '-frames', '1', '-f', 'framecrc', '-'],
        ]),
      ],
      limits: LIMITS,
      signal,
      timeoutMs: TIMEOUT_MS,
      onOutput: lineReader((line) => {
        if (/^\d/.test(line)) frames += 1;
      }),
    });
    const word = wordIn(log, streamIndexes[0]);
    return frames === streamIndexes.length && word.startSec !== null ? word : null;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof UnsafeOutputError) throw error;
    return null;
  }
}

/** Properties that ffmpeg reports on opening a file, and ffprobe does not. */
export interface FfmpegReport {
  /**
   * Start of the file's clock, in seconds; null when not reported. Versions differ in handling priming
   * samples before the first audible ones, and ffprobe may have another version.
   */
  startSec: number | null;
  /** The first frames carry CEA-608 or CEA-708 captions. */
  hasClosedCaptions: boolean;
}

/** Parses the log of ffmpeg; tags are indented further. */
function wordIn(log: string, videoIndex: number | undefined): FfmpegReport {
  const start = /^ {2}Duration: [^,]+, start: (-?[\d.]+)/m.exec(log)?.[1];
  const pictures = new RegExp(`^ {2}Stream #0:${videoIndex}\\b.*: Video: .*, Closed Captions(?:,|$)`, 'm');
  return { startSec: start === undefined ? null : Number(start), hasClosedCaptions: pictures.test(log) };
}

/** @param input `streamIndex`: that of the video. */
export async function probeWithFfmpeg(
  tools: Tools,
  { path, cwd, streamIndex, signal }: TrackInput,
): Promise<FfmpegReport> {
  try {
    const log = await runTool(tools, {
      program: 'ffmpeg',
      cwd,
      args: [
        ...['-nostdin', '-hide_banner', '-nostats', '-v', 'info', ...inputGuard(path)],
        ...['-map', `0:${streamIndex}`, '-c', 'copy', '-frames', '1', '-f', 'null', '-'],
      ],
      limits: LIMITS,
      signal,
      timeoutMs: TIMEOUT_MS,
    });
    return wordIn(log, streamIndex);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof UnsafeOutputError) throw error;
    return { startSec: null, hasClosedCaptions: false };
  }
}

const WithSideData = Type.Object({
  side_data_list: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()))),
});
const SideDataReport = Type.Object({
  frames: Type.Optional(Type.Array(WithSideData)),
  streams: Type.Optional(Type.Array(WithSideData)),
});
const sideDataReports = compileSchema(SideDataReport);
const HDR10_FIELDS = [
  ...['side_data_type', 'max_content', 'max_average', 'min_luminance', 'max_luminance'],
  ...['red_x', 'red_y', 'green_x', 'green_y', 'blue_x', 'blue_y', 'white_point_x', 'white_point_y'],
].join();

/**
 * Returns the side data of a video track in the container and in its first frame. A file without any is
 * valid.
 */
export async function sideDataOf(
  tools: Tools,
  { path, cwd, streamIndex, signal }: TrackInput,
): Promise<SideData[]> {
  const output = reportReader(OUTPUT_MAX_CHARS);
  const entries = `stream_side_data=${HDR10_FIELDS}:frame_side_data=${HDR10_FIELDS}`;
  try {
    const log = await runTool(tools, {
      program: 'ffprobe',
      cwd,
      args: [
        ...['-v', 'error', '-select_streams', String(streamIndex), '-read_intervals', '%+#1'],
        ...['-of', 'json=compact=1', '-show_entries', entries, ...probeGuard(path)],
      ],
      limits: LIMITS,
      looks: true,
      signal,
      enough: output.isTooLong,
      timeoutMs: TIMEOUT_MS,
      onOutput: output.onOutput,
    });
    const report = parse(output.text(), log);
    if (!sideDataReports.matches(report)) return [];
    const { streams = [], frames = [] } = report;
    return [...streams, ...frames].flatMap(({ side_data_list: list = [] }) => list);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof UnsafeOutputError) throw error;
    return [];
  }
}

async function decodeFirst(
  tools: Tools,
  { path, cwd, streamIndex, signal }: TrackInput,
  options: readonly string[] = [],
): Promise<{ frames: number; log: string }> {
  let frames = 0;
  const log = await runTool(tools, {
    program: 'ffmpeg',
    cwd,
    args: [
      ...['-nostdin', '-v', 'error', '-threads', String(tools.threads), ...inputGuard(path)],
      ...['-map', `0:${streamIndex}`, ...options, '-frames', '1', '-f', 'framecrc', '-'],
    ],
    limits: LIMITS,
    looks: true,
    signal,
    timeoutMs: TIMEOUT_MS,
    onOutput: lineReader((line) => {
      if (!line.startsWith('#')) frames += 1;
    }),
  });
  return { frames, log };
}

/** Invalid aspect ratios count as square. */
export function aspectRatio(text: string | undefined): number {
  const [x = 0, y = 0] = (text ?? '').split(':').map(Number);
  const ratio = x / y;
  return Number.isFinite(ratio) && ratio >= 0.1 && ratio <= 10 ? ratio : 1;
}
