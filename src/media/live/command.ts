import type { VideoInfo } from '../contract/index.ts';
import type { FfmpegCapabilities } from '../ffmpeg/check.ts';
import { colorNames, describeFilter, outputColor } from '../ffmpeg/color.ts';
import { liveGuard } from '../ffmpeg/guard.ts';
import { deviceArgs, type Hardware, liveEncoderOptions, uploadFilters } from '../ffmpeg/hardware.ts';
import type { LadderPlan, Rung } from './ladder.ts';

/** The video of a publish as its header describes it. */
export type SourceVideo = Pick<VideoInfo, 'width' | 'height'> & Partial<Pick<VideoInfo, 'codec' | 'color'>>;

export interface PackagerCommandInput {
  plan: LadderPlan;
  /** The picture that was announced; null without one. */
  source: SourceVideo | null;
  segmentSeconds: number;
  /** How long a part is, but for the last before a keyframe. */
  partSeconds: number;
  sourceTimeBase: FfmpegCapabilities['sourceTimeBase'];
  /** Encodes the rungs that the plan has for it. */
  hardware: Hardware | null;
  /** The pipe that the first rung is written to; the others follow. */
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
 * Arguments of the run that makes the rungs below a source that is put into fragments without an ffmpeg
 * (docs/decisions/live-packaging.md#lower-qualities). Times stay as they come, so that the rungs fit the source.
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

/** Fragments are handed over as soon as they are whole; each keyframe begins one. */
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
    // Frames keep their own times: to wait until their rate is certain costs a second.
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
 * Players guess the colors of an untagged rendition by its own size, so all renditions say what holds for the source. ffmpeg
 * knows what other codecs than H.264 say of themselves.
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
  // Next to a copied rung the cuts are the source's; without one they are ours, equal in all rungs.
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
  // The silence has no end of its own: it ends with the video.
  return ['-c:a', 'aac', '-b:a', '32k', '-shortest'];
}
