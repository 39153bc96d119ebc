import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type ChunkLimits, ChunkReader, PUBLISHING_LIMITS, UNAUTHENTICATED_LIMITS } from './chunk-reader.ts';
import { encodeMessage, type RtmpMessage, setChunkSize } from './messages.ts';
import { ProtocolError } from './protocol-error.ts';

function drain(reader: ChunkReader): RtmpMessage[] {
  const messages: RtmpMessage[] = [];
  for (let next = reader.next(); next !== null; next = reader.next()) {
    messages.push({ ...next, payload: Buffer.from(next.payload) });
  }
  return messages;
}

function readAll(bytes: Buffer, limits: ChunkLimits = PUBLISHING_LIMITS): RtmpMessage[] {
  const reader = new ChunkReader(limits);
  reader.push(bytes);
  return drain(reader);
}

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

const message = fc.record(
  {
    type: fc.constantFrom(8, 9, 18, 20),
    streamId: fc.integer({ min: 0, max: 0xffffffff }),
    timestamp: fc.oneof(
      fc.integer({ min: 0, max: 0xffffffff }),
      fc.constantFrom(0xfffffe, 0xffffff, 0x1000000),
    ),
    payload: fc.uint8Array({ maxLength: 700 }).map((bytes) => Buffer.from(bytes)),
  },
  { noNullPrototype: true },
);

test('any split of the bytes gives the same messages', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(message, fc.integer({ min: 3, max: 63 })), { minLength: 1, maxLength: 8 }),
      fc.constantFrom(1, 7, 128, 4096),
      fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 60 }),
      (sent, chunkSize, cuts) => {
        const encoded = sent.map(([one, csid]) => encodeMessage(one, chunkSize, csid));
        const bytes = Buffer.concat([encodeMessage(setChunkSize(chunkSize), 128), ...encoded]);
        const reader = new ChunkReader(PUBLISHING_LIMITS);
        const got: RtmpMessage[] = [];
        let at = 0;
        for (const cut of [...cuts, bytes.length]) {
          reader.push(bytes.subarray(at, at + cut));
          got.push(...drain(reader));
          at = Math.min(bytes.length, at + cut);
        }
        assert.deepEqual(
          got,
          sent.map(([one]) => one),
        );
        assert.equal(reader.pendingBytes, 0);
      },
    ),
  );
});

test('garbage is read or refused with a ProtocolError, never otherwise', () => {
  let failures = 0;
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2000 }), (bytes) => {
      try {
        readAll(Buffer.from(bytes), UNAUTHENTICATED_LIMITS);
      } catch (error) {
        assert.ok(error instanceof ProtocolError);
        failures++;
      }
    }),
    { numRuns: 500 },
  );
  assert.ok(failures > 50);
});

test('delta headers (types 1, 2, 3) add to the timestamp and retain omitted fields', () => {
  const got = readAll(
    hex(
      `03 000064 000002 08 01000000 aaaa
         43 00000a 000001 09 bb
         83 000014 cc
         c3 dd`.replaceAll('\n', ''),
    ),
  );
  assert.deepEqual(
    got.map(({ type, streamId, timestamp, payload }) => [type, streamId, timestamp, payload.toString('hex')]),
    [
      [8, 1, 100, 'aaaa'],
      [9, 1, 110, 'bb'],
      [9, 1, 130, 'cc'],
      [9, 1, 150, 'dd'],
    ],
  );
});

test('a type-3 header after a type-0 one repeats its timestamp as the delta', () => {
  const got = readAll(hex('03 000021 000001 09 01000000 aa c3 bb'));
  assert.deepEqual(
    got.map((one) => one.timestamp),
    [33, 66],
  );
});

test('two- and three-byte chunk stream ids', () => {
  const header = '000000 000001 09 01000000';
  const got = readAll(hex(`00 05 ${header} aa  01 0501 ${header} bb  c0 05 cc`));
  assert.deepEqual(
    got.map((one) => one.payload.toString('hex')),
    ['aa', 'bb', 'cc'],
  );
});

