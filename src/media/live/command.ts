import type { VideoInfo } from '../contract/index.ts';
import type { FfmpegCapabilities } from '../ffmpeg/check.ts';
import { colorNames, describeFilter, outputColor } from '../ffmpeg/color.ts';
import { liveGuard } from '../ffmpeg/guard.ts';
import { deviceArgs, type Hardware, liveEncoderOptions, uploadFilters } from '../ffmpeg/hardware.ts';
import type { LadderPlan, Rung } from './ladder.ts';

/** Video properties of a publish according to its header. */
export type SourceVideo = Pick<VideoInfo, 'width' | 'height'> & Partial<Pick<VideoInfo, 'codec' | 'color'>>;

export interface PackagerCommandInput {
  plan: LadderPlan;
  /** Video as announced by the encoder; null without video. */
  source: SourceVideo | null;
  segmentSeconds: number;
  /** Length of a part; the last one before a keyframe may be shorter. */
  partSeconds: number;
  sourceTimeBase: FfmpegCapabilities['sourceTimeBase'];
  /** Encodes the rungs that the plan has for it. */
  hardware: Hardware | null;
  /** File descriptor of the pipe for the first rung; the others follow. */
  firstFd: number;
}

/**
 * Arguments of one packager run (docs/decisions/live-packaging.md#all-in-one-ffmpeg), without the
 * program's name.
 */
export function packagerArgs(input: PackagerCommandInput): string[] {
  const { plan, firstFd } = input;
  const hasVideo = plan.rungs.some((rung) => rung.videoCodec !== null);
  return [
    ...inputArgs(input),
    ...(hasVideo ? filterArgs(input) : []),
    ...plan.rungs.flatMap((rung, index) => [
      ...mapArgs(rung, index, plan, hasVideo),
      ...(hasVideo ? videoArgs(rung, input) : []),
      ...audioArgs(plan),
      ...fragmentArgs(input),
      `pipe:${firstFd + index}`,
    ]),
  ];
}

/**
 * Returns the arguments of the run that creates the rungs below a source that is fragmented without ffmpeg
 * (docs/decisions/live-packaging.md#lower-qualities). Timestamps are unchanged, so that the rungs align with
 * the source.
 */
export function scaledArgs(input: PackagerCommandInput): string[] {
  const { plan, firstFd } = input;
  const below = { ...input, plan: { ...plan, audio: 'copy' as const } };
  return [
    ...['-copyts', ...inputArgs(below)],
    ...filterArgs(input),
    ...plan.rungs
      .slice(1)
      .flatMap((rung, index) => [
        ...mapArgs(rung, index + 1, below.plan, true),
        ...videoArgs(rung, below),
        ...audioArgs(below.plan),
        ...['-avoid_negative_ts', 'disabled', '-use_editlist', '0'],
        ...fragmentArgs(input, '+frag_discont'),
        `pipe:${firstFd + index}`,
      ]),
  ];
}

/** Returns the arguments for fragments that are flushed when complete; each keyframe begins one. */
function fragmentArgs({ partSeconds }: PackagerCommandInput, flags = ''): string[] {
  return [
    ...['-max_muxing_queue_size', '1024', '-f', 'mp4', '-flush_packets', '1'],
    ...['-movflags', `+frag_keyframe+delay_moov+default_base_moof${flags}`],
    ...['-frag_duration', String(Math.round(partSeconds * 1_000_000))],
  ];
}

function inputArgs(input: PackagerCommandInput): string[] {
  const silent = input.plan.audio === 'silent';
  return [
    ...['-v', 'warning', '-nostdin', ...(input.hardware === null ? [] : deviceArgs(input.hardware))],
    ...['-fflags', '+genpts'],
    // Frames keep their timestamps: waiting for a reliable frame rate would cost a second.
    ...['-analyzeduration', '500000', '-probesize', '1000000', '-fpsprobesize', '0'],
    ...liveGuard(input.source),
    ...(silent ? ['-f', 'lavfi', '-i', 'anullsrc=r=48000:cl=stereo'] : []),
  ];
}

