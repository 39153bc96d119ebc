import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertPublishable, BadOffer, readOffer } from './offer.ts';

const TRANSPORT = `a=ice-ufrag:abcd\r
a=ice-pwd:0123456789abcdef012345\r
a=fingerprint:sha-256 AB:CD\r
a=setup:actpass\r
`;
const HEAD = 'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n';
const section = (kind: string, mid: string, codec: string, direction = 'sendonly') =>
  `m=${kind} 9 UDP/TLS/RTP/SAVPF 96\r\n${TRANSPORT}a=mid:${mid}\r\na=${direction}\r\na=rtpmap:96 ${codec}\r\n`;
const check = (sdp: string) => assertPublishable(readOffer(sdp));
const H264 = section('video', '0', 'H264/90000');
const OPUS = section('audio', '1', 'opus/48000/2');

test('H.264 and Opus may be published, together and each alone', () => {
  for (const sections of [H264 + OPUS, H264, OPUS]) check(HEAD + sections);
});

test('what cannot be taken is refused in words', () => {
  const refused: [string, RegExp][] = [
    ['hello', /begins with "v=0"/],
    [HEAD, /neither sound nor pictures/],
    [HEAD + section('video', '0', 'VP8/90000'), /H\.264 alone/],
    [HEAD + section('audio', '0', 'PCMU/8000'), /Opus alone/],
    [HEAD + section('video', '0', 'H264/90000', 'recvonly'), /sends nothing/],
    [HEAD + H264 + section('video', '2', 'H264/90000'), /more than one video/],
    [HEAD + H264 + section('audio', '0', 'opus/48000/2'), /of its own/],
    [HEAD + H264.replace(/a=mid.*\r\n/, ''), /a=mid/],
    [HEAD + H264.replace(/a=ice-pwd.*\r\n/, ''), /ice-pwd/],
    [HEAD + H264.replace(/a=fingerprint.*\r\n/, ''), /fingerprint/],
    [`${HEAD}m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n`, /ice-ufrag/],
    [`${HEAD}m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n${TRANSPORT}`, /audio or video/],
  ];
  for (const [sdp, words] of refused) assert.throws(() => check(sdp), { name: 'BadOffer', message: words });
});

test('any text is an offer or a refusal', () => {
  const whole = HEAD + H264 + OPUS;
  for (let at = 0; at < whole.length; at += 1) {
    for (const text of [whole.slice(0, at), `${whole.slice(0, at)}\u{1F600}${whole.slice(at + 1)}`]) {
      try {
        check(text);
      } catch (error) {
        assert.ok(error instanceof BadOffer, String(error));
      }
    }
  }
});
