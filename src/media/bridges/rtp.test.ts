import assert from 'node:assert/strict';
import { test } from 'node:test';
import { H264Depacketiser } from './rtp.ts';

const FRAME_TICKS = 3000;
const SETS = 'Z0LAHtkA,aM48gA==';
const IDR = Buffer.of(0x65, 0x88, 0x84);
const PICTURE = Buffer.of(0x41, 0x9a, 0x02);

/** What each picture that comes is decoded at, and how much later shown. */
function timesOf(pictures: readonly { timestamp: number; ms: number }[]) {
  const times: { dts: number; compositionMs: number }[] = [];
  const depacketiser = new H264Depacketiser(
    new Map([['sprop-parameter-sets', SETS]]),
    ({ timestamp: dts, payload }) => {
      const isPicture = payload.readUInt8(1) === 1;
      if (isPicture) times.push({ dts, compositionMs: payload.readIntBE(2, 3) });
    },
  );
  for (const [index, { timestamp, ms }] of pictures.entries()) {
    const payload = index === 0 ? IDR : PICTURE;
    depacketiser.packet({ isLast: true, payloadType: 96, timestamp: timestamp >>> 0, payload }, ms);
  }
  return times;
}

test('a clock that is set back does not make B-frames of pictures that come in their order', () => {
  // The timestamps begin anew on the way.
  const pictures = [1000, 1033, 1066, 1040, 1073, 1106].map((ms, index) => ({
    timestamp: 2 ** 32 - 2 * FRAME_TICKS + index * FRAME_TICKS,
    ms,
  }));
  assert.deepEqual(timesOf(pictures), [
    { dts: 1000, compositionMs: 0 },
    { dts: 1033, compositionMs: 0 },
    { dts: 1066, compositionMs: 0 },
    { dts: 1067, compositionMs: 0 },
    { dts: 1073, compositionMs: 0 },
    { dts: 1106, compositionMs: 0 },
  ]);
});

test('pictures that are shown before one that came earlier keep their time', () => {
  const pictures = [0, 3, 1, 2, 6].map((place) => ({ timestamp: place * FRAME_TICKS, ms: place * 33 }));
  assert.deepEqual(timesOf(pictures), [
    { dts: 0, compositionMs: 0 },
    { dts: 99, compositionMs: 0 },
    { dts: 100, compositionMs: -67 },
    { dts: 101, compositionMs: -35 },
    { dts: 198, compositionMs: 0 },
  ]);
});
