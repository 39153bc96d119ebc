import { readFile, writeFile } from 'node:fs/promises';
import { make, TURNED, withMatrix } from '../transcode/sources.ts';

/**
 * File whose frames show their number in blocks, and whose audio has another pitch in each second
 * (`numbered-frames.js` reads both).
 */
export interface OddFile {
  name: string;
  lengthSec: number;
  /** It has 720 lines instead of 270 to 480. */
  isHd: boolean;
  /** Frame shown at a time, where each has 1/25 s. */
  frameAt(sec: number): number;
  /** Returns the second whose pitch is heard at a time; null for silence. */
  toneAt(sec: number): number | null;
  /** Width by height of the content without bars at a time. */
  aspectAt(sec: number): number;
  /** Writes the file into a folder. @returns its path. */
  make(dir: string): Promise<string>;
}

export const FRAME_RATE = 25;
/** Length of files that fit into one segment. */
const LENGTH_SEC = 4;
/** Length of the segments of renditions. */
const SEGMENT_SEC = 6;
/** Length of files that have a second segment. */
const LONG_SEC = 8;
const SHORT_SEC = 2;

/** Colors of the third row of blocks. Green and magenta read with the matrix of the other sizes are off by 30 of 255. */
export const PATCHES: readonly (readonly [number, number, number])[] = [
  [200, 60, 30],
  [20, 200, 40],
  [60, 60, 200],
  [180, 180, 40],
  [40, 170, 180],
  [215, 20, 205],
  [128, 128, 128],
  [230, 140, 60],
];

const LANDSCAPE = '480x270';
const PORTRAIT = '270x480';
const CLASSIC = '480x360';
const HD = '1280x720';

const X264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '50'];
const VP8 = [
  '-c:v',
  'libvpx',
  '-threads',
  '1',
  '-deadline',
  'realtime',
  '-cpu-used',
  '8',
  '-b:v',
  '1M',
  '-g',
  '25',
];
const AAC = ['-c:a', 'aac', '-b:a', '128k'];
const OPUS = ['-c:a', 'libopus', '-b:a', '64k'];
const AC3 = ['-c:a', 'ac3', '-b:a', '192k'];

interface Span {
  fromSec: number;
  lengthSec: number;
}

const span = (fromSec: number, untilSec: number): Span => ({ fromSec, lengthSec: untilSec - fromSec });
const WHOLE = span(0, LENGTH_SEC);
const LONG = span(0, LONG_SEC);
const HALVES = [span(0, LONG_SEC / 2), span(LONG_SEC / 2, LONG_SEC)] as const;

/** Input of numbered frames: eight blocks of a number's bits, their complement, and the patches. */
function numbered({ fromSec, lengthSec }: Span, size: string, matrix = 'bt601'): string[] {
  const bit = `255*mod(floor((N+${fromSec * FRAME_RATE})/pow(2,7-X)),2)`;
  const channels = ['r', 'g', 'b'].map((channel, at) => {
    const color = PATCHES.reduceRight((rest, patch, x) => `if(eq(X,${x}),${patch[at]},${rest})`, '0');
    return `${channel}='if(eq(Y,0),${bit},if(eq(Y,1),255-${bit},${color}))'`;
  });
  const scaled = `scale=${size.replace('x', ':')}:flags=neighbor,setsar=1,format=gbrp`;
  const graph = `color=s=8x3:r=${FRAME_RATE}:d=${lengthSec},format=gbrp,geq=${channels.join(':')},${scaled}`;
  const yuv = `scale=out_color_matrix=${matrix}:out_range=tv,format=yuv420p,setparams=colorspace=unknown`;
  return ['-f', 'lavfi', '-i', matrix === 'rgb' ? graph : `${graph},${yuv}`];
}

/** Input of tones, 500 Hz in the first second and 250 Hz more in each further one. */
function tones({ fromSec, lengthSec }: Span, channels = 1): string[] {
  const wave = `0.4*sin(2*PI*(500+250*floor(t+${fromSec}))*t)`;
  const layout = channels === 6 ? ':c=5.1' : '';
  const waves = Array.from({ length: channels }, () => wave).join('|');
  return ['-f', 'lavfi', '-i', `aevalsrc='${waves}':s=48000:d=${lengthSec}${layout}`];
}

