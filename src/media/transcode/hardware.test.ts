import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type FakeHardware, fakeNvenc } from '../../../test/transcode/fake-hardware.ts';
import { segments } from '../../../test/transcode/result.ts';
import {
  assertDecodes,
  H264,
  make,
  normalPriorityGuard,
  packetTimes,
  pictures,
  testTranscoder,
  tone,
} from '../../../test/transcode/sources.ts';
import { systemClock } from '../../kernel/clock.ts';
import { createLogger } from '../../platform/logger.ts';
import type { RenditionFiles } from '../contract/index.ts';
import { createHardwarePool, type HardwarePool } from '../ffmpeg/hardware-pool.ts';
import { findHardware } from '../ffmpeg/hardware-probe.ts';

const { signal } = new AbortController();
const log = createLogger('silent');

let dir = '';
let input = '';
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hardware-run-'));
  input = await make(
    dir,
    ...[...pictures('640x360', 25, 2), ...tone(2), ...H264, '-g', '250', '-c:a', 'aac', 'in.mp4'],
  );
});
after(() => rm(dir, { recursive: true, force: true }));

/** Opens the hardware as a worker does at its start. */
async function openHardware(ffmpeg: string, sessions: number): Promise<HardwarePool> {
  const guard = await normalPriorityGuard();
  const search = { choice: 'nvenc', vaapiDevice: '', codecs: ['H264'] } as const;
  const { hardware } = await findHardware({ ...search, ffmpeg, guard, log });
  assert.ok(hardware);
  return createHardwarePool(hardware, sessions, systemClock);
}

interface Encoded {
  outDir: string;
  /** Renditions such as `360p avc1.42`; the Baseline profile identifies the fake hardware. */
  made: string[];
  images: string[] | null;
  pool: HardwarePool;
  again(): Promise<string[]>;
}

const profiles = (renditions: RenditionFiles[]) =>
  renditions
    .filter(({ kind }) => kind === 'VIDEO')
    .map(({ name, codecs }) => `${name} ${codecs.slice(0, 7)}`);

async function encode(options: FakeHardware, sessions = 8): Promise<Encoded> {
  const ffmpeg = await fakeNvenc(dir, `ffmpeg-${Math.random()}`, options);
  const pool = await openHardware(ffmpeg, sessions);
  const transcoder = testTranscoder({ ffmpeg, guard: normalPriorityGuard, hardware: async () => pool });
  const source = await transcoder.probe(input, signal);
  const { rungs, audio } = transcoder.plan(source, 1080);
  const plan = { rungs: rungs.map((rung) => ({ ...rung, isCopy: false })), audio, alignToSource: false };
  const outDir = await mkdtemp(join(dir, 'out-'));
  const { renditions, images } = await transcoder.encodeWithImages({
    input,
    source,
    outDir,
    signal,
    ...plan,
  });
  const again = async () => {
    const next = await mkdtemp(join(dir, 'out-'));
    return profiles(await transcoder.encode({ input, source, outDir: next, signal, ...plan }));
  };
  return { outDir, made: profiles(renditions), images, pool, again };
}

test('the ladder is encoded by the hardware that works, with the cuts and times of the software', async () => {
  const { outDir, made } = await encode({});
  assert.deepEqual(made, ['360p avc1.42', '240p avc1.42']);
  const plain = await encode({}, 0);
  assert.deepEqual(plain.made, ['360p avc1.64', '240p avc1.64']);
  for (const name of ['360p', '240p']) {
    const [hard, soft] = [outDir, plain.outDir].map((folder) => join(folder, name, 'index.m3u8'));
    assert.deepEqual(await segments(hard ?? ''), await segments(soft ?? ''));
    assert.deepEqual(await packetTimes(hard ?? ''), await packetTimes(soft ?? ''));
  }
  await assertDecodes(...['360p', '240p'].map((name) => join(outDir, name, 'index.m3u8')));
});

test('rungs without a hardware session are encoded in software, in the same run', async () => {
  const { made, pool, again } = await encode({}, 1);
  assert.deepEqual(made, ['360p avc1.42', '240p avc1.64']);
  assert.equal(pool.take(1), 1);
  assert.deepEqual(await again(), ['360p avc1.64', '240p avc1.64']);
});

test('an encode that fails midway is repeated in software, and later ones do not try the hardware', async () => {
  const { outDir, made, images, pool, again } = await encode({ failsLate: true });
  assert.deepEqual(made, ['360p avc1.64', '240p avc1.64']);
  assert.ok(images?.includes('poster.jpg'), String(images));
  const names = await readdir(join(outDir, 'img'));
  assert.deepEqual(names.toSorted(), images?.toSorted(), 'nothing is left of the run that failed');
  await assertDecodes(join(outDir, '360p', 'index.m3u8'));
  assert.equal(pool.take(1), 0, 'it rests');
  assert.deepEqual(await again(), made);
});

test('a file that cannot be encoded does not count as a hardware failure', async () => {
  const ffmpeg = await fakeNvenc(dir, 'ffmpeg-late', { failsLate: true });
  const pool = await openHardware(ffmpeg, 2);
  const transcoder = testTranscoder({ ffmpeg, guard: normalPriorityGuard, hardware: async () => pool });
  const source = await transcoder.probe(input, signal);
  const { rungs } = transcoder.plan(source, 1080);
  const outDir = await mkdtemp(join(dir, 'out-'));
  const run = { source, outDir, signal, audio: [], alignToSource: false };
  const plain = rungs.map((rung) => ({ ...rung, isCopy: false }));
  await assert.rejects(transcoder.encode({ ...run, input: join(dir, 'gone.mp4'), rungs: plain }));
  assert.equal(pool.take(9), 2, 'all places are given back, and it does not rest');
});
