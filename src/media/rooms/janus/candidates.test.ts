import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutCandidates } from './candidates.ts';

const HEAD = 'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n';
const VIDEO = 'm=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:0\r\na=rtpmap:96 H264/90000\r\na=sendonly\r\n';
const AUDIO = 'm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:1\r\na=rtpmap:111 opus/48000/2\r\na=sendonly\r\n';
const WHOLE = HEAD + VIDEO + AUDIO;
const ADDRESS = '1 1 udp 1 169.254.169.254 80 typ host';

test('no address is left, and nothing else is lost', () => {
  for (const line of [
    `a=candidate:${ADDRESS}`,
    `a=CANDIDATE:${ADDRESS}`,
    `  a=candidate:${ADDRESS}`,
    `a= candidate:${ADDRESS}`,
    'a=candidate:1 1 udp 1 3f1c.local 9 typ host',
    'a=remote-candidates:1 169.254.169.254 80',
  ]) {
    for (const end of ['\r\n', '\n', '\r']) {
      for (const sdp of [WHOLE + line + end, `${HEAD}${line}${end}${VIDEO}${line}${end}${AUDIO}`])
        assert.equal(withoutCandidates(sdp), WHOLE, JSON.stringify(line + end));
    }
  }
  assert.equal(withoutCandidates(WHOLE), WHOLE);
});
