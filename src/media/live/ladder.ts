import type { AudioInfo, LiveIssue, PublishGrant, VideoInfo } from '../contract/index.ts';
import type { FfmpegCapabilities } from '../ffmpeg/check.ts';
import { h264Codec, h264Level } from './h264.ts';

/** Variant of the public master. The top one is always named `src`. */
export interface Rung {
  name: string;
  mode: 'copy' | 'encode';
  /** 0 by 0 for audio only. */
  width: number;
  height: number;
  /** RFC 6381; null for audio only. */
  videoCodec: string | null;
  /** Target of an encoded rung; 0 for a copied one, whose rate is measured. */
  videoKbps: number;
  /** Set for an encoded rung, such as `3.1`. */
  level: string | null;
  /** Encoded by the hardware of the node. */
  isHardware?: true;
}

export interface LadderPlan {
  /** Best first. */
  rungs: Rung[];
  audio: 'copy' | 'encode' | 'silent';
  /** 0 while it is not known. */
  fps: number;
  /** Frame rate limit; set when frames must be dropped. */
  capFps: number | null;
  /** Encoded rungs are deinterlaced. */
  deinterlaces?: true;
  issues: LiveIssue[];
  /** Estimated load in CPU cores; 0 when nothing is decoded. */
  cores: number;
  /** The source is fragmented without ffmpeg; fails when it cannot be stored in fragments. */
  isDirect?: true;
}

export interface LadderInput {
  video?: VideoInfo | undefined;
  audio?: AudioInfo | undefined;
  grant: PublishGrant;
  /** `LIVE_MAX_RUNGS`: scaled rungs below the source; 0 is copy only. */
  maxRungs: number;
  /** Free capacity of the node, in CPU cores. */
  coresLeft: number;
  /** Free hardware sessions, one for each rung; 0 without hardware. */
  sessionsLeft?: number;
  abilities: Pick<FfmpegCapabilities, 'enhancedFlv' | 'enhancedFlv2'>;
  /** More than 4 s between keyframes: the copy would make long segments, so the top is encoded if possible. */
  longKeyframeInterval: boolean;
}

export type LadderResult =
  | { ok: true; plan: LadderPlan }
  | { ok: false; issue: 'NO_TRANSCODE_CAPACITY' | 'UNSUPPORTED_CODEC' };

/** Lines of the shorter side and their target at up to 30 frames per second. */
const STEPS = [
  { lines: 2160, kbps: 14_000 },
  { lines: 1440, kbps: 8000 },
  { lines: 1080, kbps: 4500 },
  { lines: 720, kbps: 2800 },
  { lines: 480, kbps: 1200 },
  { lines: 360, kbps: 700 },
] as const;

/** Tolerance of frame rates: a measured 60.2 counts as 60. */
const FPS_TOLERANCE = 1;
/** Assumed frame rate when unknown: the highest that a live stream may have. */
const UNKNOWN_FPS = 60;

/**
 * Chooses the rungs of a publish (docs/decisions/live-packaging.md#the-source). The source passes through
 * when players of its codec play it and it is within the plan's limits; otherwise the top rung is a
 * transcode, or the publish is rejected when the node lacks the capacity.
 */
export function planLadder(input: LadderInput): LadderResult {
  const { video } = input;
  const isReadHere = isReadable(input, input.abilities);
  const forced = video === undefined ? [] : forcedIssues(input, video);
  const isWithin = forced.every((issue) => issue === 'CODEC_TRANSCODED');
  const canCopy = isWithin && (isPlayed(input) || (isReadHere && forced.length === 0));
  if (!isReadHere && !canCopy) return { ok: false, issue: 'UNSUPPORTED_CODEC' };
  if (video === undefined || !isReadHere) return { ok: true, plan: copiedPlan(input, isReadHere) };
  const encoded = encodedPlan(input, video, forced);
  // A long keyframe interval justifies a transcode only when the node has capacity: the copy still plays.
  const isCopied = canCopy && !(input.longKeyframeInterval && encoded !== null);
  const plan = isCopied ? copiedPlan(input, isReadHere) : encoded;
  return plan === null ? { ok: false, issue: 'NO_TRANSCODE_CAPACITY' } : { ok: true, plan };
}

