import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FlvTag } from '../flv/reader.ts';
import { AacDepacketiser, aacFormat, H264Depacketiser } from './reader.ts';

const FRAME_TICKS = 3000;
const SETS = 'Z0LAHtkA,aM48gA==';
const IDR = Buffer.of(0x65, 0x88, 0x84);
const PICTURE = Buffer.of(0x41, 0x9a, 0x02);

/** Returns each frame's decoding time, and the offset of its presentation. */
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

test('a clock that is set back does not turn frames in order into B-frames', () => {
  // The timestamps wrap around in between.
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

test('frames shown before a frame that arrived earlier keep their time', () => {
  const pictures = [0, 3, 1, 2, 6].map((place) => ({ timestamp: place * FRAME_TICKS, ms: place * 33 }));
  assert.deepEqual(timesOf(pictures), [
    { dts: 0, compositionMs: 0 },
    { dts: 99, compositionMs: 0 },
    { dts: 100, compositionMs: -67 },
    { dts: 101, compositionMs: -35 },
    { dts: 198, compositionMs: 0 },
  ]);
});

const packet = (payload: Buffer, isLast = true) => ({ payload, isLast, timestamp: 0, payloadType: 96 });

test('aggregate packets of H.264 have at most 64 units, and none that is empty or cut short', () => {
  const unitsOf = (...packets: Buffer[]) => {
    let units = 0;
    const depacketiser = new H264Depacketiser(
      new Map([['sprop-parameter-sets', SETS]]),
      ({ payload }: FlvTag) => {
        if (payload[1] !== 1) return;
        for (let at = 5; at < payload.length; at += 4 + payload.readUInt32BE(at)) units += 1;
      },
    );
    for (const [index, payload] of packets.entries()) {
      depacketiser.packet(packet(payload, index === packets.length - 1), 0);
    }
    return units;
  };
  const aggregate = (count: number, unit: Buffer) =>
    Buffer.concat([
      Buffer.of(24),
      ...Array.from({ length: count }, () => [Buffer.of(0, unit.length), unit]).flat(),
    ]);
  assert.equal(unitsOf(aggregate(3, PICTURE)), 3);
  assert.equal(unitsOf(aggregate(1000, PICTURE)), 64);
  assert.equal(unitsOf(Buffer.concat([aggregate(1, PICTURE), Buffer.alloc(2000), aggregate(1, PICTURE)])), 1);
  assert.equal(unitsOf(aggregate(2, PICTURE).subarray(0, -1)), 1);
});

const AAC = { config: '1190', sizelength: '13', indexlength: '3', indexdeltalength: '3' };
const formatOf = (parameters: Record<string, string>) => aacFormat(new Map(Object.entries(parameters)));

test('AAC is read only in the modes of RFC 3640', () => {
  assert.equal(formatOf(AAC)?.sizeBits, 13);
  assert.equal(formatOf({ config: '1190' })?.sizeBits, 13);
  assert.equal(formatOf({ config: '1190', mode: 'AAC-lbr' })?.sizeBits, 6);
  assert.equal(formatOf({ ...AAC, sizelength: '6', indexlength: '2', indexdeltalength: '2' })?.sizeBits, 6);
  const refused = [
    { ...AAC, sizelength: '1', indexlength: '0', indexdeltalength: '0' },
    { ...AAC, sizelength: '16' },
    { ...AAC, indexlength: '-0.9' },
    { ...AAC, sizelength: '6' },
    { ...AAC, ctsdeltalength: '1' },
    { ...AAC, config: '' },
    { ...AAC, config: '00'.repeat(1000) },
  ];
  for (const parameters of refused) assert.equal(formatOf(parameters), null, JSON.stringify(parameters));
});

/** Returns the units of these packets; `unitBytes` are the sizes that a packet declares. */
function audioUnits(...packets: { unitBytes: number[]; data: Buffer; isLast?: boolean }[]): number[] {
  const units: number[] = [];
  const format = formatOf(AAC);
  assert.ok(format !== null);
  const audio = new AacDepacketiser(format, 48_000, ({ payload }) => {
    if (payload[1] === 1) units.push(payload.length - 2);
  });
  for (const { unitBytes, data, isLast = true } of packets) {
    const headers = Buffer.alloc(2 + 2 * unitBytes.length);
    headers.writeUInt16BE((16 * unitBytes.length) & 0xffff);
    for (const [index, bytes] of unitBytes.entries()) headers.writeUInt16BE(bytes << 3, 2 + 2 * index);
    audio.packet(packet(Buffer.concat([headers, data]), isLast), 0);
  }
  return units;
}

test('a packet of AAC has at most 64 units, and empty ones are left out', () => {
  const ones = (count: number) => ({ unitBytes: Array(count).fill(1), data: Buffer.alloc(count, 1) });
  assert.equal(audioUnits(ones(64)).length, 64);
  assert.equal(audioUnits(ones(65)).length, 0);
  assert.deepEqual(audioUnits({ unitBytes: Array(4000).fill(0), data: Buffer.of(1) }), []);
  assert.deepEqual(audioUnits({ unitBytes: [0, 2, 0, 3], data: Buffer.alloc(5) }), [2, 3]);
});

test('a unit of AAC in several packets is joined, and one of too many packets is left out', () => {
  const fragment = (bytes: number, isLast: boolean) => ({
    unitBytes: [3000],
    data: Buffer.alloc(bytes),
    isLast,
  });
  assert.deepEqual(audioUnits(fragment(1000, false), fragment(1000, false), fragment(1000, true)), [3000]);
  const endless = Array.from({ length: 50_000 }, () => fragment(1, false));
  assert.deepEqual(audioUnits(...endless), []);
  const held = audioUnits(...Array.from({ length: 10_000 }, (_, index) => fragment(1, index === 9999)));
  assert.ok(
    held.every((bytes) => bytes <= 64),
    `${held}`,
  );
});
