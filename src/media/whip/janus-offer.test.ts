import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JanusError } from '../rooms/janus/client.ts';
import { forJanus, toOfferError } from './janus-offer.ts';
import { MID_EXTENSION, readOffer } from './offer.ts';

const ADDRESS = '169.254.169.254';
/** Builds an offer with unneeded attributes that clients send, some of which would confuse Janus. */
const offer = (pictures: string, sound: string, more: readonly string[] = []) =>
  [
    'v=0',
    'o=mozilla...THIS 1 2 IN IP4 169.254.169.254',
    's=A camera',
    'i=',
    'c=IN IP4 169.254.169.254',
    't=0 0',
    `a=group:BUNDLE ${pictures} ${sound}`,
    'a=msid-semantic:',
    'a=ice-ufrag:abcd',
    'a=ice-pwd:0123456789abcdef012345',
    'a=fingerprint:sha-256 AB:CD',
    'm=video 9 UDP/TLS/RTP/SAVPF 96 97 98 99 0',
    'c=IN IP4 169.254.169.254',
    'b=AS:',
    'a=msid:-',
    'a=rtcp:9 IN IP4 169.254.169.254',
    `a=candidate:1 1 udp 1 ${ADDRESS} 80 typ host`,
    `a=remote-candidates:1 ${ADDRESS} 80`,
    `a=mid:${pictures}`,
    `a=extmap:1 ${MID_EXTENSION}`,
    'a=extmap:2 urn:3gpp:video-orientation',
    'a=sendonly',
    'a=rtpmap:96 VP8/90000',
    'a=rtcp-fb:96 nack',
    'a=rtpmap:97 h264/90000',
    'a=fmtp:97 packetization-mode=1',
    'a=rtcp-fb:97 nack pli',
    'a=rtpmap:98 rtx/90000',
    'a=fmtp:98 apt=97',
    'a=ssrc:1 msid:-',
    'a=unknown:',
    'm=audio 0 UDP/TLS/RTP/SAVPF 111',
    'a=bundle-only',
    `a=mid:${sound}`,
    'a=sendonly',
    'a=rtpmap:111 Opus/48000/2',
    'a=ssrc:2 cname:x',
    ...more,
    '',
  ].join('\r\n');
const taken = (sdp: string) => forJanus(readOffer(sdp));

test('Janus receives only required attributes, and no address', () => {
  const { sdp, mids } = taken(offer('v', 'a'));
  assert.deepEqual(mids, ['v', 'a']);
  const [head, video, audio] = sdp.split(/(?=^m=)/m).map((part) => part.trim().split('\r\n'));
  assert.deepEqual(head, [
    ...['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 't=0 0'],
    ...['a=ice-ufrag:abcd', 'a=ice-pwd:0123456789abcdef012345', 'a=fingerprint:sha-256 AB:CD'],
    'a=setup:active',
  ]);
  assert.deepEqual(video, [
    ...['m=video 9 UDP/TLS/RTP/SAVPF 97 98', 'c=IN IP4 0.0.0.0', 'a=sendonly', 'a=mid:v', 'a=rtcp-mux'],
    ...[`a=extmap:1 ${MID_EXTENSION}`, 'a=extmap:2 urn:3gpp:video-orientation'],
    ...['a=rtpmap:97 H264/90000', 'a=rtpmap:98 rtx/90000', 'a=fmtp:97 packetization-mode=1'],
    ...['a=fmtp:98 apt=97', 'a=rtcp-fb:97 nack pli', 'a=ssrc:1 msid:-'],
  ]);
  assert.deepEqual(audio, [
    ...['m=audio 9 UDP/TLS/RTP/SAVPF 111', 'c=IN IP4 0.0.0.0', 'a=sendonly', 'a=mid:a', 'a=rtcp-mux'],
    ...['a=rtpmap:111 opus/48000/2', 'a=ssrc:2 cname:x'],
  ]);
});

test('no address of an offer is left, however it is written', () => {
  for (const line of [
    `a=CANDIDATE:1 1 udp 1 ${ADDRESS} 80`,
    `a= candidate:${ADDRESS}`,
    ` a=candidate:${ADDRESS}`,
  ])
    assert.doesNotMatch(taken(offer('v', 'a', [line])).sdp, /169\.254/, line);
});

test('long names of sections are shortened for Janus, and are those of the client in its answer', () => {
  const [pictures, sound] = ['pictures-of-the-camera', 's'];
  const { sdp, mids, answer } = taken(offer(pictures, sound));
  assert.deepEqual(mids, ['0', '1']);
  assert.deepEqual(sdp.match(/^a=mid:.*$/gm), ['a=mid:0', 'a=mid:1']);
  assert.ok(!sdp.includes(MID_EXTENSION), 'packets would have the name that the client knows');
  const answered = answer(
    'v=0\r\na=group:BUNDLE 0 1\r\nm=video 9 X 97\r\na=mid:0\r\nm=audio 9 X 111\r\na=mid:1\r\n',
  );
  assert.deepEqual(answered.match(/^a=(?:mid|group).*$/gm), [
    `a=group:BUNDLE ${pictures} ${sound}`,
    `a=mid:${pictures}`,
    `a=mid:${sound}`,
  ]);
  assert.throws(() => answer('v=0\r\nm=video 0 X 0\r\na=mid:0\r\nm=audio 9 X 111\r\na=mid:1\r\n'), {
    name: 'InvalidOfferError',
    message: /video section/,
  });
});

test('one section without a group gets an answer without one', () => {
  const alone = offer('v', 'a').replace(/a=group.*\r\n/, '');
  const { answer } = taken(alone.slice(0, alone.indexOf('m=audio')));
  const answered = answer('v=0\r\na=group:BUNDLE v\r\nm=video 9 X 97\r\na=mid:v\r\n');
  assert.equal(answered, 'v=0\r\nm=video 9 X 97\r\na=mid:v\r\n');
});

test('offers that Janus would truncate or cannot parse are rejected', () => {
  const long = { name: 'InvalidOfferError', message: /too long/ };
  assert.throws(() => taken(offer('v', 'a', [`a=ssrc:3 cname:${'x'.repeat(500)}`])), long);
  const many = Array.from({ length: 400 }, (_, index) => `a=ssrc:${index} cname:of-a-camera`);
  assert.throws(() => taken(offer('v', 'a', many)), long);
  assert.throws(() => toOfferError(new JanusError(465, 'Invalid m= line')), {
    name: 'InvalidOfferError',
    message: /m= line/,
  });
  assert.throws(() => toOfferError(new JanusError(0, 'Janus does not respond')), { code: 0 });
});
