import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { eventually } from '../../../test/live/eventually.ts';
import { testFfmpeg } from '../../../test/live/ffmpeg.ts';
import { cleanups, fixture, probe } from '../../../test/live/packager.ts';
import { startPlaybackServer } from '../../../test/live/playback-server.ts';
import { fakeNvenc } from '../../../test/transcode/fake-hardware.ts';
import { createLocalSource } from '../nodes/local-source.ts';
import { createLiveFiles } from '../playback/index.ts';

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test('packager: above the limit the source rung is a transcode within it, with regular keyframes', async () => {
  const { liveDir, packager, segments, master } = await fixture(
    { width: 854, height: 480, fps: 75, gopSec: 4 },
    { grant: { streamId: 's1', maxHeight: 360, maxFps: 60 } },
  );
  packager.start();
  const { segments: listed } = await segments('src', 3);
  for (const segment of listed) assert.ok(segment.durationSec < 1.1, `${segment.durationSec} s`);
  assert.match(await master(), /RESOLUTION=640x360,FRAME-RATE=60\.000/);
  const server = await startPlaybackServer(createLiveFiles({ source: createLocalSource({ liveDir }) }));
  cleanups.push(() => server.close());
  const [video] = await probe(`${server.url}/live/s1/src/index.m3u8`);
  assert.deepEqual([video?.width, video?.height, video?.r_frame_rate], [640, 360, '60/1']);
});

test('packager: gives up after ten failures with waits in between', async () => {
  let givenUp = 0;
  const { packager, playlist } = await fixture(
    { audio: 'mp3' },
    {},
    { feed: (stdin) => stdin.end(), backoffMs: [1], onGiveUp: () => (givenUp += 1) },
  );
  packager.start();
  // Ten starts of a program, on a machine that does other things.
  await eventually('giving up', () => givenUp === 1, 60_000);
  assert.equal(packager.pid(), 0);
  assert.deepEqual((await playlist('src')).segments, []);
  await packager.stop();
  assert.equal(givenUp, 1);
});

/** The profile of the newest run: Baseline is that of the fake hardware. */
const profileOf = (master: string) => /CODECS="(avc1\.[0-9a-f]{2})[^"]*"[^\n]*\n360\//.exec(master)?.[1];

for (const [name, source] of [
  ['beside the source', {}],
  ['in one ffmpeg with it', { audio: 'mp3' }],
] as const) {
  test(`packager: rungs ${name} are encoded in hardware, and in software after it fails`, async () => {
    const dir = await mkdtemp(join(tmpdir(), 'packager-hardware-'));
    cleanups.push(() => rm(dir, { recursive: true, force: true }));
    const hardware = { kind: 'nvenc', device: null, nodes: [], can: ['H264', 'LIVE'] } as const;
    let left = 0;
    const { packager, segments, master } = await fixture(
      { width: 854, height: 480, ...source },
      { maxRungs: 1, sessionsLeft: 1 },
      {
        ffmpeg: { ...testFfmpeg, bin: await fakeNvenc(dir, 'ffmpeg') },
        hardware,
        onSoftware: () => (left += 1),
        backoffMs: [1],
      },
    );
    packager.start();
    const before = await segments('360', 2);
    assert.equal(profileOf(await master()), 'avc1.42');
    process.kill(packager.pid(), 'SIGKILL');
    const later = await segments('360', before.nextSeq + 3);
    assert.equal(profileOf(await master()), 'avc1.4d');
    assert.equal(left, 1);
    assert.deepEqual([...new Set(later.segments.map(({ disc }) => disc))], [0, 1]);
  });
}