/** Plans passthrough of the source, and the rungs that can be encoded in addition. */
function copiedPlan(input: LadderInput, isReadHere: boolean): LadderPlan {
  const { video, audio } = input;
  const fps = video?.fps ?? 0;
  const beside = video === undefined || !isReadHere ? [] : additionalRungs(input, video);
  return {
    rungs: [copiedRung(video), ...beside],
    audio: audioMode(audio, PLAYED_AUDIO),
    fps,
    capFps: null,
    ...(video?.isInterlaced ? { deinterlaces: true } : {}),
    issues: [
      ...codecIssues(input, beside.length > 0),
      ...(video?.isInterlaced ? (['INTERLACED'] as const) : []),
      ...keyframeIssues(input),
    ],
    cores: video === undefined || beside.length === 0 ? 0 : decodeCores(video) + sumCores(beside, fps),
    ...(isReadHere && isUniversallyPlayable(input) ? {} : { isDirect: true }),
  };
}

/** Plans one ffmpeg for all rungs, including the top; null when the node lacks the capacity. */
function encodedPlan(input: LadderInput, video: VideoInfo, forced: readonly LiveIssue[]): LadderPlan | null {
  const { grant, sessionsLeft = 0 } = input;
  const capFps = forced.includes('FRAME_RATE_CAPPED') ? grant.maxFps : null;
  const fps = capFps ?? video.fps;
  const lines = Math.min(shorterSide(video), grant.maxHeight);
  if (lines === 0) return null;
  const top = inHardware([encodedRung('src', video, lines, fps)], sessionsLeft);
  const coresLeft = input.coresLeft - decodeCores(video) - sumCores(top, fps);
  if (coresLeft < 0) return null;
  const room = { coresLeft, sessionsLeft: sessionsLeft - top.filter(encodesInHardware).length };
  const rungs = [...top, ...scaledRungs({ ...input, ...room }, video, lines, fps)];
  return {
    rungs,
    audio: audioMode(input.audio, AAC),
    fps,
    capFps,
    ...(video.isInterlaced ? { deinterlaces: true } : {}),
    issues: [...forced, ...keyframeIssues(input)],
    cores: decodeCores(video) + sumCores(rungs, fps),
  };
}

/**
 * Returns a key that differs when two plans for the same media need different ffmpeg runs. The frame rate is
 * left out: it becomes known two seconds after the start, and then only the master changes. The scaled rungs
 * are left out as well: a change in the node's load does not justify a discontinuity.
 */
export function planKey(plan: LadderPlan): string {
  const [top] = plan.rungs;
  return `${top?.mode} ${top?.width}x${top?.height} ${plan.audio} ${plan.capFps ?? 'source-fps'}`;
}

/** Returns the running plan, updated with source properties learned since. */
export function updatePlan(
  running: LadderPlan,
  latest: LadderPlan,
  video: VideoInfo | undefined,
): LadderPlan {
  const { fps } = latest;
  // Codec issues depend on the running rungs.
  const issues = [...running.issues.filter(isOfCodec), ...latest.issues.filter((issue) => !isOfCodec(issue))];
  if (!video || running.cores === 0) return { ...running, fps, issues };
  const encoded = running.rungs.filter((rung) => rung.mode === 'encode');
  return { ...running, fps, issues, cores: decodeCores(video) + sumCores(encoded, fps) };
}

function forcedIssues(input: LadderInput, video: VideoInfo): LiveIssue[] {
  const isH264 = isBrowserH264(video.codec);
  const issues: LiveIssue[] = isH264 ? [] : ['CODEC_TRANSCODED'];
  if (shorterSide(video) > input.grant.maxHeight) issues.push('RESOLUTION_CAPPED');
  if (video.fps > input.grant.maxFps + FPS_TOLERANCE) issues.push('FRAME_RATE_CAPPED');
  if (video.lacksKeyframes && isReadable(input, input.abilities)) {
    issues.push(video.hasOpenGop ? 'OPEN_GOP' : 'NO_KEYFRAMES');
  }
  return issues;
}

/**
 * Returns the codec issues of a passthrough source: browsers that cannot play it get the encoded rungs, with
 * the same audio.
 */
function codecIssues(input: LadderInput, hasOthers: boolean): LiveIssue[] {
  const isPlain = isUniversallyPlayable(input);
  const isForAll = (isPlain || hasOthers) && input.audio?.codec !== 'opus';
  return [
    ...(isPlain || !hasOthers ? [] : ['CODEC_TRANSCODED' as const]),
    ...(isForAll ? [] : ['CODEC_NOT_EVERYWHERE' as const]),
  ];
}

