import { access, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { make } from './sources.ts';

/**
 * Small files in which picture and tone tell the time: every `STEP_SEC` the brightness of the middle and the loudness change.
 * The left edge has one color throughout.
 */
export interface GeneratedSource {
  container: 'mp4' | 'mkv' | 'ts';
  codec: 'h264' | 'vp8' | 'mpeg2' | 'rgb';
  rate: string;
  color: 'untagged' | 'bt709' | 'full';
  video: 'whole' | 'late' | 'short' | 'single' | 'reshaped' | 'gap';
  audio: 'none' | 'whole' | 'late' | 'short' | 'long' | 'relaid';
}

export const STEP_SEC = 0.4;
/** Of the longest track. */
export const LENGTH_SEC = 1.6;
export const LATE_SEC = 0.5;
export const SHORT_SEC = 0.8;
const HALF_SEC = 0.8;
/** What the longest audio has more than the longest video. */
export const MORE_SEC = 0.3;
/** Color of the left edge. */
export const EDGE = [200, 60, 30] as const;
const LEVELS = [70, 190, 110, 230, 150];

/** Brightness of the middle at a time, 0 to 255. */
export function levelAt(sec: number): number {
  return LEVELS[Math.floor(sec / STEP_SEC) % LEVELS.length] ?? 0;
}

/** Reports whether the tone is on at a time. */
export function soundsAt(sec: number): boolean {
  return Math.floor(sec / STEP_SEC) % 2 === 1;
}

const VALUES = {
  container: ['mp4', 'mkv', 'ts'],
  codec: ['h264', 'vp8', 'mpeg2', 'rgb'],
  rate: ['10', '25', '30000/1001', '50'],
  color: ['untagged', 'bt709', 'full'],
  video: ['whole', 'late', 'short', 'single', 'reshaped', 'gap'],
  audio: ['none', 'whole', 'late', 'short', 'long', 'relaid'],
} as const;

/** What containers and encoders take. */
function isPossible({ container, codec, rate, color, video, audio }: GeneratedSource): boolean {
  const takes = {
    mp4: codec === 'h264',
    mkv: codec !== 'mpeg2',
    ts: codec === 'h264' || codec === 'mpeg2',
  };
  if (!takes[container] || (audio === 'relaid' && container === 'mp4')) return false;
  if (color === 'full' && codec !== 'h264') return false;
  if (codec !== 'h264' && color === 'bt709') return false;
  if (codec === 'mpeg2' && (rate === '10' || video === 'single')) return false;
  // FFV1 and MP4 have one size for the whole track.
  if (video === 'reshaped' && (codec === 'rgb' || container === 'mp4')) return false;
  return !(audio === 'none' && video === 'single');
}

/** Possible combinations, in an order in which each adds as many new pairs of values as one can. */
export function combinations(count: number): GeneratedSource[] {
  const left = allCombinations().filter(isPossible);
  const seen = new Set<string>();
  return Array.from({ length: count }, () => {
    const news = left.map((one) => pairsOf(one).filter((pair) => !seen.has(pair)).length);
    const [next] = left.splice(news.indexOf(Math.max(...news)), 1);
    for (const pair of next === undefined ? [] : pairsOf(next)) seen.add(pair);
    return next ?? [];
  }).flat();
}

function pairsOf(source: GeneratedSource): string[] {
  const values = Object.entries(source).map((entry) => entry.join());
  return values.flatMap((one, index) => values.slice(index + 1).map((other) => `${one} ${other}`));
}

function allCombinations(): GeneratedSource[] {
  const all: GeneratedSource[] = [];
  for (const container of VALUES.container)
    for (const codec of VALUES.codec)
      for (const rate of VALUES.rate)
        for (const color of VALUES.color)
          for (const video of VALUES.video)
            for (const audio of VALUES.audio) all.push({ container, codec, rate, color, video, audio });
  return all;
}

/** Makes the file in `dir`; pieces that several have in common are made once. @returns its path. */
export async function makeSource(dir: string, source: GeneratedSource): Promise<string> {
  const { container, codec, rate, color, video, audio } = source;
  const name = [codec, rate.replace('/', '-'), color, video, audio].join('_');
  const pictures = await videoPiece(dir, source);
  const sound = await audioPiece(dir, source);
  const late = (kind: string) => ['-itsoffset', kind === 'late' ? String(LATE_SEC) : '0'];
  return make(
    dir,
    ...[...late(video), ...pictures],
    ...(sound === null ? [] : [...late(audio), ...sound, '-map', '0:v', '-map', '1:a']),
    ...['-c', 'copy', '-avoid_negative_ts', 'disabled', `${name}.${container}`],
  );
}

/** Input options and input of the video track. */
async function videoPiece(dir: string, source: GeneratedSource): Promise<string[]> {
  const { video } = source;
  if (video !== 'reshaped') {
    const spans = {
      whole: LENGTH_SEC,
      gap: LENGTH_SEC,
      late: LENGTH_SEC - LATE_SEC,
      short: SHORT_SEC,
      single: 0,
    };
    const fromSec = video === 'late' ? LATE_SEC : 0;
    return ['-i', await encode(dir, source, { fromSec, lengthSec: spans[video], size: '64x36' })];
  }
  const rest = LENGTH_SEC - HALF_SEC;
  const wide = await encode(dir, source, { fromSec: 0, lengthSec: HALF_SEC, size: '64x36' });
  const tall = await encode(dir, source, { fromSec: HALF_SEC, lengthSec: rest, size: '36x64' });
  const list = `${wide}.${source.codec}.txt`;
  await writeFile(list, `file '${wide}'\nduration ${HALF_SEC}\nfile '${tall}'\n`);
  return ['-f', 'concat', '-safe', '0', '-i', list];
}

interface VideoSegment {
  fromSec: number;
  lengthSec: number;
  size: string;
}

async function encode(dir: string, source: GeneratedSource, piece: VideoSegment): Promise<string> {
  const { codec, rate, color, video } = source;
  const { fromSec, lengthSec, size } = piece;
  const extension = { h264: 'ts', mpeg2: 'ts', vp8: 'mkv', rgb: 'mkv' }[codec];
  const gap = video === 'gap' ? 'gap' : '';
  const name = `v_${codec}_${rate.replace('/', '-')}_${color}_${fromSec}_${lengthSec}_${size}${gap}.${extension}`;
  if (await isThere(join(dir, name))) return join(dir, name);
  const step = `floor((T+${fromSec})/${STEP_SEC})`;
  const level = LEVELS.reduceRight((rest, value, at) => `if(eq(mod(${step},5),${at}),${value},${rest})`, '0');
  const channel = (edge: number) => `'if(lt(X,W/4),${edge},${level})'`;
  const [r, g, b] = EDGE;
  const filters = [
    `geq=r=${channel(r)}:g=${channel(g)}:b=${channel(b)}`,
    ...(gap ? [`select='not(between(t,0.5,0.9))'`] : []),
    ...(codec === 'rgb' ? [] : [CONVERSIONS[color]]),
  ];
  const length = lengthSec === 0 ? ['-frames:v', '1'] : [];
  return make(
    dir,
    ...['-f', 'lavfi', '-i', `color=s=${size}:r=${rate}:d=${Math.max(lengthSec, 0.1)},format=gbrp`],
    ...['-vf', filters.join(), '-fps_mode', 'passthrough', ...length, ...ENCODERS[codec], name],
  );
}

const CONVERSIONS = {
  untagged: 'scale=out_color_matrix=bt601:out_range=tv,format=yuv420p,setparams=colorspace=unknown',
  bt709:
    'scale=out_color_matrix=bt709:out_range=tv,format=yuv420p,setparams=colorspace=bt709:color_primaries=bt709:color_trc=bt709:range=tv',
  full: 'scale=out_color_matrix=bt601:out_range=pc,format=yuvj420p,setparams=colorspace=unknown:range=pc',
};

const ENCODERS: Readonly<Record<GeneratedSource['codec'], string[]>> = {
  h264: ['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '12', '-g', '10'],
  vp8: ['-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '8', '-b:v', '1M', '-g', '10'],
  mpeg2: ['-c:v', 'mpeg2video', '-q:v', '2', '-g', '10'],
  rgb: ['-c:v', 'ffv1'],
};

/** Input options and input of the audio track; null without one. */
async function audioPiece(dir: string, { audio }: GeneratedSource): Promise<string[] | null> {
  if (audio === 'none') return null;
  const path = (name: string) => join(dir, name);
  if (audio === 'relaid') {
    const name = 'relaid.ac3';
    if (!(await isThere(path(name)))) {
      const stereo = await tone(dir, {
        fromSec: 0,
        lengthSec: HALF_SEC,
        layout: 'stereo',
        name: 'stereo.ac3',
      });
      const rest = LENGTH_SEC - HALF_SEC;
      const surround = await tone(dir, {
        fromSec: HALF_SEC,
        lengthSec: rest,
        layout: '5.1',
        name: '5.1.ac3',
      });
      await writeFile(path(name), Buffer.concat([await readFile(stereo), await readFile(surround)]));
    }
    return ['-i', path(name)];
  }
  const lengthSec = {
    ...{ whole: LENGTH_SEC, late: LENGTH_SEC - LATE_SEC, short: SHORT_SEC },
    long: LENGTH_SEC + MORE_SEC,
  }[audio];
  const name = `a_${audio}.mp4`;
  if (await isThere(path(name))) return ['-i', path(name)];
  const fromSec = audio === 'late' ? LATE_SEC : 0;
  return ['-i', await tone(dir, { fromSec, lengthSec, layout: 'mono', name })];
}

function tone(dir: string, piece: { fromSec: number; lengthSec: number; layout: string; name: string }) {
  const { fromSec, lengthSec, layout, name } = piece;
  const wave = `0.5*sin(2*PI*1000*t)*mod(floor((t+${fromSec})/${STEP_SEC}),2)`;
  const waves = layout === '5.1' ? Array.from({ length: 6 }, () => wave).join('|') : wave;
  const channels = layout === '5.1' ? [] : ['-ac', layout === 'mono' ? '1' : '2'];
  const codec = name.endsWith('.ac3') ? 'ac3' : 'aac';
  const input = `aevalsrc='${waves}':s=48000:d=${lengthSec}${layout === '5.1' ? ':c=5.1' : ''}`;
  return make(dir, '-f', 'lavfi', '-i', input, ...channels, '-c:a', codec, name);
}

const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
