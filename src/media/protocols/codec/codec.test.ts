import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AVC_360P30, AVC_1080P60 } from '../../../../test/rtmp/media.ts';
import { parseAudioSpecificConfig } from './aac.ts';
import { parseAv1Codec, parseVp9Codec } from './av1-vp9.ts';
import { CodecError } from './bit-reader.ts';
import { parseAudioInfo, readAudioPacket } from './flv-audio.ts';
import { parseVideoHeader, readVideoPacket } from './flv-video.ts';
import { parseAvcConfig, parseSps } from './h264.ts';
import { parseHevcConfig } from './hevc.ts';

const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');

/** Written by x264; 1080 lines and 606 columns need cropping, the fourth is interlaced. */
const AVC = [
  [AVC_360P30, { codec: 'avc1.42c01e', width: 640, height: 360, fps: 30 }],
  [AVC_1080P60, { codec: 'avc1.42c02a', width: 1920, height: 1080, fps: 60 }],
  [
    '0142c01fffe100176742c01fda0360f79bc04400000fa40003a9803c60ca8001000468ce0fc8',
    { codec: 'avc1.42c01f', width: 854, height: 480, fps: 30000 / 1001 },
  ],
  [
    '014d401effe10018674d401ef405a126c044000003000400000300c87c50aa8001000468de0fc8',
    { codec: 'avc1.4d401e', width: 720, height: 576, fps: 25, isInterlaced: true },
  ],
  [
    '01f4001fffe1001b67f4001f91968098089ee2f011000003000100000300320f1832a001000568ce0f1920fff8f800',
    { codec: 'avc1.f4001f', width: 606, height: 1078, fps: 25 },
  ],
] as const;

for (const [record, expected] of AVC) {
  test(`AVC ${expected.width}x${expected.height}`, () => {
    assert.deepEqual(parseAvcConfig(bytes(record)), expected);
  });
}

/** Written by x265, without the SEI. */
const HEVC = [
  [
    '0101600000009000000000005df000fcfdf8f800000f02' +
      'a00001001840010c01ffff01600000030090000003000003005d959409' +
      'a10001002b42010101600000030090000003000003005da00280802d16595952930bc05a020000030002000003003c10',
    { codec: 'hvc1.1.6.L93.90', width: 1280, height: 720, fps: 0 },
  ],
  [
    '01022000000090000000000078f000fcfdfafa00000f02' +
      'a00001001840010c01ffff022000000300900000030000030078959409' +
      'a10001002d420101022000000300900000030000030078a00220801e072ed965654a4c2f016808000003000800000300f040',
    { codec: 'hvc1.2.4.L120.90', width: 1080, height: 1920, fps: 0 },
  ],
] as const;

for (const [record, expected] of HEVC) {
  test(`HEVC ${expected.width}x${expected.height}`, () => {
    assert.deepEqual(parseHevcConfig(bytes(record)), expected);
  });
}

test('AV1 and VP9 codec strings', () => {
  assert.equal(parseAv1Codec(bytes('81010c000a0b0000000cc4ff6736be4010')), 'av01.0.01M.08');
  assert.equal(parseAv1Codec(bytes('812d4000')), 'av01.1.13M.10');
  assert.equal(parseVp9Codec(bytes('010000000015820202020000')), 'vp09.00.21.08');
});

test('AAC: rate, channels, explicit rate, HE-AAC', () => {
  assert.deepEqual(parseAudioSpecificConfig(bytes('119056e500')), {
    codec: 'mp4a.40.2',
    sampleRate: 48000,
    channels: 2,
  });
  assert.deepEqual(parseAudioSpecificConfig(bytes('120856e500')), {
    codec: 'mp4a.40.2',
    sampleRate: 44100,
    channels: 1,
  });
  // 00010 1111 000000000011111010000000 0010
  assert.deepEqual(parseAudioSpecificConfig(bytes('1780 1f40 10'.replaceAll(' ', ''))), {
    codec: 'mp4a.40.2',
    sampleRate: 16000,
    channels: 2,
  });
  // 00101 0110 0010 0011: SBR, 24000 in, stereo, 48000 out
  assert.deepEqual(parseAudioSpecificConfig(bytes('2b1180')), {
    codec: 'mp4a.40.5',
    sampleRate: 48000,
    channels: 2,
  });
});

