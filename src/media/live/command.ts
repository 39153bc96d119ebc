import type { FfmpegAbilities } from '../ffmpeg/check.ts';
import { liveGuard } from '../ffmpeg/guard.ts';
import type { LadderPlan, Rung } from './ladder.ts';

export interface PackagerCommandInput {
  plan: LadderPlan;
  /** The picture that was announced; null without one. */
  source: { width: number; height: number } | null;
  segmentSeconds: number;
  sourceTimeBase: FfmpegAbilities['sourceTimeBase'];
  /** Holds one folder for each rung. */
  outDir: string;
}

/** Segments that the private playlist keeps: longer than any pause of the process that reads it. */
const PRIVATE_LIST_SIZE = 30;

/**
 * A keyframe that comes a few milliseconds before the boundary (encoders round timestamps) must still end
 * the segment, or the segment would last a whole keyframe interval more.
 */
const CUT_TOLERANCE_SECONDS = 0.05;

/**
 * Arguments of one packager run (docs/decisions/live-packaging.md#one-ffmpeg-for-each-stream), without the
 * program's name.
 */
export function packagerArgs(input: PackagerCommandInput): string[] {
  const { plan, outDir } = input;
  const hasVideo = plan.rungs.some((rung) => rung.videoCodec !== null);
  return [
    ...inputArgs(input),
    ...(hasVideo ? filterArgs(plan) : []),
    ...mapArgs(plan, hasVideo),
    ...plan.rungs.flatMap((rung, index) => (hasVideo ? videoArgs(rung, index, input) : [])),
    ...audioArgs(plan),
    ...['-max_muxing_queue_size', '1024', '-f', 'hls'],
    ...['-hls_time', String(input.segmentSeconds - CUT_TOLERANCE_SECONDS)],
    ...['-hls_list_size', String(PRIVATE_LIST_SIZE), '-hls_segment_type', 'fmp4'],
    // Old segments are deleted by us, after they have left the public window.
    ...['-hls_flags', 'independent_segments+temp_file+omit_endlist'],
    ...['-hls_fmp4_init_filename', 'init.mp4', '-hls_segment_filename', `${outDir}/%v/s_%06d.m4s`],
    ...['-var_stream_map', variantMap(plan, hasVideo), `${outDir}/%v/index.m3u8`],
  ];
}

function inputArgs(input: PackagerCommandInput): string[] {
  const silent = input.plan.audio === 'silent';
  return [
    ...['-v', 'warning', '-nostdin', '-fflags', '+genpts'],
    ...['-analyzeduration', '1500000', '-probesize', '1000000'],
    ...liveGuard(input.source),
    ...(silent ? ['-f', 'lavfi', '-i', 'anullsrc=r=48000:cl=stereo'] : []),
  ];
}

function encodedIndexes(plan: LadderPlan): number[] {
  return plan.rungs.flatMap((rung, index) => (rung.mode === 'encode' ? [index] : []));
}

function filterArgs(plan: LadderPlan): string[] {
  const encoded = encodedIndexes(plan);
  if (encoded.length === 0) return [];
  const cap = plan.capFps === null ? '' : `fps=${plan.capFps},`;
  const split = `[0:v:0]${cap}split=${encoded.length}${encoded.map((index) => `[i${index}]`).join('')}`;
  const scales = encoded.map((index) => {
    const rung = plan.rungs[index];
    return `[i${index}]scale=${rung?.width}:${rung?.height}:flags=bicubic,format=yuv420p[o${index}]`;
  });
  return ['-filter_complex', [split, ...scales].join(';')];
}

function mapArgs(plan: LadderPlan, hasVideo: boolean): string[] {
  const audio = plan.audio === 'silent' ? '1:a:0' : '0:a:0';
  return plan.rungs.flatMap((rung, index) => {
    const video = rung.mode === 'encode' ? `[o${index}]` : '0:v:0';
    return [...(hasVideo ? ['-map', video] : []), '-map', audio];
  });
}

function videoArgs(rung: Rung, index: number, input: PackagerCommandInput): string[] {
  if (rung.mode === 'copy') return [`-c:v:${index}`, 'copy'];
  // Next to a copied rung the cuts are the source's; without one they are ours, equal in all rungs.
  const copied = input.plan.rungs.some((other) => other.mode === 'copy');
  const keyframes = copied ? 'source' : `expr:gte(t,n_forced*${input.segmentSeconds})`;
  const kbps = rung.videoKbps;
  const options: Record<string, string> = {
    c: 'libx264',
    preset: 'veryfast',
    tune: 'zerolatency',
    profile: 'main',
    level: rung.level ?? '4.2',
    b: `${kbps}k`,
    maxrate: `${Math.round(kbps * 1.1)}k`,
    bufsize: `${Math.round(kbps * 1.5)}k`,
    // The source's own timestamps, so that all rungs have the same ones to the millisecond.
    fps_mode: 'passthrough',
    enc_time_base: input.sourceTimeBase,
    force_key_frames: keyframes,
    g: '9999',
    sc_threshold: '0',
    bf: '0',
    'x264-params': 'scenecut=0:open-gop=0',
  };
  return Object.entries(options).flatMap(([name, value]) => [`-${name}:v:${index}`, value]);
}

function audioArgs(plan: LadderPlan): string[] {
  if (plan.audio === 'copy') return ['-c:a', 'copy'];
  if (plan.audio === 'encode') return ['-c:a', 'aac', '-b:a', '128k', '-ar', '48000', '-ac', '2'];
  // The silence has no end of its own: it ends with the video.
  return ['-c:a', 'aac', '-b:a', '32k', '-shortest'];
}

function variantMap(plan: LadderPlan, hasVideo: boolean): string {
  return plan.rungs
    .map((rung, index) => `${hasVideo ? `v:${index},` : ''}a:${index},name:${rung.name}`)
    .join(' ');
}
