import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { needsOwnProcess } from '../../../test/harness/needs.ts';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { testFfmpeg } from '../../../test/live/ffmpeg.ts';
import { startJanusStub } from '../../../test/rooms/janus-stub.ts';
import { createLogger } from '../../platform/logger.ts';
import type { MediaMessage, RejectionIssue } from '../contract/index.ts';
import type { FfmpegProgram } from '../ffmpeg/program.ts';
import { openPublisher } from './publisher.ts';

needsOwnProcess();

const section = (kind: string, mid: string, codec: string) =>
  `m=${kind} 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:${mid}\r\na=sendonly\r\na=rtpmap:96 ${codec}\r\na=ssrc:1 cname:a\r\n`;
const OFFER = `v=0\r
o=- 1 1 IN IP4 127.0.0.1\r
s=-\r
t=0 0\r
a=group:BUNDLE 0 1\r
a=ice-ufrag:abcd\r
a=ice-pwd:0123456789abcdef012345\r
a=fingerprint:sha-256 AB:CD\r
${section('video', '0', 'H264/90000')}${section('audio', '1', 'opus/48000/2')}`;
/** 20 ms of Opus. */
const SILENCE = Buffer.from('f8fffe', 'hex');
const TICKS = { video: 3000, audio: 960 } as const;

/**
 * Connects a client, by a fake Janus that forwards packets of the test.
 *
 * @param ready programs are not started before.
 */
async function connect(t: TestContext, ready = Promise.resolve()) {
  const peer = createSocket('udp4').bind(0, '127.0.0.1');
  await once(peer, 'listening');
  t.after(() => peer.close());
  const published: MediaMessage[] = [];
  const refusals: RejectionIssue[] = [];
  const seen = { programs: 0, requestsForPictures: 0, published, refusals, isOver: false };
  peer.on('message', () => {
    seen.requestsForPictures += 1;
  });
  const forwarders = [{ local_rtcp_port: peer.address().port }];
  const janus = await startJanusStub(t, { rtp_forward: { forwarders } });
  const { guard } = testFfmpeg;
  const start: typeof guard.start = async (...program) => {
    seen.programs += 1;
    await ready;
    return guard.start(...program);
  };
  const ffmpeg: FfmpegProgram = { ...testFfmpeg, guard: { ...guard, start } };
  const publication = {
    sessionId: 'ing_1',
    media: (message: MediaMessage) => void published.push(message),
    end: async () => {},
  };
  const publisher = await openPublisher({
    engine: { publish: async () => publication, refuse: (_id, issue) => void seen.refusals.push(issue) },
    grant: { streamId: 'str_1', maxHeight: 1080, maxFps: 60 },
    ...{ offer: OFFER, ffmpeg, sound: { tell() {} } },
    ...{ linkFile: janus.linkFile, log: createLogger('silent') },
  });
  t.after(() => publisher.close(true));
  void publisher.gone.then(() => {
    seen.isOver = true;
  });
  janus.peerIsUp();
  const { streams } = await waitFor(() => janus.asked.find(({ request }) => request === 'rtp_forward'));
  const [video, audio] = Object(streams);
  const to = { video, audio };
  let sequence = 0;
  const send = (kind: 'video' | 'audio', payload: Buffer) => {
    const packet = Buffer.alloc(12);
    packet.set([0x80, 96]);
    packet.writeUInt16BE(sequence, 2);
    packet.writeUInt32BE(sequence * TICKS[kind], 4);
    packet.writeUInt32BE(to[kind].ssrc, 8);
    sequence += 1;
    peer.send(Buffer.concat([packet, payload]), to[kind].port, '127.0.0.1');
  };
  return {
    seen,
    send,
    /**
     * Sends a packet of an undecodable frame, and waits until it is processed: it triggers a keyframe
     * request.
     */
    async sendPicture() {
      send('video', Buffer.of(0x41, 1, 2, 3));
      await waitFor(() => seen.requestsForPictures >= 2, { message: 'the packet to be looked at' });
    },
  };
}

test('a client that connects and publishes nothing is disconnected, without starting ffmpeg', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { seen, sendPicture } = await connect(t);
  await sendPicture();
  t.mock.timers.tick(15_000);
  await waitFor(() => seen.isOver, { message: 'the end' });
  assert.deepEqual([seen.programs, seen.published.length], [0, 0]);
});

test('the first audio packets start their encoder and a publish that continues', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { promise: ready, resolve: makeReady } = Promise.withResolvers<void>();
  const { seen, send, sendPicture } = await connect(t, ready);
  for (let packets = 0; packets < 50; packets += 1) send('audio', SILENCE);
  await sendPicture();
  makeReady();
  await waitFor(() => seen.published.length > 0, { message: 'what came before the coder ran' });
  t.mock.timers.tick(60_000);
  const before = seen.published.length;
  const speaking = setInterval(() => send('audio', SILENCE), 20);
  try {
    await waitFor(() => seen.published.length > before + 20, { message: 'more of it' });
  } finally {
    clearInterval(speaking);
  }
  assert.deepEqual([seen.programs, seen.isOver], [1, false]);
  t.mock.timers.reset();
});

test('a client that floods its publish with audio is rejected as exceeding the plan', async (t) => {
  const { seen, send } = await connect(t);
  for (let packets = 0; packets < 200; packets += 1) send('audio', SILENCE);
  await waitFor(() => seen.published.length > 0, { message: 'the publish' });
  await waitFor(
    () => {
      for (let packets = 0; packets < 100; packets += 1) send('audio', SILENCE);
      return seen.refusals.length > 0;
    },
    { intervalMs: 5, message: 'the refusal' },
  );
  assert.deepEqual(seen.refusals, ['BITRATE_OVER_PLAN']);
});
