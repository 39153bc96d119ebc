import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseMedia, plainAnswer, portsOf } from './answer.ts';

const h264 = (payloadType: number, profile: string, mode = 1) => ({
  payloadType,
  name: 'H264',
  ...{ clockRate: 90_000, channels: 1 },
  parameters: `level-asymmetry-allowed=1;packetization-mode=${mode};profile-level-id=${profile}`,
});
const opus = { payloadType: 111, name: 'OPUS', clockRate: 48_000, channels: 2, parameters: 'minptime=10' };
const video = (...codecs: ReturnType<typeof h264>[]) =>
  ({ kind: 'video', direction: 'recvonly', codecs }) as const;
const audio = {
  kind: 'audio',
  direction: 'recvonly',
  codecs: [opus],
} as const;

test("video uses the encoder's profile where the offer has it", () => {
  const offered = video(h264(102, '42e01f', 0), h264(104, '42e01f'), h264(106, '640c1f'));
  const chosen = (codec: string | null) => chooseMedia([offered], codec)[0]?.codec.payloadType;
  assert.deepEqual(['avc1.640028', 'avc1.42c01f', 'avc1.4d0028', null].map(chosen), [106, 104, 104, 104]);
});

test('what cannot be sent is refused in words', () => {
  const sends = { ...audio, direction: 'sendonly' } as const;
  const refused = { name: 'InvalidOfferError' };
  assert.throws(() => chooseMedia([video(h264(102, '42e01f', 0))], null), {
    ...refused,
    message: /packetization/,
  });
  assert.throws(() => chooseMedia([{ ...audio, codecs: [] }], null), { ...refused, message: /Opus/ });
  assert.throws(() => chooseMedia([sends], null), { ...refused, message: /must receive media/ });
});

test('the plain answer has a section for each of the offer, in its order', () => {
  const answer = plainAnswer(chooseMedia([audio, video(h264(104, '42e01f'))], null), '127.0.0.1', 5000);
  assert.deepEqual(answer.match(/^m=.*$/gm), ['m=audio 5000 RTP/AVP 111', 'm=video 5000 RTP/AVP 104']);
  assert.equal(answer.match(/^a=sendonly$/gm)?.length, 2);
  assert.deepEqual(portsOf(answer), { audio: 5000, video: 5000 });
  assert.deepEqual(portsOf('v=0\r\n'), { audio: null, video: null });
  assert.deepEqual(portsOf(answer.replace('m=video 5000', 'm=video 0')), { audio: 5000, video: null });
});