function encodedIndexes(plan: LadderPlan): number[] {
  return plan.rungs.flatMap((rung, index) => (rung.mode === 'encode' ? [index] : []));
}

function filterArgs({ plan, hardware, source }: PackagerCommandInput): string[] {
  const encoded = encodedIndexes(plan);
  if (encoded.length === 0) return [];
  const deinterlace = plan.deinterlaces ? 'bwdif=mode=send_frame:deint=interlaced,' : '';
  const cap = plan.capFps === null ? '' : `fps=${plan.capFps},`;
  const split = `[0:v:0]${deinterlace}${cap}split=${encoded.length}${encoded.map((index) => `[i${index}]`).join('')}`;
  const scales = encoded.map((index) => {
    const rung = plan.rungs[index];
    const upload = rung?.isHardware && hardware !== null ? uploadFilters(hardware.kind, false) : [];
    const filters = [
      `scale=${rung?.width}:${rung?.height}:flags=bicubic`,
      'format=yuv420p',
      ...describedColor(source),
      ...upload,
    ];
    return `[i${index}]${filters.join()}[o${index}]`;
  });
  return ['-filter_complex', [split, ...scales].join(';')];
}

/**
 * Tags all renditions with the colors of the source, because players guess the colors of an untagged
 * rendition by its size. For codecs other than H.264, ffmpeg knows the color description itself.
 */
function describedColor(source: SourceVideo | null): string[] {
  if (source === null || !/^avc/.test(source.codec ?? '') || source.width === 0) return [];
  const { width, height, color } = source;
  const names = color === undefined ? {} : colorNames(color);
  return [describeFilter(outputColor({ pixelFormat: 'yuv420p', range: 'SDR', width, height, ...names }))];
}

function mapArgs(rung: Rung, index: number, plan: LadderPlan, hasVideo: boolean): string[] {
  const audio = plan.audio === 'silent' ? '1:a:0' : '0:a:0';
  const video = rung.mode === 'encode' ? `[o${index}]` : '0:v:0';
  return [...(hasVideo ? ['-map', video] : []), '-map', audio];
}

function videoArgs(rung: Rung, input: PackagerCommandInput): string[] {
  if (rung.mode === 'copy') return ['-c:v', 'copy'];
  // Segments are cut at the source's keyframes if a rung is copied; otherwise at ours, equal in all rungs.
  const copied = input.plan.rungs.some((other) => other.mode === 'copy');
  const keyframes = copied ? 'source' : `expr:gte(t,n_forced*${input.segmentSeconds})`;
  const kbps = rung.videoKbps;
  const level = rung.level ?? '4.2';
  const { hardware } = input;
  const options: Record<string, string> = {
    ...(rung.isHardware && hardware !== null
      ? liveEncoderOptions(hardware.kind, level)
      : softwareOptions(level)),
    b: `${kbps}k`,
    maxrate: `${Math.round(kbps * 1.1)}k`,
    bufsize: `${Math.round(kbps * 1.5)}k`,
    // The source's own timestamps, so that all rungs have the same ones to the millisecond.
    fps_mode: 'passthrough',
    enc_time_base: input.sourceTimeBase,
    force_key_frames: keyframes,
    g: '9999',
  };
  return Object.entries(options).flatMap(([name, value]) => [`-${name}:v`, value]);
}

function softwareOptions(level: string): Record<string, string> {
  return {
    ...{ c: 'libx264', preset: 'veryfast', tune: 'zerolatency', profile: 'main', level },
    ...{ sc_threshold: '0', bf: '0', 'x264-params': 'scenecut=0:open-gop=0' },
  };
}

function audioArgs(plan: LadderPlan): string[] {
  if (plan.audio === 'copy') return ['-c:a', 'copy'];
  if (plan.audio === 'encode') return ['-c:a', 'aac', '-b:a', '128k', '-ar', '48000', '-ac', '2'];
  // The silence is endless: it stops with the video.
  return ['-c:a', 'aac', '-b:a', '32k', '-shortest'];
}
