import type { RungPlan, SourceInfo } from '../contract/index.ts';
import { type HardwareUse, uploadFilters } from '../ffmpeg/hardware.ts';
import { is10Bit, pixelFormat } from './encoders.ts';
import { rateText } from './frame-rate.ts';
import { holdLast, sourceFilters, toneMap } from './source-filters.ts';

/**
 * `source`: every frame at its own time, without dropping keyframes; `constant`: at the constant frame rate
 * of the source.
 */
export type FrameTiming = 'source' | 'constant';

export interface FilterInput {
  source: SourceInfo;
  /** At least one rung, largest first; H.264 is never mixed with other codecs. */
  rungs: readonly Pick<RungPlan, 'name' | 'width' | 'height' | 'frameRate' | 'codec'>[];
  pace: FrameTiming;
  /** Whether this ffmpeg has zscale. */
  canToneMap: boolean;
  /** Hardware encoder; gets its frames in its own format. */
  hardware?: HardwareUse | null;
}

/** Additional images, output to the pad `[name]`. */
export interface SideImageInput {
  name: string;
  /** Input: `SOURCE`, `v0` and so on, or the name of an earlier side image. */
  of: string;
  filters: string[];
}

/** Frames of the source at the frame rate and in the colors of the rungs. */
export const SOURCE = 'source';

/**
 * Returns one filter graph that decodes the source once and outputs `[v0]`, `[v1]`… A small rung is scaled
 * from a larger one (docs/decisions/transcoding.md#the-ladder).
 */
export function videoGraph(input: FilterInput, side: readonly SideImageInput[] = []): string {
  const { source, rungs } = input;
  const isForAll = rungs.some(({ codec }) => codec === 'H264');
  const root: Chain = {
    pad: `0:${source.video.streamIndex}`,
    filters: [
      ...sourceFilters(source),
      ...pace(input),
      ...(isForAll ? toneMap(source, input.canToneMap) : []),
      ...(input.pace === 'constant' ? holdLast(source) : []),
    ],
    outputs: [],
  };
  const chains = new Map([[SOURCE, root]]);
  const add = ({ name, of, filters }: SideImageInput) => {
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
  return uploadFilters(hardware.hardware.kind, is10Bit(source, rung));
}

/** Inserts an upload for the hardware encoder; all other consumers of the rung get its frames in memory. */
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
  /** Pads that receive its frames. */
  outputs: string[];
}

function renderChain({ pad, filters, outputs }: Chain): string {
  const spread = outputs.length > 1 ? [`split=${outputs.length}`] : [];
  const all = [...filters, ...spread];
  return `[${pad}]${all.length === 0 ? 'null' : all.join(',')}${outputs.map((name) => `[${name}]`).join('')}`;
}

/** Minimum ratio to the parent rung at which scaling looks as good as from the source. */
const PARENT_RATIO = 1.4;

/** Returns the index of the smallest rung from which this one can be derived; -1 for the source. */
function parentOf(rungs: FilterInput['rungs'], index: number): number {
  const own = rungs[index];
  if (own === undefined) return -1;
  return rungs.findLastIndex(({ codec, width, frameRate }, at) => {
    const every = frameRate / own.frameRate;
    const isLarge = at < index && codec === own.codec && width >= own.width * PARENT_RATIO;
    return isLarge && Math.abs(every - Math.round(every)) < 0.001;
  });
}

function pace({ source, pace }: FilterInput): string[] {
  const { frameRate } = source.video;
  // Frames missing at the start are filled in, so that the audio stays in sync.
  return pace === 'constant' ? [`fps=${rateText(frameRate)}:start_time=0`] : [];
}

/** @param fromRate frames per second of the input. */
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
  // Selects by time instead of by count, because the count restarts with every keyframe.
  const distance = (every - 0.5) / fromRate;
  return [`select=key+isnan(prev_selected_t)+gte(t-prev_selected_t\\,${distance.toFixed(6)})`];
}
