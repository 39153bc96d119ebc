import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { TestClock } from '../../../test/harness/clock.ts';
import { assertOptionsExist } from '../../../test/transcode/encoder-options.ts';
import { type FakeHardware, fakeNvenc } from '../../../test/transcode/fake-hardware.ts';
import { testGuard } from '../../../test/transcode/sources.ts';
import { createLogger } from '../../platform/logger.ts';
import { createHardwarePool } from './hardware-pool.ts';
import { findHardware, type HardwareSearch } from './hardware-probe.ts';

let dir = '';
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hardware-'));
});
after(() => rm(dir, { recursive: true, force: true }));

async function find(search: Partial<HardwareSearch>) {
  return findHardware({
    choice: 'nvenc',
    vaapiDevice: '/dev/dri/renderD199',
    codecs: ['H264', 'HEVC', 'AV1'],
    ffmpeg: 'ffmpeg',
    guard: await testGuard(),
    log: createLogger('silent'),
    ...search,
  });
}

const fake = (options: FakeHardware = {}) => fakeNvenc(dir, `ffmpeg-${Math.random()}`, options);

test('each codec is tried by itself, shut in as it will be: what fails is left to the software', async () => {
  const { hardware, refusals } = await find({ ffmpeg: await fake() });
  assert.deepEqual(hardware?.can, ['H264', 'HEVC', 'HEVC_10', 'LIVE']);
  assert.deepEqual(
    refusals.map(({ what }) => what),
    ['AV1 by nvenc', 'AV1_10 by nvenc'],
  );
  for (const { reason } of refusals) assert.match(reason, /Unknown encoder 'av1_nvenc'/);
});

test('codecs that are not requested are not tried', async () => {
  const { hardware, refusals } = await find({ ffmpeg: await fake(), codecs: ['H264'] });
  assert.deepEqual([hardware?.can, refusals], [['H264', 'LIVE'], []]);
});

test('an encoder with keyframes at unrequested positions is rejected', async () => {
  const deaf = await find({ ffmpeg: await fake({ isDeaf: true }), codecs: ['H264'] });
  const reason = 'its keyframes are not at the requested positions';
  assert.deepEqual(deaf, { hardware: null, refusals: [{ what: 'nvenc', reason }] });
});

test('hardware is unavailable without H.264 or a device, and the reason is one line', async () => {
  const lacking = await find({ ffmpeg: await fake({ encoders: ['hevc_nvenc'] }) });
  assert.equal(lacking.hardware, null);
  const bare = await find({ choice: 'vaapi' });
  assert.equal(bare.hardware, null);
  const [refusal] = bare.refusals;
  assert.equal(refusal?.what, 'vaapi');
  assert.match(refusal?.reason ?? '', /\S/);
  assert.doesNotMatch(refusal?.reason ?? '', /\n|0x[0-9a-f]{4}/);
  const gone = await find({ ffmpeg: '/nowhere/ffmpeg' });
  assert.match(gone.refusals[0]?.reason ?? '', /\S/);
});

test('the available hardware is found automatically, and software encoding does not wait for the search', async () => {
  assert.equal((await find({ choice: 'auto', ffmpeg: await fake() })).hardware?.kind, 'nvenc');
  const nothing = { hardware: null, refusals: [] };
  assert.deepEqual(await find({ choice: 'software', ffmpeg: '/nowhere/ffmpeg' }), nothing);
  assert.deepEqual(await find({ choice: 'auto', ffmpeg: await fake({ encoders: [] }) }), nothing);
});

test('no more places than there are, and none while it rests', () => {
  const clock = new TestClock();
  const hardware = { kind: 'nvenc', device: null, nodes: [], can: ['H264'] } as const;
  const pool = createHardwarePool(hardware, 3, clock);
  assert.deepEqual([pool.take(2), pool.take(2), pool.take(1)], [2, 1, 0]);
  pool.give(2);
  pool.rest();
  assert.equal(pool.take(1), 0);
  clock.advance(301_000);
  assert.equal(pool.take(9), 2);
});

for (const kind of ['vaapi', 'nvenc'] as const) {
  test(`every option passed to ${kind} exists`, () => assertOptionsExist('ffmpeg', kind, ['H264', 'HEVC']));
}
