import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { startBridge } from '../../../test/bridges/bridge.ts';
import { needsOwnProcess } from '../../../test/harness/needs.ts';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { startTcp } from '../../../test/restream/destinations.ts';
import { encodeAmf0 } from '../protocols/rtmp/amf0.ts';
import { encodeMessage, MessageType } from '../protocols/rtmp/messages.ts';
import { H264Depacketiser } from '../protocols/rtp/reader.ts';

needsOwnProcess();

const SPS = Buffer.from('6742c01ed9005005bb011000000300100000030320f1831960', 'hex');
const PPS = Buffer.from('68cb8cb2', 'hex');
const HUGE = Buffer.concat([SPS, Buffer.alloc(70_000, 1)]);
const IDR = Buffer.concat([Buffer.of(0x65), Buffer.alloc(200, 7)]);
const sets = (...units: Buffer[]) =>
  `sprop-parameter-sets=${units.map((one) => one.toString('base64')).join(',')}`;

function rtp(sequence: number, timestamp: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(16);
  head.write('$', 0, 'latin1');
  head.writeUInt16BE(12 + payload.length, 2);
  head.writeUInt16BE(0x80e0, 4);
  head.writeUInt16BE(sequence, 6);
  head.writeUInt32BE(timestamp, 8);
  return Buffer.concat([head, payload]);
}

/** A camera that describes itself so, and sends these packets. @returns its address. */
async function camera(t: TestContext, parameters: string, packets: Buffer[]): Promise<string> {
  const media = ['m=video 0 RTP/AVP 96', 'a=rtpmap:96 H264/90000', `a=fmtp:96 ${parameters}`];
  return serveRtsp(t, media, (socket) => socket.write(Buffer.concat(packets)));
}

/** A server of RTSP with this media. @returns its address. */
async function serveRtsp(t: TestContext, media: string[], play: (socket: Socket) => void): Promise<string> {
  const sdp = ['v=0', ...media].join('\r\n');
  const port = await startTcp(t, (socket) => {
    socket.on('data', (data) => {
      for (const [, method, sequence] of data.toString('latin1').matchAll(/^([A-Z]+) .*\r\nCSeq: (\d+)/gm)) {
        const body = method === 'DESCRIBE' ? sdp : '';
        const head = `CSeq: ${sequence}\r\nSession: 1\r\nContent-Length: ${body.length}`;
        socket.write(`RTSP/1.0 200 OK\r\n${head}\r\n\r\n${body}`);
        if (method === 'PLAY') play(socket);
      }
    });
  });
  return `rtsp://127.0.0.1:${port}/a`;
}

test('a camera that sends nonsense costs nothing but its own bridge', async (t) => {
  const picture = [SPS, PPS, IDR].map((unit) => rtp(1, 0, unit));
  const back = await startBridge(
    t,
    await camera(t, sets(SPS, PPS), [...picture, rtp(2, 2 ** 31 + 1, IDR), rtp(3, 2 ** 31 + 9000, IDR)]),
  );
  const large = await startBridge(t, await camera(t, sets(HUGE, PPS), picture));
  await Promise.all([back.when('ACTIVE'), large.when('ACTIVE')]);
});

test('an RTMP server whose stream number is not an integer is rejected', async (t) => {
  const answer = (transaction: number, value: number) =>
    encodeMessage(
      {
        type: MessageType.command,
        streamId: 0,
        timestamp: 0,
        payload: encodeAmf0(['_result', transaction, null, value]),
      },
      128,
    );
  const port = await startTcp(t, (socket) => {
    let received = 0;
    socket.on('data', (data) => {
      if (received === 0) socket.write(Buffer.alloc(1 + 1536 + 1536, 3));
      received += data.length;
      if (received > 3073) socket.write(Buffer.concat([answer(1, 0), answer(4, 2 ** 32 - 0.5)]));
    });
  });
  const bridge = await startBridge(t, `rtmp://127.0.0.1:${port}/live/a`);
  assert.match((await bridge.when('FAILED')).message ?? '', /returned no stream ID/);
});

const packet = (payload: Buffer, timestamp = 0, isLast = false) => ({
  payload,
  timestamp,
  isLast,
  payloadType: 96,
});

test('an image of millions of slices is not buffered', () => {
  let tags = 0;
  const pictures = new H264Depacketiser(new Map(), () => {
    tags += 1;
  });
  const tiny = Buffer.concat([Buffer.of(24), ...Array.from({ length: 20_000 }, () => Buffer.of(0, 1, 1))]);
  const before = process.memoryUsage().heapUsed;
  for (let count = 0; count < 40; count += 1) pictures.packet(packet(tiny), 0);
  for (let count = 0; count < 500_000; count += 1) pictures.packet(packet(Buffer.of(28, 1, 1)), 0);
  assert.ok(process.memoryUsage().heapUsed - before < 32 * 2 ** 20);
  assert.equal(tags, 0);
});

const AUDIO = ['m=audio 0 RTP/AVP 96', 'a=rtpmap:96 MPEG4-GENERIC/48000/2'];

test('an RTSP source whose AAC has units of one bit is not read', async (t) => {
  const sizes = 'a=fmtp:96 mode=AAC-hbr;config=1190;sizelength=1;indexlength=0;indexdeltalength=0';
  const attack = Buffer.concat([Buffer.of(0xff, 0xff), Buffer.alloc(8192, 0xff), Buffer.alloc(1000)]);
  const url = await serveRtsp(t, [...AUDIO, sizes], (socket) => socket.write(rtp(1, 0, attack)));
  const bridge = await startBridge(t, url);
  assert.match((await bridge.when('FAILED')).message ?? '', /neither H\.264 nor AAC/);
  assert.equal(bridge.sounds(), 0);
});

test('a flooding RTSP source is disconnected, and the bridge reports the reason', async (t) => {
  const sizes = 'a=fmtp:96 mode=AAC-hbr;config=1190;sizelength=13;indexlength=3;indexdeltalength=3';
  const headers = Buffer.concat([Buffer.of(4, 0), ...Array.from({ length: 64 }, () => Buffer.of(0, 1 << 3))]);
  const unitsAt = (timestamp: number) => rtp(1, timestamp, Buffer.concat([headers, Buffer.alloc(64)]));
  // Frames ahead of time, and then thousands at one earlier time.
  const ahead = Array.from({ length: 12 }, (_, index) => unitsAt(index * 48_000));
  const earlier = Array(2000).fill(unitsAt(11 * 48_000 - 24_000));
  let isOpen = true;
  const url = await serveRtsp(t, [...AUDIO, sizes], (socket) => {
    socket.on('error', () => {});
    socket.on('close', () => {
      isOpen = false;
    });
    socket.write(Buffer.concat([...ahead, ...earlier]));
  });
  const bridge = await startBridge(t, url);
  assert.match((await bridge.when('FAILED')).message ?? '', /more frames per second than supported/);
  await waitFor(() => !isOpen);
});
