import { MAX_UPLOAD_FPS } from '../../kernel/plans.ts';
import type { SourceInfo } from '../contract/index.ts';
import { conversionOptions } from '../ffmpeg/color.ts';
import { aspectRatio, type ProbedStream } from './ffprobe.ts';
import { targetBitrate } from './plan.ts';
import type { PacketScan } from './scan.ts';
import { tagsOf } from './source-filters.ts';

export interface SourceProperties {
  info: SourceInfo;
  scan: PacketScan;
  stream: ProbedStream;
  container: string;
  /** Seconds by which the audio starts before the video. */
  lead: number;
  /** Whether the file is shorter than its header declares. */
  isCutShort: boolean;
}

const MAX_COPY_GAP_SEC = 6;
const MAX_COPY_BITRATE_SHARE = 1.5;
/**
 * Bitrate that is always copied: low resolutions may exceed their target, because every viewer can receive
 * this much.
 */
const ALWAYS_COPIED_BITRATE = 2_000_000;
const MAX_LEAD_SEC = 0.2;
/** Maximum time for which the last frame of a copy is held. */
export const MAX_HOLD_SEC = 0.5;
/** Maximum keyframe distance for chunks: segments begin at keyframes, and longer ones make seeking slow. */
const MAX_SPLIT_GAP_SEC = 10;
const SPLITTABLE = ['h264', 'hevc', 'vp8', 'vp9', 'av1'];
const COPYABLE_PROFILES = ['Constrained Baseline', 'Baseline', 'Main', 'High'];
/** Containers that do not declare setting changes within the file. */
const UNDECLARED_SETTINGS = ['mpegts', 'mpeg', 'avi'];

/**
 * Returns the reason why the top rung cannot be copied
 * (docs/decisions/transcoding.md#copying-the-top-rendition); null when it can.
 */
export function copyIneligibleReason(facts: SourceProperties): string | null {
  const { info, scan, stream, container } = facts;
  const { video } = info;
  const reasons: [boolean, string][] = [
    [video.codec !== 'h264', 'codec'],
    [video.pixelFormat !== 'yuv420p', 'pixel format'],
    [!COPYABLE_PROFILES.includes(video.profile ?? ''), 'profile'],
    [video.isInterlaced || video.range !== 'SDR', 'interlaced or HDR'],
    [isTurned(stream), 'rotation'],
    [aspectRatio(stream.sample_aspect_ratio) !== 1, 'pixels are not square'],
    [conversionOptions(tagsOf(video)).length > 0, 'colors'],
    [!declaresSettings(container), 'container'],
    [video.frameRate > MAX_UPLOAD_FPS + 1, 'frame rate'],
    [scan.maxKeyframeGapSec > MAX_COPY_GAP_SEC, 'keyframe distance'],
    // The last frame may be truncated.
    [facts.isCutShort, 'incomplete'],
    [(video.bitrate ?? 0) > maxCopyBitrate(video), 'bitrate'],
  ];
  return reasons.find(([applies]) => applies)?.[1] ?? cutIneligibleReason(facts);
}

/** Reports whether the settings in the header hold to the end of the file. */
export function declaresSettings(container: string): boolean {
  return !UNDECLARED_SETTINGS.includes(container);
}

function maxCopyBitrate(video: SourceInfo['video']): number {
  return Math.max(ALWAYS_COPIED_BITRATE, MAX_COPY_BITRATE_SHARE * targetBitrate(video, video.frameRate));
}

/** Returns the reason why the file cannot be split at keyframes and joined again; null when it can. */
export function splitIneligibleReason(facts: SourceProperties): string | null {
  const { info, scan, stream } = facts;
  const { codec, isVariableFrameRate } = info.video;
  if (!SPLITTABLE.includes(codec)) return 'codec';
  if (isVariableFrameRate) return 'variable frame rate';
  if (isTurned(stream)) return 'rotation';
  // A packet may hold a single field.
  if (info.video.isInterlaced) return 'interlaced';
  if (scan.maxKeyframeGapSec > MAX_SPLIT_GAP_SEC) return 'keyframe distance';
  return cutIneligibleReason(facts);
}

/** Reports whether the container rotates or mirrors the video, which neither chunks nor segments preserve. */
function isTurned({ side_data_list: list = [] }: ProbedStream): boolean {
  return list.some(({ rotation }) => rotation !== undefined);
}

function cutIneligibleReason({ info, scan, lead }: SourceProperties): string | null {
  const { durationSec, video } = info;
  if (!scan.hasAllTimestamps) return 'timestamps';
  if (!scan.beginsWithKeyframe) return 'begins without a keyframe';
  if (scan.hasOpenGop) return 'open GOPs';
  if (scan.isEdited) return 'edited';
  if (lead > MAX_LEAD_SEC) return 'audio begins before the video';
  if (durationSec - (video.span?.endSec ?? durationSec) > MAX_HOLD_SEC) return 'video ends before the audio';
  return null;
}
