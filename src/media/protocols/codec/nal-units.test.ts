import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AVC_360P30, AVC_1080P60 } from '../../../../test/rtmp/media.ts';
import { lengthBytesOf, readFrame } from './nal-units.ts';

/** The parameter set of a configuration record. */
function spsOf(record: string): Buffer {
  const bytes = Buffer.from(record, 'hex');
  return bytes.subarray(8, 8 + bytes.readUInt16BE(6));
}

function frame(...units: Buffer[]): Buffer {
  return Buffer.concat(
    units.flatMap((unit) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(unit.length);
      return [length, unit];
    }),
  );
}

const IDR = Buffer.from('65aabb', 'hex');
const SLICE = Buffer.from('41aabb', 'hex');

test('frames: access points are distinguished from other frames', () => {
  const seen = (...units: Buffer[]) => readFrame('avc1.640028', frame(...units));
  assert.deepEqual(seen(IDR), {
    hasAccessPoint: true,
    hasOtherPicture: false,
    hasIntraSlice: false,
    picture: null,
  });
  assert.deepEqual(seen(SLICE), {
    hasAccessPoint: false,
    hasOtherPicture: true,
    hasIntraSlice: false,
    picture: null,
  });
  assert.equal(readFrame('hvc1', frame(Buffer.from('2601aa', 'hex')))?.hasAccessPoint, true);
  assert.equal(readFrame('av01', frame(IDR)), null);
});

test('an intra slice is distinguished from one with references', () => {
  // first_mb_in_slice 0; slice_type 7 (I), 2 (I), 5 (P).
  const types = { 7: '4188', 2: '41b0', 5: '4198' };
  for (const [type, hex] of Object.entries(types)) {
    const facts = readFrame('avc1', frame(Buffer.from(`${hex}00`, 'hex')));
    assert.equal(facts?.hasIntraSlice, type !== '5', `slice type ${type}`);
  }
});

test('frames: the size is the largest one of the parameter sets', () => {
  const seen = readFrame('avc1', frame(spsOf(AVC_360P30), spsOf(AVC_1080P60), spsOf(AVC_360P30), IDR));
  assert.deepEqual(seen?.picture, { width: 1920, height: 1080 });
  assert.equal(readFrame('avc1', frame(Buffer.from('6700', 'hex')))?.picture, null);
});

test('frames: reading terminates for any input', () => {
  assert.ok(readFrame('avc1', Buffer.alloc(0)));
  assert.ok(readFrame('avc1', Buffer.alloc(10_000)));
  assert.ok(readFrame('avc1', Buffer.alloc(10_000, 0xff)));
  const short = readFrame('avc1', frame(IDR).subarray(0, 5));
  assert.equal(short?.hasOtherPicture, false);
});

test('frames: unit lengths have the size the header declares', () => {
  const config = Buffer.from(AVC_360P30, 'hex');
  assert.equal(lengthBytesOf({ codec: 'avc1', config }), 4);
  config[4] = 0xfd;
  assert.equal(lengthBytesOf({ codec: 'avc1', config }), 2);
  const seen = readFrame('avc1', Buffer.concat([Buffer.from('0003', 'hex'), IDR]), 2);
  assert.equal(seen?.hasAccessPoint, true);
});
