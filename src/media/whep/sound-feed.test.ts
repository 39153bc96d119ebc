import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testFfmpeg } from '../../../test/live/ffmpeg.ts';
import { createLogger } from '../../platform/logger.ts';
import { SoundFeed } from './sound-feed.ts';

test('a header that changes with each frame begins one program, not one for each', async () => {
  let started = 0;
  const start: typeof testFfmpeg.guard.start = (...given) => {
    started += 1;
    return testFfmpeg.guard.start(...given);
  };
  const ffmpeg = { ...testFfmpeg, guard: { ...testFfmpeg.guard, start } };
  const feed = new SoundFeed({ ffmpeg, log: createLogger('silent'), onPacket: () => {} });
  for (let count = 0; count < 20; count += 1) {
    feed.tag(Buffer.of(0xaf, 0, 0x11, count % 2 === 0 ? 0x90 : 0x88), () => count);
    feed.tag(Buffer.of(0xaf, 1, 0x21, 0x10, 0x04, 0x60, 0x8c, 0x1c), () => count);
  }
  await feed.stop();
  assert.equal(started, 1);
});
