import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testFfmpeg } from '../../../test/live/ffmpeg.ts';
import { createLogger } from '../../platform/logger.ts';
import { AudioFeed } from './audio-feed.ts';

test('a header that changes with each frame starts one program, not one for each', async () => {
  let started = 0;
  const start: typeof testFfmpeg.guard.start = (...given) => {
    started += 1;
    return testFfmpeg.guard.start(...given);
  };
  const ffmpeg = { ...testFfmpeg, guard: { ...testFfmpeg.guard, start } };
  const feed = new AudioFeed({ ffmpeg, log: createLogger('silent'), onPacket: () => {} });
  for (let count = 0; count < 20; count += 1) {
    feed.tag(Buffer.of(0xaf, 0, 0x11, count % 2 === 0 ? 0x90 : 0x88), () => count);
    feed.tag(Buffer.of(0xaf, 1, 0x21, 0x10, 0x04, 0x60, 0x8c, 0x1c), () => count);
  }
  await feed.stop();
  assert.equal(started, 1);
});

test('Opus of WHIP keeps the times that its encoder has counted, and follows a clock that jumps', async () => {
  const ticks: number[] = [];
  const onPacket = (at: number) => ticks.push(at);
  const feed = new AudioFeed({ ffmpeg: testFfmpeg, log: createLogger('silent'), onPacket });
  feed.begin(true);
  const began = 4_000_000_000;
  // Packets of 2.5 ms, which is no whole number of milliseconds.
  for (let count = 0; count < 40; count += 1) {
    const packet = { ms: Math.round(count * 2.5), ticks: began + count * 120, data: Buffer.of(count) };
    feed.direct(packet, packet.ms);
    // AAC published as its replacement.
    feed.tag(Buffer.of(0xaf, 1, 0x21), () => assert.fail('AAC is looked at'));
  }
  assert.deepEqual(
    ticks,
    Array.from({ length: 40 }, (_, count) => count * 120),
  );
  feed.direct({ ms: 5000, ticks: 7, data: Buffer.of(1) }, 5000);
  assert.equal(ticks.at(-1), 5000 * 48);
  await feed.stop();
  feed.direct({ ms: 5020, ticks: 967, data: Buffer.of(1) }, 5020);
  assert.equal(ticks.length, 41, 'and ends');
});