test('extended timestamps, repeated on type-3 chunks or left out there', () => {
  const payload = 'ab'.repeat(140);
  const head = '04 ffffff 00008c 09 01000000 01000000';
  for (const continuation of ['c4 01000000', 'c4']) {
    const [one] = readAll(hex(`${head} ${payload.slice(0, 256)} ${continuation} ${payload.slice(256)}`));
    assert.equal(one?.timestamp, 0x1000000);
    assert.equal(one?.payload.toString('hex'), payload);
  }
});

test('extended deltas wrap at 32 bits', () => {
  const got = readAll(hex('04 ffffff 000001 09 01000000 fffffff0 aa  84 000020 bb'));
  assert.deepEqual(
    got.map((one) => one.timestamp),
    [0xfffffff0, 0x10],
  );
});

test('abort drops the message of its chunk stream', () => {
  const begun = `04 000000 000100 09 01000000 ${'aa'.repeat(128)}`;
  const abort = '02 000000 000004 02 00000000 00000004';
  const got = readAll(hex(`${begun} ${abort} 04 000005 000001 09 01000000 bb`));
  assert.deepEqual(
    got.map((one) => one.payload.toString('hex')),
    ['bb'],
  );
});

for (const [what, bytes, reason] of [
  ['chunk size 0', '02 000000 000004 01 00000000 00000000', /invalid chunk size/],
  ['chunk size with the top bit', '02 000000 000004 01 00000000 80000001', /invalid chunk size/],
  ['chunk size without a number', '02 000000 000000 01 00000000', /invalid chunk size/],
  ['a message of 16 MB', '04 000000 ffffff 09 01000000', /message too large/],
  ['a continuation of nothing', 'c4 aa', /without a preceding header/],
  ['a type-2 header of nothing', '84 000000', /without a preceding header/],
  [
    'a new header within a message',
    `04 000000 000100 09 01000000 ${'aa'.repeat(128)} 04 000000 000001 09 01000000`,
    /within a message/,
  ],
] as const) {
  test(`refused: ${what}`, () => {
    assert.throws(() => readAll(hex(bytes)), reason);
  });
}

test('before a publish: 64 KiB a message, 256 KiB in all, 16 chunk streams', () => {
  const large = encodeMessage({ type: 9, streamId: 1, timestamp: 0, payload: Buffer.alloc(65537) }, 128, 4);
  assert.throws(() => readAll(large, UNAUTHENTICATED_LIMITS), /message too large/);
  const begun = (csid: number) =>
    encodeMessage({ type: 9, streamId: 1, timestamp: 0, payload: Buffer.alloc(65536) }, 65535, csid).subarray(
      0,
      -2,
    );
  const chunkSize = encodeMessage(setChunkSize(65535), 128);
  const streams = (count: number) =>
    Buffer.concat([chunkSize, ...Array.from({ length: count }, (_, i) => begun(3 + i))]);
  assert.deepEqual(readAll(streams(4), UNAUTHENTICATED_LIMITS), []);
  assert.throws(() => readAll(streams(5), UNAUTHENTICATED_LIMITS), /too many unfinished messages/);
  const small = (csid: number) =>
    encodeMessage({ type: 18, streamId: 1, timestamp: 0, payload: Buffer.alloc(1) }, 128, csid);
  const opened = (count: number) => Buffer.concat(Array.from({ length: count }, (_, i) => small(3 + i)));
  assert.equal(readAll(opened(16), UNAUTHENTICATED_LIMITS).length, 16);
  assert.throws(() => readAll(opened(17), UNAUTHENTICATED_LIMITS), /too many chunk streams/);
});

test('a length in a header without data allocates no memory', () => {
  const reader = new ChunkReader({ ...PUBLISHING_LIMITS, assemblyBytes: 64 * 1024 });
  reader.push(
    hex(`02 000000 000004 01 00000000 00ffffff  04 000000 7fffff 09 01000000 ${'aa'.repeat(1000)}`),
  );
  assert.equal(reader.next(), null);
});