/** Joins files by a list without changes. */
async function concatenate(dir: string, pieces: readonly string[], name: string): Promise<string> {
  await writeFile(`${dir}/${name}.txt`, pieces.map((piece) => `file '${piece}'\n`).join(''));
  return make(dir, '-f', 'concat', '-safe', '0', '-i', `${dir}/${name}.txt`, '-c', 'copy', name);
}

/** Creates a WebM of segments of equal length, alternately 4:3 and portrait. */
async function makeReshaped(dir: string, name: string, pieceSec: number): Promise<string> {
  const count = LENGTH_SEC / pieceSec;
  const pieces = await Promise.all(
    Array.from({ length: count }, (_, index) => {
      const piece = span(index * pieceSec, (index + 1) * pieceSec);
      const input = [...numbered(piece, index % 2 === 0 ? CLASSIC : PORTRAIT), ...tones(piece)];
      return make(dir, ...input, ...VP8, ...OPUS, `${index}-${name}`);
    }),
  );
  return concatenate(dir, pieces, name);
}

const aspectOf = (size: string) => {
  const [width = 1, height = 1] = size.split('x').map(Number);
  return width / height;
};
const reshaped = (pieceSec: number) => (sec: number) =>
  aspectOf(Math.floor(sec / pieceSec) % 2 === 0 ? CLASSIC : PORTRAIT);

/** Expected playback of a file without oddities. */
const PLAIN = {
  lengthSec: LENGTH_SEC,
  isHd: false,
  frameAt: (sec: number) => Math.floor(sec * FRAME_RATE),
  toneAt: (sec: number) => Math.floor(sec),
  aspectAt: () => aspectOf(LANDSCAPE),
};

/** File whose last segment has one frame in all renditions; VP8, so that no rendition is a copy. */
export const ONE_FRAME_MORE: OddFile = {
  ...PLAIN,
  name: 'one-frame-more.webm',
  lengthSec: SEGMENT_SEC + 1 / FRAME_RATE,
  make(dir) {
    const whole = span(0, SEGMENT_SEC + 1 / FRAME_RATE);
    const input = [...numbered(whole, LANDSCAPE), ...tones(whole)];
    return make(dir, ...input, ...VP8, ...OPUS, 'one-frame-more.webm');
  },
};

