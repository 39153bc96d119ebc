import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { TlsOptions } from 'node:tls';
import { freePort } from '../harness/platform.ts';
import { waitFor } from '../harness/wait-for.ts';
import { startTcp } from '../restream/destinations.ts';
import { FPS } from './hls.ts';

const REALM = 'camera';
const NONCE = 'a-nonce';

export interface Camera {
  /** `127.0.0.1:<port>/cam`, with Digest. */
  place: string;
  /** `localhost:<port>/cam`, secured, with Basic. */
  secured: string;
  user: string;
  password: string;
  /** Requests received, by method. */
  asked: string[];
  /** Hangs up. */
  end(): void;
}

/**
 * A camera: ffmpeg encodes and packetises (RFC 6184, RFC 3640), and a small server of RTSP with Digest, or secured and
 * with Basic, hands its packets on, interleaved.
 */
export async function startCamera(t: TestContext, certificate: TlsOptions): Promise<Camera> {
  const dir = await mkdtemp(join(tmpdir(), 'marquee-rtsp-'));
  const ports = [await freePort(), await freePort()];
  const file = join(dir, 'a.sdp');
  const viewers = new Set<Socket>();
  const sockets = ports.map((port, index) => {
    const socket = createSocket('udp4').bind(port, '127.0.0.1');
    socket.on('message', (packet) => {
      for (const viewer of viewers) viewer.write(framed(index * 2, packet));
    });
    return socket;
  });
  const encoder = spawn('ffmpeg', encoderArgs(ports, file), { stdio: 'ignore' });
  t.after(async () => {
    encoder.kill('SIGKILL');
    for (const socket of sockets) socket.close();
    await rm(dir, { recursive: true, force: true });
  });
  const sdp = await waitFor(
    async () => {
      const text = await readFile(file, 'utf8').catch(() => '');
      return text.includes('MPEG4-GENERIC') ? text : null;
    },
    { timeoutMs: 10_000, message: 'the description of the session' },
  );
  let track = 0;
  const described = sdp
    .replace(/^SDP:\r?\n/, '')
    .replace(/^m=.*$/gm, (line) => `${line}\r\na=control:track${track++}`);
  const camera = { user: 'admin', password: 'p:ss/w rd', asked: [] as string[] };
  const end = () => {
    for (const viewer of viewers) viewer.destroy();
  };
  const port = await startTcp(t, (socket) => serve(socket, described, viewers, { ...camera, ...DIGEST }));
  const secured = await startTcp(
    t,
    (socket) => serve(socket, described, viewers, { ...camera, ...BASIC }),
    certificate,
  );
  return { ...camera, place: `127.0.0.1:${port}/cam`, secured: `localhost:${secured}/cam`, end };
}

function encoderArgs(ports: number[], file: string): string[] {
  return [
    ...['-v', 'error', '-nostdin', '-re', '-f', 'lavfi', '-i', `testsrc2=s=640x360:r=${FPS}`],
    ...['-re', '-f', 'lavfi', '-i', 'sine=f=440:r=48000', '-flags', '+global_header'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-pix_fmt', 'yuv420p'],
    ...['-g', String(FPS), '-b:v', '600k', '-c:a', 'aac', '-b:a', '64k', '-sdp_file', file],
    ...['-map', '0:v', '-f', 'rtp', `rtp://127.0.0.1:${ports[0]}?pkt_size=1200`],
    ...['-map', '1:a', '-flags', '+global_header', '-c:a', 'aac', '-f', 'rtp', `rtp://127.0.0.1:${ports[1]}`],
    ...['-sdp_file', file],
  ];
}

function framed(channel: number, packet: Buffer): Buffer {
  const head = Buffer.of(0x24, channel, 0, 0);
  head.writeUInt16BE(packet.length, 2);
  return Buffer.concat([head, packet]);
}

const md5 = (text: string) => createHash('md5').update(text).digest('hex');

interface Way {
  challenge: string;
  /** Returns the authorization parameters of the correct user. */
  proof(user: string, password: string, method: string, url: string): string;
}

const DIGEST: Way = {
  challenge: `Digest realm="${REALM}", nonce="${NONCE}"`,
  proof: (user, password, method, url) =>
    `response="${md5(`${md5(`${user}:${REALM}:${password}`)}:${NONCE}:${md5(`${method}:${url}`)}`)}"`,
};
const BASIC: Way = {
  challenge: `Basic realm="${REALM}"`,
  proof: (user, password) =>
    `Authorization: Basic ${Buffer.from(`${user}:${password}`).toString('base64')}\r\n`,
};

function serve(
  socket: Socket,
  sdp: string,
  viewers: Set<Socket>,
  { user, password, asked, challenge, proof }: Pick<Camera, 'user' | 'password' | 'asked'> & Way,
): void {
  let input = '';
  socket.on('close', () => viewers.delete(socket));
  socket.on('data', (data: Buffer) => {
    input += data.toString('latin1');
    for (let end = input.indexOf('\r\n\r\n'); end >= 0; end = input.indexOf('\r\n\r\n')) {
      const head = input.slice(0, end);
      input = input.slice(end + 4);
      const [method = '', url = ''] = head.split(' ');
      asked.push(method);
      const sequence = /CSeq: (\d+)/.exec(head)?.[1];
      const answer = (status: string, lines: string[] = [], body = '') =>
        socket.write([`RTSP/1.0 ${status}`, `CSeq: ${sequence}`, ...lines, '', body].join('\r\n'));
      if (method === 'OPTIONS') answer('200 OK', ['Public: OPTIONS, DESCRIBE, SETUP, PLAY, GET_PARAMETER']);
      else if (!`${head}\r\n`.includes(proof(user, password, method, url))) {
        answer('401 Unauthorized', [`WWW-Authenticate: ${challenge}`]);
      } else if (method === 'DESCRIBE') {
        answer('200 OK', ['Content-Type: application/sdp', `Content-Length: ${sdp.length}`], sdp);
      } else if (method === 'SETUP') answer('200 OK', ['Session: 1234;timeout=60']);
      else if (method === 'PLAY') {
        answer('200 OK', ['Session: 1234']);
        viewers.add(socket);
      } else answer('200 OK');
    }
  });
}
