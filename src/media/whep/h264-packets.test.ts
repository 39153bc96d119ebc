import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FlvTag } from '../protocols/flv/reader.ts';
import { H264Depacketiser } from '../protocols/rtp/reader.ts';
import { h264Payloads, parameterSetsOf } from './h264-packets.ts';

const SPS = Buffer.from('6742c01eda02802dd0', 'hex');
const PPS = Buffer.from('68ce3c80', 'hex');
const RECORD = Buffer.concat([
  Buffer.from('0142c01effe1', 'hex'),
  Buffer.of(0, SPS.length),
  SPS,
  Buffer.of(1, 0, PPS.length),
  PPS,
]);

function frame(...units: Buffer[]): Buffer {
  return Buffer.concat(
    units.flatMap((unit) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(unit.length);
      return [length, unit];
    }),
  );
}

test('a frame survives packetization unchanged', () => {
  const large = Buffer.concat([Buffer.of(0x65), Buffer.alloc(5000, 7)]);
  const small = Buffer.of(0x65, 1, 2, 3);
  const payloads = h264Payloads(frame(Buffer.of(9, 16), large, small), 4, parameterSetsOf(RECORD));
  assert.ok(payloads.every(({ length }) => length <= 1150));
  const tags: FlvTag[] = [];
  const reader = new H264Depacketiser(new Map(), (tag) => tags.push(tag));
  for (const [index, payload] of payloads.entries())
    reader.packet({ payload, timestamp: 1, isLast: index === payloads.length - 1, payloadType: 96 }, 0);
  const [header, picture] = tags;
  assert.ok(header?.payload.includes(SPS) && header.payload.includes(PPS), 'parameter sets go before it');
  assert.ok(picture?.payload.subarray(5).equals(frame(large, small)));
});

test('input truncated anywhere is read up to its end', () => {
  const whole = frame(SPS, PPS, Buffer.of(0x65, 1, 2));
  for (let at = 0; at < whole.length; at += 1) {
    const units = h264Payloads(whole.subarray(0, at), 4, []);
    assert.ok(
      units.every((unit) => [SPS, PPS].some((set) => set.equals(unit))),
      String(at),
    );
  }
  for (let at = 0; at <= RECORD.length; at += 1)
    assert.ok(parameterSetsOf(RECORD.subarray(0, at)).every((set) => set.equals(SPS) || set.equals(PPS)));
});
