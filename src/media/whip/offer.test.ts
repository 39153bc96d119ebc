import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertPublishable, InvalidOfferError, MID_EXTENSION, readOffer } from './offer.ts';

const TRANSPORT = `a=ice-ufrag:abcd\r
a=ice-pwd:0123456789abcdef012345\r
a=fingerprint:sha-256 AB:CD\r
a=setup:actpass\r
`;
const HEAD = 'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0 1\r\n';
const section = (kind: string, mid: string, codec: string, direction = 'sendonly') =>
  `m=${kind} 9 UDP/TLS/RTP/SAVPF 96\r\n${TRANSPORT}a=mid:${mid}\r\na=${direction}\r\na=rtpmap:96 ${codec}\r\na=ssrc:1 cname:a\r\n`;
const check = (sdp: string) => assertPublishable(readOffer(sdp));
const H264 = section('video', '0', 'H264/90000');
const OPUS = section('audio', '1', 'opus/48000/2');
const LONG = 'name-of-16-chars';
const EXTENSION = `a=extmap:1 ${MID_EXTENSION}\r\n`;
const SSRC = /a=ssrc.*\r\n/;

test('H.264 and Opus may be published, together and separately', () => {
  const alone = HEAD.replace(/a=group.*\r\n/, '');
  const bundleOnly = OPUS.replace('m=audio 9', 'm=audio 0').replace('a=mid', 'a=bundle-only\r\na=mid');
  for (const sdp of [HEAD + H264 + OPUS, HEAD + H264, HEAD + OPUS, alone + H264, HEAD + H264 + bundleOnly])
    check(sdp);
  check(HEAD + H264.replace(SSRC, EXTENSION));
  check(alone + section('video', LONG, 'H264/90000') + EXTENSION);
  check(HEAD.replace(/a=group.*\r\n/, TRANSPORT) + H264.replace(TRANSPORT, ''));
});

test('unsupported offers are rejected with a message', () => {
  const both = H264 + OPUS;
  const refused: [string, RegExp][] = [
    ['hello', /begins with "v=0"/],
    [HEAD, /neither audio nor video/],
    [HEAD + H264 + 'a=\r\n'.repeat(2000), /2000 lines/],
    [HEAD + section('video', '0', 'VP8/90000'), /Video must be H\.264/],
    [`${HEAD}${H264}a=fmtp:96 packetization-mode=0\r\n`, /packetization-mode=1/],
    [HEAD + section('audio', '0', 'PCMU/8000'), /Audio must be Opus/],
    [HEAD + section('audio', '0', 'opus/48000'), /opus\/48000\/2/],
    [HEAD + section('video', '0', 'H264/90000', 'recvonly'), /must send media/],
    [HEAD + H264 + section('video', '2', 'H264/90000'), /more than one video/],
    [HEAD + H264 + section('audio', '0', 'opus/48000/2'), /unique `a=mid`/],
    [HEAD + H264.replace(/a=mid.*\r\n/, ''), /a=mid/],
    [HEAD + section('video', 'x'.repeat(256), 'H264/90000'), /255 characters/],
    [HEAD + H264.replace(/a=ice-pwd.*\r\n/, ''), /ice-pwd/],
    [HEAD + H264.replace(/a=fingerprint.*\r\n/, ''), /fingerprint/],
    [HEAD + H264.replace('sha-256', 'sha-512'), /SHA-256/],
    [HEAD.replace('t=0 0\r\n', 't=0 0\r\na=ice-lite\r\n') + both, /ice-lite/],
    [HEAD.replace(/a=group.*\r\n/, '') + both, /BUNDLE/],
    [HEAD.replace('BUNDLE 0 1', 'BUNDLE 0') + both, /BUNDLE/],
    [HEAD + H264.replace('m=video 9', 'm=video 0'), /port is 0/],
    [HEAD + H264.replace(SSRC, ''), /a=ssrc/],
    [HEAD + section('video', LONG, 'H264/90000').replace(SSRC, EXTENSION), /at most 15/],
    [`${HEAD}${H264}a=rid:${LONG} send\r\n`, /a=rid/],
    [`${HEAD}m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n`, /ice-ufrag/],
    [`${HEAD}m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n${TRANSPORT}`, /audio or video/],
  ];
  for (const [sdp, words] of refused)
    assert.throws(() => check(sdp), { name: 'InvalidOfferError', message: words });
});

test('an offer of thousands of types and lines is parsed quickly', () => {
  const types = `SAVPF ${'1 '.repeat(28_000)}96`;
  const sdp = `${HEAD}${H264.replace('SAVPF 96', types)}${'\n'.repeat(1900)}`;
  const begun = performance.now();
  check(sdp);
  const ms = performance.now() - begun;
  assert.ok(ms < 500, `${ms} ms`);
});

test('any text is an offer or a refusal', () => {
  const whole = HEAD + H264 + OPUS;
  for (let at = 0; at < whole.length; at += 1) {
    for (const text of [whole.slice(0, at), `${whole.slice(0, at)}\u{1F600}${whole.slice(at + 1)}`]) {
      try {
        check(text);
      } catch (error) {
        assert.ok(error instanceof InvalidOfferError, String(error));
      }
    }
  }
});