function isOfCodec(issue: LiveIssue): boolean {
  return issue === 'CODEC_TRANSCODED' || issue === 'CODEC_NOT_EVERYWHERE';
}

function keyframeIssues({ longKeyframeInterval }: LadderInput): LiveIssue[] {
  return longKeyframeInterval ? ['KEYFRAME_INTERVAL'] : [];
}

/**
 * Reports whether browsers play the H.264 profile. Baseline, Main and High are 8-bit 4:2:0; Extended, High
 * 10, 4:2:2 and 4:4:4 are not supported.
 */
function isBrowserH264(codec: string): boolean {
  return /^avc[13]\.(42|4d|64)/i.test(codec);
}

/** Reports whether the codecs are accepted and readable by this ffmpeg. */
export function isReadable(
  { video, audio }: Pick<LadderInput, 'video' | 'audio'>,
  abilities: LadderInput['abilities'],
): boolean {
  return canRead(VIDEO_CODECS, video, abilities) && canRead(AUDIO_CODECS, audio, abilities);
}

/** Main profiles: 8 or 10 bits and 4:2:0, which players of each codec play. */
const PLAYED_VIDEO = /^(avc1\.(42|4d|64)|h(vc|ev)1\.[12]\.|av01\.0\.|vp09\.0[02]\.)/i;
const PLAYED_AUDIO = /^(mp4a\.40|opus$)/;

const AAC = /^mp4a\.40/;

/** Reports whether players that have its codecs can play the source unchanged. */
function isPlayed({ video, audio }: LadderInput): boolean {
  return (
    (video === undefined || PLAYED_VIDEO.test(video.codec)) &&
    (audio === undefined || PLAYED_AUDIO.test(audio.codec))
  );
}

/** Reports whether every browser can decode the video. */
function isUniversallyPlayable({ video }: LadderInput): boolean {
  return video === undefined || isBrowserH264(video.codec);
}

type Ability = keyof LadderInput['abilities'];

interface AcceptedCodec {
  codec: RegExp;
  /** Capability of ffmpeg needed to read it from enhanced RTMP. */
  enhanced: Ability;
  /** Plain RTMP supports it too. */
  isPlain: boolean;
}

/** Video codecs accepted for a publish. */
const VIDEO_CODECS: readonly AcceptedCodec[] = [
  { codec: /^avc[13]/, enhanced: 'enhancedFlv2', isPlain: true },
  { codec: /^(hvc1|hev1|av01|vp09)/, enhanced: 'enhancedFlv', isPlain: false },
];
const AUDIO_CODECS: readonly AcceptedCodec[] = [
  { codec: /^(mp4a|\.?mp3$)/, enhanced: 'enhancedFlv2', isPlain: true },
  { codec: /^opus$/, enhanced: 'enhancedFlv2', isPlain: false },
];

function canRead(
  accepted: readonly AcceptedCodec[],
  media: VideoInfo | AudioInfo | undefined,
  abilities: LadderInput['abilities'],
): boolean {
  if (media === undefined) return true;
  const found = accepted.find(({ codec }) => codec.test(media.codec));
  if (found === undefined) return false;
  return media.isEnhanced ? abilities[found.enhanced] : found.isPlain;
}

function audioMode(audio: AudioInfo | undefined, copied: RegExp): LadderPlan['audio'] {
  if (!audio) return 'silent';
  return copied.test(audio.codec) ? 'copy' : 'encode';
}

/**
 * Plans the rungs that one ffmpeg encodes in addition to a copied source: if not every browser plays the
 * source, the first is the same size in H.264.
 */
function additionalRungs(input: LadderInput, video: VideoInfo): Rung[] {
  const { fps } = video;
  const { maxRungs, sessionsLeft = 0 } = input;
  const lines = shorterSide(video);
  if (maxRungs === 0 || lines === 0) return [];
  const coresLeft = input.coresLeft - decodeCores(video);
  const wanted = isUniversallyPlayable(input) ? [] : [encodedRung(String(lines), video, lines, fps)];
  const same = inHardware(wanted, sessionsLeft);
  const taken = sumCores(same, fps) <= coresLeft ? same : [];
  const room = {
    coresLeft: coresLeft - sumCores(taken, fps),
    sessionsLeft: sessionsLeft - taken.filter(encodesInHardware).length,
  };
  return [...taken, ...scaledRungs({ ...input, ...room }, video, lines, fps)];
}

