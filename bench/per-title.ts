/**
 * Measures the savings of per-title analysis against the fixed ladder, in bytes and SSIM: `node
 * bench/per-title.ts`. Two minutes on two cores; bytes and SSIM are independent of the machine's load. Prints
 * one JSON line for each clip, and one for all.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { LadderPlan } from '../src/media/contract/index.ts';
import { make, normalPriorityGuard, testTranscoder } from '../test/transcode/sources.ts';
import { report } from './support/report.ts';

const run = promisify(execFile);
const transcoder = testTranscoder({ threads: 2, guard: normalPriorityGuard });
const { signal } = new AbortController();
const root = await mkdtemp(join(tmpdir(), 'bench-per-title-'));

const SIZE = 's=854x480:r=25';
const ZOOM = `mandelbrot=${SIZE}:end_scale=0.02:end_pts=600`;
/** Clips from nearly static to too complex for any bitrate limit. */
const CLIPS: [name: string, picture: string, filter: string][] = [
  ['slides', `testsrc=${SIZE}`, 'fps=1/5,fps=25'],
  [
    'a speaker before a wall, with the noise of a camera',
    `mandelbrot=${SIZE}:end_scale=0.3:end_pts=1`,
    "loop=loop=-1:size=1:start=0,drawbox=x='300+20*sin(t*3)':y='150+10*sin(t*5)':w=200:h=250:c=brown:t=fill,noise=alls=3:allf=t",
  ],
  ['graphics', `testsrc2=${SIZE}`, 'null'],
  ['a flight', ZOOM, 'null'],
  ['a flight on grainy film', ZOOM, 'noise=alls=10:allf=t'],
];
const SECONDS = '18';

interface Outcome {
  bytes: number;
  /** SSIM of the top rendition. */
  ssim: number;
  rungs: string;
  keyframeSec: number;
}

async function outcome(input: string, ladder: LadderPlan): Promise<Outcome> {
  const source = await transcoder.probe(input, signal);
  const outDir = await mkdtemp(join(root, 'out-'));
  const { rungs, keyframeSec = 2 } = ladder;
  const what = { rungs, audio: [], alignToSource: false, keyframeSec };
  const made = await transcoder.encode({ input, source, outDir, signal, ...what });
  const top = join(outDir, made[0]?.name ?? '', 'index.m3u8');
  const compared = ['-nostdin', '-hide_banner', '-i', top, '-i', input, '-lavfi', 'ssim', '-f', 'null', '-'];
  const { stderr } = await run('ffmpeg', compared);
  return {
    bytes: made.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    ssim: Number(/All:([\d.]+)/.exec(stderr)?.[1]),
    rungs: rungs.map(({ name }) => name).join(' '),
    keyframeSec,
  };
}

const savings: number[] = [];
let worstSsim = 0;
try {
  for (const [index, [name, picture, filter]] of CLIPS.entries()) {
    const pixels = ['-c:v', 'libx264', '-preset', 'ultrafast', '-qp', '4', '-pix_fmt', 'yuv420p'];
    const from = ['-f', 'lavfi', '-i', picture, '-vf', filter, '-t', SECONDS];
    const input = await make(root, ...from, ...pixels, `${index}.mkv`);
    const source = await transcoder.probe(input, signal);
    const ladder = { ...transcoder.plan({ ...source, copyRefusal: 'bench' }, 1080), audio: [] };
    const outDir = await mkdtemp(join(root, 'look-'));
    const refined = await transcoder.analyzeComplexity({ input, source, outDir, signal, ladder, keep: [] });
    const fixed = await outcome(input, ladder);
    const own = await outcome(input, refined);
    const share = 1 - own.bytes / fixed.bytes;
    savings.push(share);
    worstSsim = Math.max(worstSsim, fixed.ssim - own.ssim);
    const text = ({ bytes, ssim, rungs, keyframeSec }: Outcome) =>
      `${bytes} bytes at ${ssim}, ${rungs}, keyframes every ${keyframeSec} s`;
    const what = `per title: ${name}: ${text(own)}; fixed: ${text(fixed)}`;
    report({ name: what, value: share, unit: 'share of bytes saved', target: '>= 0' });
  }
  const mean = savings.reduce((sum, share) => sum + share, 0) / savings.length;
  report({
    name: 'per title: mean of all clips',
    value: mean,
    unit: 'share of bytes saved',
    target: '>= 0.15',
  });
  report({
    name: 'per title: SSIM of the top rendition',
    value: worstSsim,
    unit: 'lost at most',
    target: '<= 0.001',
  });
} finally {
  await rm(root, { recursive: true, force: true });
}