test('legacy and enhanced video packets', () => {
  const kinds = (hex: string) => {
    const { kind, keyframe, codec } = readVideoPacket(bytes(hex));
    return [kind, keyframe, codec];
  };
  assert.deepEqual(kinds('1700000000'), ['header', false, 'avc1']);
  assert.deepEqual(kinds('1701000000aa'), ['frame', true, 'avc1']);
  assert.deepEqual(kinds('2701000000aa'), ['frame', false, 'avc1']);
  assert.deepEqual(kinds('1702000000'), ['other', true, 'avc1']);
  assert.deepEqual(kinds('5700'), ['other', false, '']);
  assert.deepEqual(kinds('9068766331'), ['header', false, 'hvc1']);
  assert.deepEqual(kinds('9168766331000000aa'), ['frame', true, 'hvc1']);
  assert.deepEqual(kinds('a361763031aa'), ['frame', false, 'av01']);
  assert.deepEqual(kinds('9461763031aa'), ['other', true, 'av01']);
  assert.deepEqual(kinds(''), ['other', false, '']);
  assert.deepEqual(kinds('90'), ['other', false, '']);
});

test('enhanced sequence headers tell the same as the records in them', () => {
  for (const [fourCc, record, codec] of [
    ['61766331', AVC_360P30, 'avc1.42c01e'],
    ['68766331', HEVC[0][0], 'hvc1.1.6.L93.90'],
    ['61763031', '81010c00', 'av01.0.01M.08'],
    ['76703039', '010000000015820202020000', 'vp09.00.21.08'],
  ] as const) {
    assert.equal(parseVideoHeader(readVideoPacket(bytes(`90${fourCc}${record}`))).codec, codec);
  }
});

test('audio packets', () => {
  assert.deepEqual(parseAudioInfo(readAudioPacket(bytes('af00119056e500'))), {
    codec: 'mp4a.40.2',
    sampleRate: 48000,
    channels: 2,
  });
  assert.equal(readAudioPacket(bytes('af01aabb')).kind, 'frame');
  assert.deepEqual(parseAudioInfo(readAudioPacket(bytes('2eaabb'))), {
    codec: 'mp3',
    sampleRate: 44100,
    channels: 1,
  });
  assert.deepEqual(parseAudioInfo(readAudioPacket(bytes('904f7075734f707573486561640102'))), {
    codec: 'opus',
    sampleRate: 48000,
    channels: 2,
    isEnhanced: true,
  });
});

test('no header hangs a parser or throws anything but a CodecError', () => {
  const parsers = [
    parseAvcConfig,
    parseHevcConfig,
    parseSps,
    parseAudioSpecificConfig,
    parseAv1Codec,
    parseVp9Codec,
  ];
  const seeds = [...AVC, ...HEVC].map(([record]) => bytes(record));
  const mutated = fc
    .tuple(
      fc.constantFrom(...seeds),
      fc.array(fc.tuple(fc.nat(60), fc.nat(255)), { maxLength: 6 }),
      fc.nat(80),
    )
    .map(([seed, changes, length]) => {
      const copy = Buffer.from(seed.subarray(0, Math.max(1, length)));
      for (const [at, value] of changes) if (at < copy.length) copy[at] = value;
      return copy;
    });
  const input = fc.oneof(
    mutated,
    fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array)),
  );
  const startedAt = performance.now();
  let parsed = 0;
  fc.assert(
    fc.property(input, (record) => {
      for (const parse of parsers) {
        try {
          parse(record);
          parsed++;
        } catch (error) {
          assert.ok(error instanceof CodecError, String(error));
        }
      }
      readVideoPacket(record);
      readAudioPacket(record);
    }),
    { numRuns: 3000 },
  );
  assert.ok(parsed > 100, 'some of them parse');
  assert.ok(performance.now() - startedAt < 10_000);
});