export const ODD_FILES: readonly OddFile[] = [
  {
    ...PLAIN,
    name: 'shape-changes-once.webm',
    aspectAt: reshaped(LENGTH_SEC / 2),
    make: (dir) => makeReshaped(dir, 'shape-changes-once.webm', LENGTH_SEC / 2),
  },
  {
    ...PLAIN,
    name: 'shape-changes-often.webm',
    aspectAt: reshaped(1),
    make: (dir) => makeReshaped(dir, 'shape-changes-often.webm', 1),
  },
  {
    ...PLAIN,
    name: 'audio-layout-changes.ts',
    lengthSec: LONG_SEC,
    async make(dir) {
      const [stereo, surround] = await Promise.all([
        make(dir, ...tones(HALVES[0]), '-ac', '2', ...AC3, 'stereo.ac3'),
        make(dir, ...tones(HALVES[1], 6), ...AC3, 'surround.ac3'),
      ]);
      const path = `${dir}/both.ac3`;
      await writeFile(path, Buffer.concat([await readFile(stereo), await readFile(surround)]));
      const input = [...numbered(LONG, LANDSCAPE), '-i', path];
      return make(dir, ...input, ...X264, '-c:a', 'copy', 'audio-layout-changes.ts');
    },
  },
  {
    ...PLAIN,
    name: 'joined.ts',
    lengthSec: LONG_SEC,
    async make(dir) {
      const parts = await Promise.all(
        HALVES.map((half) => {
          const input = [...numbered(half, LANDSCAPE), ...tones(half)];
          return make(dir, ...input, ...X264, ...AAC, `part-${half.fromSec}.ts`);
        }),
      );
      const path = `${dir}/joined.ts`;
      await writeFile(path, Buffer.concat(await Promise.all(parts.map((part) => readFile(part)))));
      return path;
    },
  },
  {
    ...PLAIN,
    name: 'audio-ends-early.mp4',
    lengthSec: LONG_SEC,
    toneAt: (sec) => (sec < SHORT_SEC ? Math.floor(sec) : null),
    make: (dir) => {
      const input = [...numbered(LONG, LANDSCAPE), ...tones(span(0, SHORT_SEC))];
      return make(dir, ...input, ...X264, ...AAC, 'audio-ends-early.mp4');
    },
  },
  {
    ...PLAIN,
    name: 'one-frame.mp4',
    frameAt: () => 0,
    make: (dir) => {
      const input = [...numbered(span(0, 1 / FRAME_RATE), LANDSCAPE), ...tones(WHOLE)];
      return make(dir, ...input, ...X264, ...AAC, 'one-frame.mp4');
    },
  },
  {
    ...PLAIN,
    name: 'video-ends-early.mp4',
    lengthSec: LONG_SEC,
    frameAt: (sec) => Math.floor(Math.min(sec, SHORT_SEC - 1 / FRAME_RATE) * FRAME_RATE),
    make: (dir) => {
      const input = [...numbered(span(0, SHORT_SEC), LANDSCAPE), ...tones(LONG)];
      return make(dir, ...input, ...X264, ...AAC, 'video-ends-early.mp4');
    },
  },
  {
    ...PLAIN,
    name: 'two-videos.mkv',
    make: (dir) => {
      const other = ['-f', 'lavfi', '-i', `color=red:s=640x360:r=5:d=${LENGTH_SEC}`];
      const input = [...other, ...numbered(WHOLE, LANDSCAPE), ...tones(WHOLE)];
      const tracks = ['-map', '0', '-map', '1', '-map', '2', '-disposition:v:0', '0'];
      const options = [...tracks, '-disposition:v:1', 'default', '-pix_fmt', 'yuv420p'];
      return make(dir, ...input, ...options, ...X264, ...AAC, 'two-videos.mkv');
    },
  },
  {
    ...PLAIN,
    name: 'rgb.mkv',
    isHd: true,
    aspectAt: () => aspectOf(HD),
    make: (dir) => {
      const rgb = ['-c:v', 'libx264rgb', '-preset', 'ultrafast', '-g', '50', '-pix_fmt', 'rgb24'];
      return make(dir, ...numbered(WHOLE, HD, 'rgb'), ...tones(WHOLE), ...rgb, ...AAC, 'rgb.mkv');
    },
  },
  {
    ...PLAIN,
    name: 'untagged-709.mp4',
    isHd: true,
    aspectAt: () => aspectOf(HD),
    make: (dir) =>
      make(dir, ...numbered(WHOLE, HD, 'bt709'), ...tones(WHOLE), ...X264, ...AAC, 'untagged-709.mp4'),
  },
  {
    ...PLAIN,
    name: 'rotated.mp4',
    aspectAt: () => aspectOf(PORTRAIT),
    async make(dir) {
      const input = [...numbered(WHOLE, PORTRAIT), ...tones(WHOLE)];
      const path = await make(dir, ...input, '-vf', 'transpose=cclock', ...X264, ...AAC, 'lying.mp4');
      return withMatrix(path, TURNED, 'rotated.mp4');
    },
  },
  {
    ...PLAIN,
    name: 'audio-starts-late.mp4',
    lengthSec: LONG_SEC,
    toneAt: (sec) => (sec < SHORT_SEC ? null : Math.floor(sec)),
    make: (dir) => {
      const late = tones(span(SHORT_SEC, LONG_SEC));
      const input = [...numbered(LONG, LANDSCAPE), '-itsoffset', String(SHORT_SEC), ...late];
      return make(dir, ...input, ...X264, ...AAC, 'audio-starts-late.mp4');
    },
  },
];
