/**
 * How fast videos are sent, against nginx with sendfile in the same run: `node bench/playback.ts`. One client
 * process reads over keep-alive connections and throws away; what it costs is in every figure.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasNginx, startNginx } from '../test/harness/nginx.ts';
import { median, report } from './support/report.ts';

const ROUNDS = 5;
const SECONDS = 2;
const CONNECTIONS = 16;

/**
 * Bytes a second: each connection has one request on its way, and asks for the next of the addresses when its answer
 * is complete.
 */
async function bytesPerSecond(addresses: readonly string[]): Promise<number> {
  const { hostname, port, host } = new URL(addresses[0] ?? '');
  const asks = addresses.map(
    (address) => `GET ${new URL(address).pathname} HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
  );
  const answer = await wholeAnswer(addresses[0] ?? '');
  let total = 0;
  const sockets = Array.from({ length: CONNECTIONS }, (_, connection) => {
    let left = answer;
    let turn = Math.floor((connection * asks.length) / CONNECTIONS);
    const ask = () => socket.write(asks[turn++ % asks.length] ?? '');
    const socket = connect({
      host: hostname,
      port: Number(port),
      onread: {
        buffer: Buffer.alloc(256 * 1024),
        callback(bytes) {
          total += bytes;
          left -= bytes;
          if (left > 0) return true;
          left = answer;
          ask();
          return true;
        },
      },
    });
    ask();
    return socket;
  });
  await sleep(300);
  total = 0;
  const from = performance.now();
  await sleep(SECONDS * 1000);
  const perSecond = total / ((performance.now() - from) / 1000);
  for (const socket of sockets) socket.destroy();
  return perSecond;
}

/** How many bytes an answer has on the wire; it is as many each time. */
async function wholeAnswer(address: string): Promise<number> {
  const { hostname, port, pathname, host } = new URL(address);
  const socket = connect(Number(port), hostname);
  socket.write(`GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  let text = '';
  for await (const chunk of socket) {
    text += chunk.toString('latin1');
    const head = text.slice(0, text.indexOf('\r\n\r\n') + 4);
    if (head.length < 4) continue;
    const length = /^content-length: (\d+)\r$/im.exec(head)?.[1];
    if (!head.startsWith('HTTP/1.1 200') || length === undefined) throw new Error(`${address}: ${head}`);
    return head.length + Number(length);
  }
  throw new Error(`${address} did not answer`);
}

interface Served {
  /** Address of a rung. */
  base: string;
  /** Its folder on the disk, and the segments in it. */
  folder: string;
  names: string[];
}

/** The median of the rounds: our answers a second as a ratio to nginx's, and our MB and answers a second. */
async function compare(ours: readonly string[], theirs: readonly string[]) {
  const size = await wholeAnswer(ours[0] ?? '');
  const nginxSize = await wholeAnswer(theirs[0] ?? '');
  const rounds: [ratio: number, megabytes: number, answers: number][] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const base = (await bytesPerSecond(theirs)) / nginxSize;
    const full = (await bytesPerSecond(ours)) / size;
    rounds.push([full / base, (full * size) / 1e6, full]);
  }
  const of = (index: 0 | 1 | 2) => median(rounds.map((round) => round[index]));
  return { ratio: of(0), megabytes: of(1), answers: of(2) };
}

const child = fork(join(import.meta.dirname, 'support/video-server.ts'));
const { base, folder, names } = await new Promise<Served>((resolve) => child.once('message', resolve));
if (hasNginx()) {
  const nginx = await startNginx(`location / { root ${folder}; }
    location = /playlist { default_type text/plain; return 200 '${'x'.repeat(1200)}'; }`);
  const segments = async (name: string, some: readonly string[]) => {
    const ours = some.map((file) => `${base}/${file}`);
    const { ratio, megabytes } = await compare(
      ours,
      some.map((file) => `${nginx.url}/${file}`),
    );
    report({ name, value: ratio, unit: 'ratio to nginx sendfile', target: '>= 0.35' });
    report({ name: `${name}, absolute`, value: megabytes, unit: 'MB/s', target: '>= 0' });
  };
  await segments('a 1.5 MB segment that many watch', names.slice(0, 1));
  await segments('1.5 MB segments, each viewer another one', names);
  const { ratio, answers } = await compare([`${base}/index.m3u8`], [`${nginx.url}/playlist`]);
  report({ name: 'media playlists', value: ratio, unit: 'ratio to an nginx constant', target: '>= 0.05' });
  report({ name: 'media playlists, absolute', value: answers, unit: 'requests/s', target: '>= 0' });
  await nginx.close();
} else {
  process.stdout.write('skipped: playback against nginx; there is no nginx on this machine\n');
}
child.disconnect();
await once(child, 'exit');
