import type { AudioInfo, LiveIssue, PublishGrant, VideoInfo } from '../contract/index.ts';
import type { FfmpegCapabilities } from '../ffmpeg/check.ts';
import { h264Codec, h264Level } from './h264.ts';

/** One variant of the public master. The top one is always named `src`. */
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
  /** Set when frames must be dropped to the ceiling. */
  capFps: number | null;
  /** Encoded rungs are made of frames without fields. */
  deinterlaces?: true;
  issues: LiveIssue[];
  /** Estimated load in CPU cores; 0 when nothing is decoded. */
  cores: number;
  /** The source is put into fragments without an ffmpeg, and given up where it has no place in them. */
  isDirect?: true;
}

export interface LadderInput {
  video?: VideoInfo | undefined;
  audio?: AudioInfo | undefined;
  grant: PublishGrant;
  /** `LIVE_MAX_RUNGS`: scaled rungs below the source; 0 is copy only. */
  maxRungs: number;
  /** What the node has left, in CPU cores. */
  coresLeft: number;
  /** Rungs that its hardware still encodes; 0 without any. */
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

/** A measured 60.2 is still 60. */
const FPS_TOLERANCE = 1;
/** An unknown frame rate is taken as the highest that a live stream may have. */
const UNKNOWN_FPS = 60;

/**
 * Chooses the rungs of a publish (docs/decisions/live-packaging.md#the-source). The source is shown as it comes where
 * players of its codec play it and it is within the plan's ceiling; otherwise the top rung is a transcode, or the publish
 * is refused when the node cannot do that.
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
  // A long keyframe interval is worth a transcode only when the node has room: the copy still plays.
  const isCopied = canCopy && !(input.longKeyframeInterval && encoded !== null);
  const plan = isCopied ? copiedPlan(input, isReadHere) : encoded;
  return plan === null ? { ok: false, issue: 'NO_TRANSCODE_CAPACITY' } : { ok: true, plan };
}

/** The source as it comes, and what can be made beside it. */
function copiedPlan(input: LadderInput, isReadHere: boolean): LadderPlan {
  const { video, audio } = input;
  const fps = video?.fps ?? 0;
  const beside = video === undefined || !isReadHere ? [] : rungsBeside(input, video);
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
    ...(isReadHere && hasPlainPicture(input) ? {} : { isDirect: true }),
  };
}

/** All in one ffmpeg, the top as well; null when the node has no room for that. */
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
 * What makes two plans for the same media different runs of ffmpeg. The frame rate is left out: it becomes
 * known two seconds after the start, and then only the master changes. So are the scaled rungs: what else the
 * node has to do since then is no reason for a discontinuity.
 */
export function planKey(plan: LadderPlan): string {
  const [top] = plan.rungs;
  return `${top?.mode} ${top?.width}x${top?.height} ${plan.audio} ${plan.capFps ?? 'source-fps'}`;
}

/** The running plan, with what has been learnt of the source since. */
export function updatePlan(
  running: LadderPlan,
  latest: LadderPlan,
  video: VideoInfo | undefined,
): LadderPlan {
  const { fps } = latest;
  // Who can play it goes by the rungs that run.
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

/** Of a source that is shown as it comes: who cannot play it is shown what is made beside it, with the same sound. */
function codecIssues(input: LadderInput, hasOthers: boolean): LiveIssue[] {
  const isPlain = hasPlainPicture(input);
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

/** Baseline, Main and High are 8-bit 4:2:0; Extended, High 10, 4:2:2 and 4:4:4 are not played by browsers. */
function isBrowserH264(codec: string): boolean {
  return /^avc[13]\.(42|4d|64)/i.test(codec);
}

/** May be published, and this ffmpeg can read it. */
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

/** Players that have its codecs play it as it comes. */
function isPlayed({ video, audio }: LadderInput): boolean {
  return (
    (video === undefined || PLAYED_VIDEO.test(video.codec)) &&
    (audio === undefined || PLAYED_AUDIO.test(audio.codec))
  );
}

/** Every browser has a decoder of its picture. */
function hasPlainPicture({ video }: LadderInput): boolean {
  return video === undefined || isBrowserH264(video.codec);
}

type Ability = keyof LadderInput['abilities'];

interface AcceptedCodec {
  codec: RegExp;
  /** What ffmpeg needs to read it from enhanced RTMP. */
  enhanced: Ability;
  /** Plain RTMP has it too. */
  isPlain: boolean;
}

/** All that may be published. */
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

/** What one ffmpeg makes beside a copied source: where not every browser plays that, first the same in H.264. */
function rungsBeside(input: LadderInput, video: VideoInfo): Rung[] {
  const { fps } = video;
  const { maxRungs, sessionsLeft = 0 } = input;
  const lines = shorterSide(video);
  if (maxRungs === 0 || lines === 0) return [];
  const coresLeft = input.coresLeft - decodeCores(video);
  const wanted = hasPlainPicture(input) ? [] : [encodedRung(String(lines), video, lines, fps)];
  const same = inHardware(wanted, sessionsLeft);
  const taken = sumCores(same, fps) <= coresLeft ? same : [];
  const room = {
    coresLeft: coresLeft - sumCores(taken, fps),
    sessionsLeft: sessionsLeft - taken.filter(encodesInHardware).length,
  };
  return [...taken, ...scaledRungs({ ...input, ...room }, video, lines, fps)];
}

/** Takes as many rungs as are wanted and fit, spread over those that exist so that the lowest helps. */
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

/** 0 where it is not known: VP9 need not say it. */
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

/** As many as there is room for, the largest first: they cost the processor most. */
function inHardware(rungs: readonly Rung[], sessions: number): Rung[] {
  return rungs.map((rung, index) => (index < sessions ? { ...rung, isHardware: true } : rung));
}

export function encodesInHardware({ isHardware }: Rung): boolean {
  return isHardware === true;
}

/** The same plan without hardware, which has failed. The rungs stay, also where they are more than the node has room for. */
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
