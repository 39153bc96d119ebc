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
  /** Seconds that the sound begins before the pictures. */
  lead: number;
  /** The end that its header promises is missing. */
  isCutShort: boolean;
}

const MAX_COPY_GAP_SEC = 6;
const MAX_COPY_BITRATE_SHARE = 1.5;
/** Small pictures may have more than they need: everybody who watches can take so much. */
const ALWAYS_COPIED_BITRATE = 2_000_000;
const MAX_LEAD_SEC = 0.2;
/** For so long the last picture of a copy is held. */
export const MAX_HOLD_SEC = 0.5;
/** Segments begin at keyframes: longer ones make seeking slow. */
const MAX_SPLIT_GAP_SEC = 10;
const SPLITTABLE = ['h264', 'hevc', 'vp8', 'vp9', 'av1'];
const COPYABLE_PROFILES = ['Constrained Baseline', 'Baseline', 'Main', 'High'];
/** Settings may change on the way there, which nothing in the container tells. */
const UNDECLARED_SETTINGS = ['mpegts', 'mpeg', 'avi'];

/**
 * Why the top rung cannot be copied (docs/decisions/transcoding.md#copying-the-top-rendition), or null when it
 * can.
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
    // Its last picture may be half of one.
    [facts.isCutShort, 'incomplete'],
    [(video.bitrate ?? 0) > maxCopyBitrate(video), 'bitrate'],
  ];
  return reasons.find(([applies]) => applies)?.[1] ?? cutRefusal(facts);
}

/** Its pictures and sound are to its end what its header says they are. */
export function declaresSettings(container: string): boolean {
  return !UNDECLARED_SETTINGS.includes(container);
}

function maxCopyBitrate(video: SourceInfo['video']): number {
  return Math.max(ALWAYS_COPIED_BITRATE, MAX_COPY_BITRATE_SHARE * targetBitrate(video, video.frameRate));
}

/** Why the file cannot be cut at keyframes and joined again, or null when it can. */
export function splitIneligibleReason(facts: SourceProperties): string | null {
  const { info, scan, stream } = facts;
  const { codec, isVariableFrameRate } = info.video;
  if (!SPLITTABLE.includes(codec)) return 'codec';
  if (isVariableFrameRate) return 'variable frame rate';
  if (isTurned(stream)) return 'rotation';
  // A packet may hold half a picture there.
  if (info.video.isInterlaced) return 'interlaced';
  if (scan.maxKeyframeGapSec > MAX_SPLIT_GAP_SEC) return 'keyframe distance';
  return cutRefusal(facts);
}

/** The container says how to turn or mirror the pictures, which neither pieces nor segments keep. */
function isTurned({ side_data_list: list = [] }: ProbedStream): boolean {
  return list.some(({ rotation }) => rotation !== undefined);
}

function cutRefusal({ info, scan, lead }: SourceProperties): string | null {
  const { durationSec, video } = info;
  if (!scan.hasAllTimestamps) return 'timestamps';
  if (!scan.beginsWithKeyframe) return 'begins without a keyframe';
  if (scan.hasOpenGop) return 'open groups of pictures';
  if (scan.isEdited) return 'edited';
  if (lead > MAX_LEAD_SEC) return 'sound begins before the pictures';
  if (durationSec - (video.span?.endSec ?? durationSec) > MAX_HOLD_SEC)
    return 'pictures end before the sound';
  return null;
}
