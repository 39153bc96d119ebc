/** Attacks of `bench/hostile.ts`, in a separate process. It ends with the process that has started it. */
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { emptyAggregate, emptyMessages, tinyFrames } from '../../test/rtmp/attacks.ts';
import { RtmpClient } from '../../test/rtmp/client.ts';

/** Order to the attacker: one attack. */
export interface AttackOrder {
  attack: string;
  /** Port of the ingest. */
  rtmpPort: number;
  certificate: { key: string; cert: string };
}

const RECONNECT_MS = 50;
const SESSION_MS = 1000;
const BATCH_MESSAGES = 60_000;
const AGGREGATE_PARTS = 553_333;
const PLAYLIST_SEGMENTS = 50_000;

/** Publishes and floods the publish until the connection is closed, again and again. */
async function flood(rtmpPort: number, bytes: Buffer): Promise<never> {
  for (;;) {
    const client = await RtmpClient.connected(rtmpPort).catch(() => null);
    if (client !== null) {
      await client.publish('key-hostile').catch(() => {});
      while (!client.isClosed) {
        client.write(bytes);
        if (client.socket.writableNeedDrain) {
          await Promise.race([new Promise((done) => client.socket.once('drain', done)), client.closed]);
        }
        await delay(0);
      }
    }
    await delay(RECONNECT_MS);
  }
}

/** Returns an interleaved RTP packet of AAC whose access units have one-bit headers: `units` empty units. */
function emptyUnits(sequence: number, timestamp: number, units: number): Buffer {
  const headers = Buffer.alloc(Math.ceil(units / 8));
  const packet = Buffer.alloc(4 + 12 + 2 + headers.length + 1);
  packet.write('$', 0, 'latin1');
  packet.writeUInt16BE(packet.length - 4, 2);
  packet.writeUInt16BE(0x80e0, 4);
  packet.writeUInt16BE(sequence & 0xffff, 6);
  packet.writeUInt32BE(timestamp, 8);
  packet.writeUInt16BE(units, 16);
  return packet;
}

const CLOCK_RATE = 1_000_000;
const UNIT_TICKS = 1024;
const MAX_UNITS = 54_400;
const BACK_TICKS = 1.9 * CLOCK_RATE;

/** Returns frames for a minute in the future, then steps back, and as many frames again before those. */
function playoutPackets(): Buffer {
  const last = MAX_UNITS * UNIT_TICKS;
  const steps = Array.from({ length: 20 }, (_, index) => emptyUnits(index + 2, last - index * BACK_TICKS, 1));
  return Buffer.concat([
    emptyUnits(1, 0, MAX_UNITS),
    ...steps,
    emptyUnits(22, last - 20 * BACK_TICKS, MAX_UNITS),
  ]);
}

const aacPackets = () =>
  Buffer.concat(
    Array.from({ length: 7 }, (_, index) => emptyUnits(index, index * MAX_UNITS * UNIT_TICKS, 65_535)),
  );

const SDP = [
  ...['v=0', 'm=audio 0 RTP/AVP 96', `a=rtpmap:96 MPEG4-GENERIC/${CLOCK_RATE}`],
  'a=fmtp:96 mode=AAC-hbr;config=1190;sizelength=1;indexlength=0',
].join('\r\n');

function rtspServer(packets: Buffer): Server {
  return createServer((socket: Socket) => {
    socket.on('error', () => {});
    socket.on('data', (data) => {
      for (const [, method, sequence] of data.toString('latin1').matchAll(/^([A-Z]+) .*\r\nCSeq: (\d+)/gm)) {
        const body = method === 'DESCRIBE' ? SDP : '';
        const head = `CSeq: ${sequence}\r\nSession: 1\r\nContent-Length: ${body.length}`;
        socket.write(`RTSP/1.0 200 OK\r\n${head}\r\n\r\n${body}`);
        if (method !== 'PLAY') continue;
        socket.write(packets);
        // The bridge reconnects, and gets the same again.
        setTimeout(() => socket.destroy(), SESSION_MS);
      }
    });
  });
}

/** A live playlist of many segments, which are empty. */
function hlsServer(certificate: AttackOrder['certificate']): Server {
  let reloads = 0;
  return createHttpsServer(certificate, (request, response) => {
    if (request.url !== '/index.m3u8') {
      response.end();
      return;
    }
    reloads += 1;
    const head = `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:${reloads}\n`;
    response.end(head + '#EXTINF:1,\na\n'.repeat(PLAYLIST_SEGMENTS));
  });
}

/** @returns the source URL, null for an attack that connects by itself. */
async function attack({ attack: name, rtmpPort, certificate }: AttackOrder): Promise<string | null> {
  const listening = async (server: Server, scheme: string, path: string) => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = Object(server.address());
    return `${scheme}://${scheme === 'https' ? 'localhost' : '127.0.0.1'}:${port}${path}`;
  };
  switch (name) {
    case 'bridge playout':
      return listening(rtspServer(playoutPackets()), 'rtsp', '/a');
    case 'AAC packets':
      return listening(rtspServer(aacPackets()), 'rtsp', '/a');
    case 'HLS playlist':
      return listening(hlsServer(certificate), 'https', '/index.m3u8');
    case 'empty messages':
      void flood(rtmpPort, emptyMessages(BATCH_MESSAGES));
      return null;
    case 'tiny frames':
      void flood(rtmpPort, tinyFrames(BATCH_MESSAGES));
      return null;
    case 'aggregate':
      void flood(rtmpPort, emptyAggregate(AGGREGATE_PARTS));
      return null;
    default:
      throw new Error(`there is no attack "${name}"`);
  }
}

process.on('message', async (order: AttackOrder) => process.send?.({ source: await attack(order) }));
process.on('disconnect', () => process.exit(0));
