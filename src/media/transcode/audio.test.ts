import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { assertNear, transcode } from '../../../test/transcode/result.ts';
import { H264, make, pictures, testTranscoder, tone } from '../../../test/transcode/sources.ts';

const run = promisify(execFile);
const transcoder = testTranscoder();
const within = () => AbortSignal.timeout(60_000);
const PICTURES = pictures('64x64', 10, 0.5);

let dir = '';
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'audio-'));
});
after(() => rm(dir, { recursive: true, force: true }));

/** Returns input arguments with a different tone in each channel: 400, 800, 1200… Hz. */
function channels(count: number, layout = ''): string[] {
  const tones = Array.from({ length: count }, (_, index) => `0.1*sin(${400 * (index + 1)}*2*PI*t)`);
  return ['-f', 'lavfi', '-i', `aevalsrc=${tones.join('|')}:s=48000:d=0.5${layout && `:c=${layout}`}`];
}

/** Measures the frequency of each channel by its zero crossings. */
async function hertz(path: string): Promise<number[]> {
  const { stderr } = await run('ffmpeg', [
    ...['-nostdin', '-hide_banner', '-v', 'info', '-i', path, '-af', 'astats', '-f', 'null', '-'],
  ]);
  const rates = [...(stderr.split('Overall')[0]?.matchAll(/Zero crossings rate: ([\d.]+)/g) ?? [])];
  return rates.map(([, rate]) => Number(rate) * 24_000);
}

test('the first two channels are used when the layout cannot be mixed', async () => {
  const sounds = [...channels(9), ...channels(16), ...channels(2, 'SL+SR'), ...channels(3)];
  const maps = [0, 1, 2, 3, 4].flatMap((index) => ['-map', String(index)]);
  const input = await make(dir, ...PICTURES, ...sounds, ...maps, ...H264, '-c:a', 'pcm_s16le', 'odd.mov');
  const made = await transcode(dir, input);
  const names = made.renditions.filter(({ kind }) => kind === 'AUDIO').map(({ name }) => name);
  assert.deepEqual([names, made.source.notes], [['audio', 'audio-1', 'audio-2', 'audio-3'], []]);
  for (const name of names.slice(0, 3)) {
    const [left = 0, right = 0] = await hertz(made.path(name));
    assertNear(left, 400, 20, `${name}: left`);
    assertNear(right, 800, 20, `${name}: right`);
  }
});

test('a video has at most eight audio tracks, including the default one', async () => {
  const tracks = Array.from({ length: 10 }, () => ['-map', '1']).flat();
  const args = ['-map', '0', ...tracks, ...H264, '-c:a', 'pcm_s16le', '-disposition:a:9', 'default'];
  const input = await make(dir, ...PICTURES, ...tone(0.5), ...args, '-disposition:a:0', '0', 'many.mkv');
  const { audio, notes } = await transcoder.probe(input, within());
  assert.deepEqual(
    audio.map(({ streamIndex }) => streamIndex),
    [10, 1, 2, 3, 4, 5, 6, 7],
  );
  assert.deepEqual(
    notes.map(({ code }) => code),
    ['AUDIO_LEFT_OUT'],
  );
  assert.match(notes[0]?.message ?? '', /has 10 audio tracks; only 8 were used/);
});

test('audio is copied only when the container declares its settings to the end', async () => {
  const mp4 = await make(dir, ...PICTURES, ...tone(0.5), ...H264, '-c:a', 'aac', 'a.mp4');
  const ts = await make(dir, '-i', mp4, '-c', 'copy', 'a.ts');
  for (const [path, canCopy] of [
    [mp4, true],
    [ts, false],
  ] as const) {
    const { audio } = await transcoder.probe(path, within());
    assert.equal(audio[0]?.canCopy, canCopy, path);
  }
});
