import type { Mode } from '../../../../kernel/access.ts';
import { PLANS, type Plan, TEST_MODE_HEIGHT } from '../../../../kernel/plans.ts';
import type { VideoCodec } from '../../../../kernel/video-codecs.ts';
import type { LadderPlan } from '../../../../media/contract/index.ts';

/**
 * Lines of the top rung: the plan's (docs/concepts/plans.md), and at most 720 in a test workspace
 * (docs/decisions/tenancy.md).
 */
export function topHeight(plan: Plan, mode: Mode): number {
  const { maxUploadHeight } = PLANS[plan];
  return mode === 'test' ? Math.min(maxUploadHeight, TEST_MODE_HEIGHT) : maxUploadHeight;
}

/** Returns the codecs besides H.264 that the plan includes and the machine can encode. */
export function additionalCodecs(plan: Plan, able: readonly VideoCodec[]): VideoCodec[] {
  return PLANS[plan].furtherCodecs ? able.filter((codec) => codec !== 'H264') : [];
}

/** Tasks that occupy a transcode slot. */
export const ENCODE_TASKS = ['FIRST', 'AUDIO', 'SPLIT', 'CHUNK', 'STITCH', 'REST'] as const;
export type EncodeTask = (typeof ENCODE_TASKS)[number];

/** Priorities within a plan: tasks after which a video is playable or complete come first. */
const TASK_PRIORITY: Readonly<Record<EncodeTask, number>> = {
  FIRST: 6,
  AUDIO: 0,
  SPLIT: 4,
  STITCH: 4,
  CHUNK: 0,
  REST: 0,
};

export function priorityOf(plan: Plan, task?: EncodeTask): number {
  return PLANS[plan].priority + (task === undefined ? 0 : TASK_PRIORITY[task]);
}

/**
 * Pixels that two cores scale and encode in a second (docs/decisions/transcoding.md#the-ladder: 69 CPU-s for 60
 * s of 1080p30 and below).
 */
const PIXELS_PER_SEC = 190e6;
/**
 * Wait from which the lowest rung is encoded first. Doing so costs another decode, a tenth of the total,
 * which only a long wait justifies (docs/decisions/transcoding.md#early-playback).
 */
const LONG_SEC = 120;
/**
 * Wait from which the lowest rung of a clip is encoded first: clips are meant to be shown immediately
 * (docs/decisions/clips.md#time-to-first-playback).
 */
const LONG_FOR_CLIP_SEC = 2;

/**
 * Reports whether the whole ladder takes long enough that its lowest rung is encoded first, for early
 * playback.
 */
export function isLong(
  ladder: LadderPlan,
  { durationSec, isClip }: Pick<ProcessingState, 'durationSec' | 'isClip'>,
): boolean {
  return ladder.rungs.length > 1 && waitSecOf(ladder, durationSec) > (isClip ? LONG_FOR_CLIP_SEC : LONG_SEC);
}

/** Estimates the seconds that two cores need for the rungs to encode. */
function waitSecOf({ rungs }: LadderPlan, durationSec: number): number {
  const rate = rungs
    .filter((rung) => !rung.isCopy)
    .reduce((sum, rung) => sum + rung.width * rung.height * rung.frameRate, 0);
  return (rate * durationSec) / PIXELS_PER_SEC;
}

/** A look costs some seconds of the processor: the whole of a short or small video does not take many more. */
const LOOK_MIN_SEC = 60;
const LOOK_MIN_WAIT_SEC = 45;

/** Reports whether the content should be analyzed now, and has not been analyzed yet. */
export function isWorthAnalyzing(task: EncodeTask, ladder: LadderPlan, durationSec: number): boolean {
  if (task !== 'REST' || ladder.keyframeSec !== undefined) return false;
  return durationSec >= LOOK_MIN_SEC && waitSecOf(ladder, durationSec) >= LOOK_MIN_WAIT_SEC;
}

