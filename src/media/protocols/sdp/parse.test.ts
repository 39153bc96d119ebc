import assert from 'node:assert/strict';
import { test } from 'node:test';
import { targets } from '../../../../test/fuzz/targets/sdp.ts';
import { parseSdp } from './parse.ts';
import { codecsOf, isReceiving, isRejected, isSending, SdpError } from './session-description.ts';

const CAMERA = `v=0
o=- 1 1 IN IP4 192.0.2.1
s=Camera
a=control:*
a=range:npt=0-
m=video 0 RTP/AVP 96
c=IN IP4 0.0.0.0
b=AS:5000
a=recvonly
a=control:trackID=1
a=rtpmap:96 H264/90000
a=fmtp:96 packetization-mode=1;sprop-parameter-sets=Z00AKpWoHgCJ+VA=,aO48gA==
m=audio 0/2 RTP/AVP 0 97
a=rtpmap:97 mpeg4-generic/16000/2
a=fmtp:97 streamtype=5; mode=AAC-hbr
a=Media_header:MEDIAINFO=494D4B48
`;

test('a description is read into sections, attributes and codecs', () => {
  const { attributes, media } = parseSdp(CAMERA);
  assert.deepEqual(attributes, [
    { name: 'control', value: '*' },
    { name: 'range', value: 'npt=0-' },
  ]);
  const [video, audio] = media;
  assert.ok(video !== undefined && audio !== undefined);
  const { kind, port, protocol, formats, direction } = video;
  assert.deepEqual([kind, port, protocol, formats, direction], ['video', 0, 'RTP/AVP', ['96'], 'recvonly']);
  const parameters = 'packetization-mode=1;sprop-parameter-sets=Z00AKpWoHgCJ+VA=,aO48gA==';
  assert.deepEqual(codecsOf(video), [
    { payloadType: 96, name: 'H264', clockRate: 90_000, channels: 1, parameters },
  ]);
  assert.deepEqual(codecsOf(audio), [
    {
      ...{ payloadType: 97, name: 'MPEG4-GENERIC', clockRate: 16_000, channels: 2 },
      parameters: 'streamtype=5; mode=AAC-hbr',
    },
  ]);
  assert.deepEqual([audio.port, audio.direction], [0, null]);
});

const section = (...lines: string[]) =>
  parseSdp(['v=0', 'm=audio 9 RTP/AVP 0', ...lines, ''].join('\r\n')).media[0] ?? assert.fail();

test('lines end in CRLF or a bare LF, and the last direction counts', () => {
  for (const [lines, direction] of [
    [[], null],
    [['a=recvonly', 'a=sendrecv'], 'sendrecv'],
    [['a=sendrecv', 'a=recvonly\na=INACTIVE'], 'inactive'],
    [['a=sendonly', ' a=recvonly '], 'recvonly'],
    [['a=sendonly', 'a=x:\u2028a=recvonly', 'a=y:\u0085a=recvonly'], 'sendonly'],
    [['a=sendonly', 'a=x:\ra=recvonly', 'a=recvonly:x', 'a=recvonly x', 'i=a=recvonly'], 'sendonly'],
  ] as const)
    assert.equal(section(...lines).direction, direction, JSON.stringify(lines));
  const { media, attributes } = parseSdp('v=0\r\na=recvonly\r\nm=audio 9 RTP/AVP 0\r\n');
  assert.deepEqual([attributes, media[0]?.direction], [[], null]);
});

test('a section without a direction sends and receives, and one that is rejected does neither', () => {
  const states = ['a=x', 'a=sendonly', 'a=recvonly', 'a=inactive'].map((line) => {
    const media = section(line);
    return [isSending(media), isReceiving(media)];
  });
  assert.deepEqual(states, [
    [true, true],
    [true, false],
    [false, true],
    [false, false],
  ]);
  const off = { ...section('a=sendrecv'), port: 0 };
  assert.deepEqual([isRejected(off), isSending(off), isReceiving(off)], [true, false, false]);
  assert.equal(isSending({ ...off, attributes: [{ name: 'bundle-only', value: '' }] }), true);
});

test('invalid descriptions and those beyond the limits are rejected', () => {
  const limits = { maxBytes: 100, maxLines: 5, maxSections: 2 };
  const media = 'm=audio 9 RTP/AVP 0\r\n';
  parseSdp(`v=0\n${media}${media}a=x\na=${'x'.repeat(20)}`, limits);
  for (const text of [
    ...['', 'hello', 'v=1\r\n', 'v=0\rm=audio 9 RTP/AVP 0\r', '\r\nv=0\r\n', 'v=00\r\n'],
    ...['m=audio', 'm=audio x RTP/AVP 0', 'm=audio 65536 RTP/AVP 0', 'm=audio 9 RTP/AVP', 'm=\0 9 X 0'].map(
      (line) => `v=0\r\n${line}\r\n`,
    ),
    `v=0\r\n${media.repeat(3)}`,
    `v=0${'\n'.repeat(6)}`,
    `v=0\na=x:${'\u{1F600}'.repeat(24)}`,
  ])
    assert.throws(() => parseSdp(text, limits), SdpError, JSON.stringify(text));
});

test('a written description reads back unchanged, whatever the input', () => {
  const corpus = [
    'v=0\r\na=group:BUNDLE 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\na=rtpmap:111 opus/48000/2\r\na=sendonly\r\n',
    'v=0\r\na=constructor:x\r\nm=video 0 UDP/TLS/RTP/SAVPF 96 97\r\na=__proto__:0\r\na=mid:1\r\na=rtpmap:96 VP8/90000\r\na=rtpmap:97 rtx/90000\r\na=fmtp:97 apt=96\r\na=bundle-only\r\na=toString\r\n',
  ];
  for (const target of Object.values(targets)) target(Buffer.from(CAMERA));
  for (const text of corpus) {
    const cuts = [...text].map((_, at) => `${text.slice(0, at)}${text.slice(at + 1)}`);
    const marks = ['\r', '\n', '\u2028', '\0', ' ', ':'].flatMap((mark) =>
      [...text].map((_, at) => `${text.slice(0, at)}${mark}${text.slice(at)}`),
    );
    for (const input of [text, ...cuts, ...marks])
      for (const target of Object.values(targets)) target(Buffer.from(input));
  }
});
