import type { SourceInfo } from '../contract/index.ts';
import {
  CONVERTED_FORMATS,
  type ColorTags,
  conversionOptions,
  describeFilter,
  type OutputColor,
  outputColor,
  TONE_MAPPED,
} from '../ffmpeg/color.ts';

/** Maximum difference of aspect ratios caused by rounded sizes, for which no bars are added. */
const SAME_SHAPE = 0.02;

/**
 * Returns the options of an input whose frames pass `sourceFilters`. ffmpeg keeps one filter graph to the
 * end, whatever the decoder outputs: a rebuilt one would lose the buffered frames, and restart at zero in the
 * middle of the file.
 */
export function decoderOptions({ video }: SourceInfo): string[] {
  return video.frame === undefined ? [] : ['-reinit_filter:v', '0', '-noautorotate'];
}

/**
 * Returns the filters that normalize all decoded frames: one size, one color description, progressive,
 * upright.
 */
export function sourceFilters(source: SourceInfo): string[] {
  const { video } = source;
  return [...fit(video), ...deinterlace(video), ...orient(video)];
}

/** Returns the filters that convert PQ and HLG to SDR. */
export function toneMap({ video }: SourceInfo, canToneMap: boolean): string[] {
  if (video.range === 'SDR' || !canToneMap) return [];
  const { primaries, transfer, matrix } = TONE_MAPPED;
  return [
    ...(video.frame === undefined ? [describeFilter(colorOf(video))] : []),
    'zscale=t=linear:npl=100,format=gbrpf32le',
    `zscale=p=${primaries},tonemap=hable:desat=0`,
    `zscale=t=${transfer}:m=${matrix}:r=tv,format=yuv420p`,
  ];
}

/** Returns the color description of all renditions that are not tone-mapped. */
export function colorOf(video: SourceInfo['video']): OutputColor {
  return outputColor(tagsOf(video));
}

export function tagsOf(video: SourceInfo['video']): ColorTags {
  const { pixelFormat, width, height, range, primaries, transfer, matrix, levels } = video;
  return {
    ...{ pixelFormat, width, height, range },
    ...(primaries === undefined ? {} : { primaries }),
    ...(transfer === undefined ? {} : { transfer }),
    ...(matrix === undefined ? {} : { matrix }),
    ...(levels === undefined ? {} : { levels }),
  };
}

/**
 * Fits every frame into the stored size of the track, with bars when its aspect ratio differs. `scale` and
 * `pad` are the filters that support changing sizes and formats; frames of the stored size pass `scale`
 * unchanged.
 */
function fit(video: SourceInfo['video']): string[] {
  const { frame, isInterlaced } = video;
  if (frame === undefined) return [];
  const { width, height, aspect } = frame;
  // Invalid aspect ratios count as square.
  const share = `(if(between(sar,0.1,10),sar,1)*iw/ih/${aspect.toFixed(6)})`;
  const side = (whole: number, part: string) =>
    `'if(lt(abs(${share}-1),${SAME_SHAPE}),${whole},max(2,2*trunc(${whole}*min(1,${part})/2)))'`;
  const conversion = conversionOptions(tagsOf(video));
  const options = [
    `w=${side(width, share)}:h=${side(height, `1/${share}`)}:eval=frame:flags=bicubic`,
    ...(isInterlaced ? ['interl=-1'] : []),
    ...conversion,
  ];
  return [
    `scale=${options.join(':')}`,
    ...(conversion.length === 0 ? [] : [CONVERTED_FORMATS]),
    `pad=${width}:${height}:-1:-1:eval=frame`,
    describeFilter(colorOf(video)),
  ];
}

/** Added frames: `trim` rounds to the nearest one, and lengths are rounded to milliseconds. */
const ROUND_UP = 0.4;

/**
 * Repeats the last frame, at the frame rate of the video, until the video ends; also when later frames cannot
 * be decoded.
 */
export function holdLast(source: SourceInfo): string[] {
  if (source.video.span === undefined) return [];
  const endSec = source.durationSec + ROUND_UP / source.video.frameRate;
  return ['tpad=stop=-1:stop_mode=clone', `trim=end=${endSec.toFixed(6)}`];
}

function deinterlace({ isInterlaced }: SourceInfo['video']): string[] {
  return isInterlaced ? ['bwdif=mode=send_frame:deint=interlaced'] : [];
}

const TURNS: Readonly<Record<number, { plain: string[]; mirrored: string[] }>> = {
  0: { plain: [], mirrored: ['vflip'] },
  90: { plain: ['transpose=clock'], mirrored: ['transpose=cclock_flip'] },
  180: { plain: ['hflip', 'vflip'], mirrored: ['hflip'] },
  270: { plain: ['transpose=cclock'], mirrored: ['transpose=clock_flip'] },
};

/** Rotates frames according to the container; the display matrix is removed before the encoder. */
function orient({ frame, rotation, isMirrored = false }: SourceInfo['video']): string[] {
  if (frame === undefined) return [];
  const turn = TURNS[rotation]?.[isMirrored ? 'mirrored' : 'plain'] ?? [];
  return turn.length === 0 ? [] : [...turn, 'sidedata=mode=delete:type=DISPLAYMATRIX'];
}