/** Selects up to `maxRungs` rungs that fit, spread over the available ones so that the lowest helps. */
function scaledRungs(input: LadderInput, video: VideoInfo, topLines: number, fps: number): Rung[] {
  const below = STEPS.filter((step) => step.lines < topLines && step.lines <= 1440);
  for (let count = Math.min(input.maxRungs, below.length); count > 0; count -= 1) {
    const steps = spread(below, count).map((step) => encodedRung(String(step.lines), video, step.lines, fps));
    const rungs = inHardware(steps, input.sessionsLeft ?? 0);
    if (sumCores(rungs, fps) <= input.coresLeft) return rungs;
  }
  return [];
}

function spread<T>(items: readonly T[], count: number): T[] {
  const picked = Array.from({ length: count }, (_, i) =>
    Math.round(((i + 0.5) * items.length) / count - 0.5),
  );
  return items.filter((_, index) => picked.includes(index));
}

function copiedRung(video: VideoInfo | undefined): Rung {
  const { codec = null, width = 0, height = 0 } = video ?? {};
  return { name: 'src', mode: 'copy', width, height, videoCodec: codec, videoKbps: 0, level: null };
}

function encodedRung(name: string, video: VideoInfo, lines: number, fps: number): Rung {
  const scale = lines / shorterSide(video);
  const width = even(video.width * scale);
  const height = even(video.height * scale);
  const rate = fps || UNKNOWN_FPS;
  const level = h264Level(width, height, rate);
  return {
    name,
    mode: 'encode',
    width,
    height,
    videoCodec: h264Codec('main', level),
    videoKbps: Math.round(kbpsFor(lines) * (rate > 30 ? 1.4 : 1)),
    level,
  };
}

function kbpsFor(lines: number): number {
  return STEPS.find((step) => step.lines <= lines)?.kbps ?? 500;
}

/** Returns 0 when the size is unknown: VP9 headers may omit it. */
function shorterSide(size: { width: number; height: number }): number {
  return Math.min(size.width, size.height);
}

function even(value: number): number {
  return Math.max(2, Math.round(value / 2) * 2);
}

/**
 * Fitted to the measured costs of docs/decisions/live-packaging.md#all-in-one-ffmpeg: 0.09 cores
 * decode 1080p30.
 */
function decodeCores(video: VideoInfo): number {
  return 0.0434 * megapixels(video) * ((video.fps || UNKNOWN_FPS) / 30);
}

/**
 * Fitted to the same table: 360p30 0.09, 480p30 0.14, 720p30 0.26, 1080p30 0.45 cores (veryfast). What the hardware encodes
 * is scaled by the processor.
 */
function encodeCores(rung: Rung, fps: number): number {
  const [base, perMegapixel] = rung.isHardware ? [0.02, 0.07] : [0.05, 0.2];
  return (base + perMegapixel * megapixels(rung)) * ((fps || UNKNOWN_FPS) / 30);
}

/** Assigns rungs to the hardware sessions, the largest first: they cost the CPU most. */
function inHardware(rungs: readonly Rung[], sessions: number): Rung[] {
  return rungs.map((rung, index) => (index < sessions ? { ...rung, isHardware: true } : rung));
}

export function encodesInHardware({ isHardware }: Rung): boolean {
  return isHardware === true;
}

/**
 * Returns the plan without hardware, which has failed. The rungs stay, even when they exceed the node's
 * capacity.
 */
export function toSoftwarePlan(plan: LadderPlan): LadderPlan {
  const rungs = plan.rungs.map(({ isHardware: _, ...rung }) => rung);
  const encoded = (list: readonly Rung[]) => list.filter((rung) => rung.mode === 'encode');
  const more = sumCores(encoded(rungs), plan.fps) - sumCores(encoded(plan.rungs), plan.fps);
  return { ...plan, rungs, cores: plan.cores + more };
}

function sumCores(rungs: readonly Rung[], fps: number): number {
  return rungs.reduce((sum, rung) => sum + encodeCores(rung, fps), 0);
}

function megapixels(size: { width: number; height: number }): number {
  return (size.width * size.height) / 1e6;
}
