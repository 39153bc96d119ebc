import type { RungPlan, SourceInfo } from '../contract/index.ts';
import { pixelFormat } from './encoders.ts';
import { rateText } from './frame-rate.ts';

/**
 * `source`: every picture at its own time, and no keyframe is left out; `constant`: at the beat of the source's
 * frame rate.
 */
export type Pace = 'source' | 'constant';

export interface FilterInput {
  source: SourceInfo;
  /** At least one, largest first; H.264 and other codecs are never mixed. */
  rungs: readonly Pick<RungPlan, 'width' | 'height' | 'frameRate' | 'codec'>[];
  pace: Pace;
  /** This ffmpeg has zscale. */
  canToneMap: boolean;
}

/** One filter graph that makes `[v0]`, `[v1]`… of the source's pictures, which are decoded once. */
export function videoGraph(input: FilterInput): string {
  const { source, rungs } = input;
  const isForAll = rungs.some(({ codec }) => codec === 'H264');
  const common = [...deinterlace(source), ...pace(input), ...(isForAll ? toneMap(input) : [])];
  const outputs = rungs.map((_, index) => `[i${index}]`).join('');
  const first = [...common, `split=${rungs.length}`].join(',');
  const branches = rungs.map((rung, index) => `[i${index}]${branch(input, rung).join(',')}[v${index}]`);
  return [`[0:${source.video.streamIndex}]${first}${outputs}`, ...branches].join(';');
}

/** Pictures that are made of one frame, in the colours that everybody sees. */
export function stillFilters(source: SourceInfo, canToneMap: boolean): string[] {
  return [...deinterlace(source), ...toneMap({ source, canToneMap })];
}

function deinterlace({ video }: SourceInfo): string[] {
  return video.isInterlaced ? ['bwdif=mode=send_frame:deint=interlaced'] : [];
}

function pace({ source, pace }: FilterInput): string[] {
  const { frameRate } = source.video;
  // Pictures that are missing at the start are made up for, so that the sound stays in step.
  return pace === 'constant' ? [`fps=${rateText(frameRate)}:start_time=0`] : [];
}

/** PQ and HLG to what an ordinary screen shows. */
function toneMap({ source, canToneMap }: Pick<FilterInput, 'source' | 'canToneMap'>): string[] {
  if (source.video.range === 'SDR' || !canToneMap) return [];
  return [
    'zscale=t=linear:npl=100,format=gbrpf32le',
    'zscale=p=bt709,tonemap=hable:desat=0',
    'zscale=t=bt709:m=bt709:r=tv,format=yuv420p',
  ];
}

function branch(input: FilterInput, rung: FilterInput['rungs'][number]): string[] {
  const scale = `scale=${rung.width}:${rung.height}:flags=bicubic`;
  return [...thinOut(input, rung.frameRate), scale, `format=${pixelFormat(input.source, rung)},setsar=1`];
}

function thinOut({ source, pace }: FilterInput, frameRate: number): string[] {
  const every = Math.round(source.video.frameRate / frameRate);
  if (every <= 1) return [];
  if (pace === 'constant') return [`fps=${rateText(frameRate)}`];
  // Not counted but timed: the count begins anew with every keyframe.
  const distance = (every - 0.5) / source.video.frameRate;
  return [`select=key+isnan(prev_selected_t)+gte(t-prev_selected_t\\,${distance.toFixed(6)})`];
}
