import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { CURRENT_FFMPEG, NO_CURRENT_FFMPEG } from '../../../test/live/current-ffmpeg.ts';
import { startFlvSource } from '../../../test/live/flv-source.ts';
import { H264, make, pictures, testTranscoder, tone } from '../../../test/transcode/sources.ts';
import { systemClock } from '../../kernel/clock.ts';
import { createLogger } from '../../platform/logger.ts';
import { createLiveManager } from '../live/live-manager.ts';
import { openFfmpeg } from './program.ts';

let dir = '';
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'current-'));
});
after(() => rm(dir, { recursive: true, force: true }));

test('the current ffmpeg encodes a ladder alongside a copied top rendition', {
  skip: NO_CURRENT_FFMPEG,
}, async () => {
  const input = await make(dir, ...pictures('640x480', 25, 3), ...tone(3), ...H264, '-c:a', 'aac', 'in.mp4');
  const transcoder = testTranscoder({ ffmpeg: CURRENT_FFMPEG });
  const signal = AbortSignal.timeout(60_000);
  const source = await transcoder.probe(input, signal);
  const { rungs, audio } = transcoder.plan(source, 1080);
  const outDir = await mkdtemp(join(dir, 'out-'));
  const made = await transcoder.encode({ input, source, outDir, signal, rungs, audio, alignToSource: true });
  assert.deepEqual(
    made.map(({ name }) => name),
    [...rungs.map(({ name }) => name), 'audio'],
  );
});

test('the current ffmpeg packages a live signal in two renditions', {
  skip: NO_CURRENT_FFMPEG,
}, async (t) => {
  const source = await startFlvSource({ width: 640, height: 480 });
  const liveDir = await mkdtemp(join(dir, 'live-'));
  const manager = createLiveManager({
    engine: { feed: source.feed, stats: () => null, kick: async () => {} },
    liveDir,
    ffmpeg: await openFfmpeg(CURRENT_FFMPEG),
    maxRungs: 1,
    cores: 8,
    log: createLogger('silent'),
    clock: systemClock,
  });
  t.after(async () => {
    await source.close();
    await manager.stop();
  });
  const session = {
    sessionId: 'ing_1',
    streamId: 's1',
    nodeId: 'node-1',
    protocol: 'rtmp',
    startedAt: systemClock.now(),
    grant: { streamId: 's1', maxHeight: 1080, maxFps: 60 },
    video: { codec: 'avc1.42c01e', width: 640, height: 480, fps: 30 },
    audio: { codec: 'mp4a.40.2', sampleRate: 44_100, channels: 2 },
  } as const;
  await manager.start();
  await manager.onStart(session);
  manager.onMedia(session);
  for (const rung of ['src', '360']) {
    const path = join(liveDir, 's1', `${rung}.m3u8`);
    await waitFor(async () => (await readFile(path, 'utf8')).includes('.m4s'), {
      timeoutMs: 20_000,
      message: rung,
    });
  }
});
