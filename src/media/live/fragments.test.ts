import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fragmentBytes, initBytes } from '../../../test/live/fragments.ts';
import { writeInit } from '../protocols/fmp4/init.ts';
import { PartMaker } from '../protocols/fmp4/part-maker.ts';
import { createFragmentReader, type Fragment, type Init, InvalidFragmentsError } from './fragments.ts';

const INIT = initBytes();
const FRAGMENTS = [
  { startSec: 0, durationSec: 0.3, isKey: true },
  { startSec: 0.3, durationSec: 0.3, isKey: false },
  { startSec: 0.6, durationSec: 0.06, isKey: true, mediaBytes: 70_000 },
];
const STREAM = Buffer.concat([INIT, ...FRAGMENTS.map(fragmentBytes)]);

/** Returns the parsed items and the final error. */
function read(chunks: Buffer[]): { pieces: (Init | Fragment)[]; error: unknown } {
  const reader = createFragmentReader();
  const pieces: (Init | Fragment)[] = [];
  try {
    for (const chunk of chunks) pieces.push(...reader.push(chunk));
    return { pieces, error: null };
  } catch (error) {
    return { pieces, error };
  }
}

function cutAt(bytes: Buffer, places: number[]): Buffer[] {
  const cuts = [0, ...places.map((place) => place % bytes.length).sort((a, b) => a - b), bytes.length];
  return cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end));
}

test('fragments: returns header and fragments with the video timestamps, however the bytes are split', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(STREAM.length), { maxLength: 30 }), (places) => {
      const { pieces, error } = read(cutAt(STREAM, places));
      assert.equal(error, null);
      const [init, ...fragments] = pieces;
      assert.deepEqual(init, { type: 'init', bytes: INIT });
      assert.deepEqual(
        fragments,
        FRAGMENTS.map(({ startSec, durationSec, isKey }, index) => ({
          type: 'fragment',
          startSec,
          durationSec,
          shownSec: startSec,
          isIndependent: isKey,
          bytes: fragmentBytes(FRAGMENTS[index] ?? { startSec, durationSec, isKey }),
        })),
      );
    }),
    { numRuns: 50 },
  );
});

test('fragments: rejects an invalid stream and trusts none of its values', () => {
  const bit = fc.record({ at: fc.nat(STREAM.length - 1), value: fc.nat(255) });
  fc.assert(
    fc.property(fc.array(bit, { minLength: 1, maxLength: 5 }), fc.nat(STREAM.length), (bits, place) => {
      const bytes = Buffer.from(STREAM);
      for (const { at, value } of bits) bytes[at] = value;
      const { pieces, error } = read(cutAt(bytes, [place]));
      assert.ok(error === null || error instanceof InvalidFragmentsError, String(error));
      for (const piece of pieces) {
        assert.ok(piece.bytes.length <= bytes.length);
        if (piece.type === 'fragment') assert.ok(piece.durationSec >= 0 && piece.durationSec <= 60);
      }
    }),
    { numRuns: 2000 },
  );
});

test('fragments: an oversized box costs neither memory nor time', () => {
  const huge = (type: string, size: bigint) => {
    const head = Buffer.alloc(16);
    head.writeUInt32BE(1);
    head.write(type, 4, 'latin1');
    head.writeBigUInt64BE(size, 8);
    return head;
  };
  for (const bytes of [
    huge('mdat', 2n ** 63n),
    huge('moov', 2n ** 30n),
    huge('mdat', 0n),
    Buffer.from('GET / HTTP/1.1\r\n\r\n'),
    Buffer.from('\0\0\0\0mdat........'),
    Buffer.concat([INIT, INIT]),
    fragmentBytes({ startSec: 0, durationSec: 1, isKey: true }),
    Buffer.concat([INIT, fragmentBytes({ startSec: 0, durationSec: 4000, isKey: true })]),
  ]) {
    const { error } = read([bytes]);
    assert.ok(error instanceof InvalidFragmentsError, bytes.toString('latin1', 0, 40));
  }
});

test('fragments: audio whose video is missing is not independent; audio-only streams are', () => {
  const head = { width: 0, height: 0, entry: Buffer.alloc(8) };
  const video = { ...head, trackId: 1, isVideo: true, timescale: 90_000 };
  const audio = { ...head, trackId: 2, isVideo: false, timescale: 48_000 };
  for (const picture of [video, null]) {
    const made = [writeInit(picture === null ? [audio] : [picture, audio])];
    const onPart = (bytes: Buffer) => made.push(bytes);
    const maker = new PartMaker({ video: picture, audio, partMs: 200, onPart });
    if (picture !== null) maker.frame(0, 0, true, Buffer.alloc(100));
    for (let at = 0; at < 6000; at += 20) maker.sound(at, 960, Buffer.alloc(10));
    const { pieces } = read(made);
    const [first, ...rest] = pieces.filter((piece) => piece.type === 'fragment');
    assert.equal(first?.isIndependent, true);
    assert.ok(rest.length >= 4, `${rest.length} more`);
    for (const { isIndependent, isSoundAlone } of rest)
      assert.deepEqual([isIndependent, isSoundAlone], picture === null ? [true, undefined] : [false, true]);
  }
});