/** State of a processing that determines the next steps. */
export interface ProcessingState {
  mode: 'WHOLE' | 'SPLIT' | 'CHUNKS';
  ladder: LadderPlan;
  durationSec: number;
  isClip: boolean;
  hasPoster: boolean;
  imagesDone: boolean;
  captionsDone: boolean;
  /** Names of the READY renditions. */
  ready: ReadonlySet<string>;
  chunks: readonly { number: number; isDone: boolean }[];
}

/** Folders have the revision in their names: that of a former one shows the former file. */
export function hasPosterOf(video: { image_folder: string | null; revision: number }): boolean {
  return video.image_folder?.startsWith(`r${video.revision}a`) ?? false;
}

/** Tasks of the images queue: only the poster, or all images. */
export const IMAGES_TASKS = ['POSTER', 'ALL'] as const;
export type ImagesTask = (typeof IMAGES_TASKS)[number];

export type NextStep =
  | { kind: 'PREPARE' }
  | { kind: 'IMAGES'; task: ImagesTask }
  | { kind: 'CAPTIONS' }
  | { kind: 'ENCODE'; task: EncodeTask; chunk: number | null };

/** Reports whether a video is READY without a step: all images but the poster, which are shown when they are there. */
export function isOptional(
  step: NextStep,
  video: { image_folder: string | null; revision: number },
): boolean {
  return step.kind === 'IMAGES' && step.task === 'ALL' && hasPosterOf(video);
}

/**
 * Returns the steps that can run now. A step that already waits or runs is included again: the queue does not
 * add it twice. When there are none, the video is READY.
 */
export function nextSteps(standing: ProcessingState): NextStep[] {
  const { ladder, ready, captionsDone } = standing;
  if (ladder.rungs.some((rung) => rung.isCopy && !ready.has(rung.name))) return [{ kind: 'PREPARE' }];
  return [
    ...imageSteps(standing),
    ...(captionsDone ? [] : [{ kind: 'CAPTIONS' as const }]),
    ...encodeSteps(standing).map((step) => ({ kind: 'ENCODE' as const, chunk: null, ...step })),
  ];
}

/**
 * Returns the image steps. Images come with the first run that decodes the whole file; a video that is
 * playable earlier, or takes long, gets a poster immediately.
 */
function imageSteps(standing: ProcessingState): NextStep[] {
  const { mode, ladder, ready, hasPoster, imagesDone } = standing;
  if (imagesDone) return [];
  const isPlayable = ladder.rungs.some((rung) => ready.has(rung.name));
  const isWhole = ladder.rungs.every((rung) => ready.has(rung.name));
  if (isWhole || (isPlayable && mode !== 'WHOLE')) return [{ kind: 'IMAGES', task: 'ALL' }];
  if (hasPoster) return [];
  return isPlayable || isLong(ladder, standing) ? [{ kind: 'IMAGES', task: 'POSTER' }] : [];
}

interface EncodeStep {
  task: EncodeTask;
  chunk?: number;
}

function encodeSteps(standing: ProcessingState): EncodeStep[] {
  const { ladder, ready } = standing;
  const pictures = ladder.rungs.every((rung) => ready.has(rung.name)) ? [] : videoSteps(standing);
  // The default audio comes with the first video renditions.
  const isWhole = ladder.audio.slice(1).every(({ name }) => ready.has(name));
  return isWhole ? pictures : [...pictures, { task: 'AUDIO' }];
}

function videoSteps(standing: ProcessingState): EncodeStep[] {
  const { mode, ladder, ready, chunks } = standing;
  const isPlayable = ladder.rungs.some((rung) => ready.has(rung.name));
  // The chunks have no audio: it is encoded with the first rung.
  if (!isPlayable && (mode !== 'WHOLE' || isLong(ladder, standing))) return [{ task: 'FIRST' }];
  if (mode === 'WHOLE') return [{ task: 'REST' }];
  if (mode === 'SPLIT') return [{ task: 'SPLIT' }];
  const open = chunks.filter((chunk) => !chunk.isDone);
  if (open.length === 0) return [{ task: 'STITCH' }];
  return open.map((chunk) => ({ task: 'CHUNK', chunk: chunk.number }));
}
