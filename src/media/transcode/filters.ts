import type { RungPlan, SourceInfo } from '../contract/index.ts';
import { type HardwareUse, uploadFilters } from '../ffmpeg/hardware.ts';
import { isDeep, pixelFormat } from './encoders.ts';
import { rateText } from './frame-rate.ts';

/**
 * `source`: every picture at its own time, and no keyframe is left out; `constant`: at the beat of the source's
 * frame rate.
 */
export type Pace = 'source' | 'constant';

export interface FilterInput {
  source: SourceInfo;
  /** At least one, largest first; H.264 and other codecs are never mixed. */
  rungs: readonly Pick<RungPlan, 'name' | 'width' | 'height' | 'frameRate' | 'codec'>[];
  pace: Pace;
  /** This ffmpeg has zscale. */
  canToneMap: boolean;
  /** What it makes is given to it in its own format. */
  hardware?: HardwareUse | null;
}

/** Pictures beside the rungs, into the pad `[name]`. */
export interface SidePictures {
  name: string;
  /** What they are made of: `SOURCE`, `v0` and so on, or the name of others before them. */
  of: string;
  filters: string[];
}

/** The pictures of the source at the rungs' pace, in the colours of the rungs. */
export const SOURCE = 'source';

/**
 * One filter graph that makes `[v0]`, `[v1]`… of the source's pictures, which are decoded once. A small rung is scaled
 * from a larger one (docs/decisions/transcoding.md#the-ladder).
 */
export function videoGraph(input: FilterInput, side: readonly SidePictures[] = []): string {
  const { source, rungs } = input;
  const isForAll = rungs.some(({ codec }) => codec === 'H264');
  const root: Chain = {
    pad: `0:${source.video.streamIndex}`,
    filters: [...deinterlace(source), ...pace(input), ...(isForAll ? toneMap(input) : [])],
    outputs: [],
  };
  const chains = new Map([[SOURCE, root]]);
  const add = ({ name, of, filters }: SidePictures) => {
    const pad = `${name}i`;
    (chains.get(of) ?? root).outputs.push(pad);
    chains.set(name, { pad, filters, outputs: [name] });
  };
  for (const [index, rung] of rungs.entries()) {
    const parent = parentOf(rungs, index);
    const { frameRate } = rungs[parent] ?? source.video;
    const of = parent < 0 ? SOURCE : `v${parent}`;
    add({ name: `v${index}`, of, filters: branch(input, rung, frameRate) });
    const upload = uploadOf(input, rung);
    if (upload.length > 0) handOver(chains, `v${index}`, upload);
  }
  for (const pictures of side) add(pictures);
  return [...chains.values()].map(renderChain).join(';');
}

function uploadOf({ hardware, source }: FilterInput, rung: FilterInput['rungs'][number]): string[] {
  if (!hardware?.names.has(rung.name)) return [];
  return uploadFilters(hardware.hardware.kind, isDeep(source, rung));
}

/** What is made of a rung is made of its pictures in memory: its encoder alone gets others. */
function handOver(chains: Map<string, Chain>, name: string, filters: string[]): void {
  const pad = `${name}m`;
  const chain = chains.get(name);
  if (chain === undefined) return;
  chain.outputs = [pad];
  chains.set(pad, { pad, filters, outputs: [name] });
}

interface Chain {
  pad: string;
  filters: string[];
  /** Pads that get its pictures. */
  outputs: string[];
}

function renderChain({ pad, filters, outputs }: Chain): string {
  const spread = outputs.length > 1 ? [`split=${outputs.length}`] : [];
  const all = [...filters, ...spread];
  return `[${pad}]${all.length === 0 ? 'null' : all.join(',')}${outputs.map((name) => `[${name}]`).join('')}`;
}

/** Scaled from so much more, pictures are as good as from the source. */
const PARENT_RATIO = 1.4;

/** The smallest rung that this one can be scaled and thinned out from; -1 for the source. */
function parentOf(rungs: FilterInput['rungs'], index: number): number {
  const own = rungs[index];
  if (own === undefined) return -1;
  return rungs.findLastIndex(({ codec, width, frameRate }, at) => {
    const every = frameRate / own.frameRate;
    const isLarge = at < index && codec === own.codec && width >= own.width * PARENT_RATIO;
    return isLarge && Math.abs(every - Math.round(every)) < 0.001;
  });
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

/** What zscale makes anything of (ITU-T H.273, tables 2 and 4), as ffprobe calls it; with all else it gives up. */
const PRIMARIES = [
  ...['bt709', 'bt470m', 'bt470bg', 'smpte170m', 'smpte240m', 'film', 'bt2020', 'smpte428', 'smpte431'],
  ...['smpte432', 'jedec-p22', 'ebu3213'],
];
const MATRICES = [
  ...['bt709', 'fcc', 'bt470bg', 'smpte170m', 'smpte240m', 'ycgco', 'bt2020nc', 'chroma-derived-nc'],
  'ictcp',
];

/** PQ and HLG to what an ordinary screen shows. */
function toneMap({ source, canToneMap }: Pick<FilterInput, 'source' | 'canToneMap'>): string[] {
  if (source.video.range === 'SDR' || !canToneMap) return [];
  return [
    ...assumedColours(source),
    'zscale=t=linear:npl=100,format=gbrpf32le',
    'zscale=p=bt709,tonemap=hable:desat=0',
    'zscale=t=bt709:m=bt709:r=tv,format=yuv420p',
  ];
}

/** Where the file does not say, or what cannot be: HDR is made in BT.2020. */
function assumedColours({ video }: SourceInfo): string[] {
  const { primaries = '', matrix = '' } = video;
  const assumed = [
    ...(PRIMARIES.includes(primaries) ? [] : ['color_primaries=bt2020']),
    ...(MATRICES.includes(matrix) ? [] : ['colorspace=bt2020nc']),
  ];
  return assumed.length === 0 ? [] : [`setparams=${assumed.join(':')}`];
}

/** @param fromRate frames per second of what it is made of. */
function branch(input: FilterInput, rung: FilterInput['rungs'][number], fromRate: number): string[] {
  const scale = `scale=${rung.width}:${rung.height}:flags=bicubic`;
  return [
    ...thinOut(input, rung.frameRate, fromRate),
    scale,
    `format=${pixelFormat(input.source, rung)},setsar=1`,
  ];
}

function thinOut({ pace }: FilterInput, frameRate: number, fromRate: number): string[] {
  const every = Math.round(fromRate / frameRate);
  if (every <= 1) return [];
  if (pace === 'constant') return [`fps=${rateText(frameRate)}`];
  // Not counted but timed: the count begins anew with every keyframe.
  const distance = (every - 0.5) / fromRate;
  return [`select=key+isnan(prev_selected_t)+gte(t-prev_selected_t\\,${distance.toFixed(6)})`];
}
