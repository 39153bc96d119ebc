/**
 * Measures the speed of serving videos against nginx with sendfile in the same run: `node bench/playback.ts`.
 * One client process reads over keep-alive connections and discards the bytes; its cost is in every figure.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasNginx, startNginx } from '../test/harness/nginx.ts';
import { processorSeconds } from './support/processes.ts';
import { isQuick, median, report } from './support/report.ts';

const ROUNDS = isQuick ? 3 : 5;
const SECONDS = 2;
const CONNECTIONS = 16;

/** Server under test and its URLs. */
interface Side {
  addresses: readonly string[];
  pid: number;
}

interface Measured {
  /** Responses per second. */
  speed: number;
  /** Processor microseconds per response. */
  processor: number;
}

/** Measures the responses per second of a server, and its processor time for each. */
async function measure({ addresses, pid }: Side): Promise<Measured> {
  const size = await wholeAnswer(addresses[0] ?? '');
  const { bytes, seconds, processor } = await bytesOf(addresses, pid);
  return { speed: bytes / seconds / size, processor: (processor * 1e6 * size) / bytes };
}

/** Requests the URLs in turn, one at a time on each connection. */
async function bytesOf(addresses: readonly string[], pid: number) {
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
  const [from, processorFrom] = [performance.now(), processorSeconds(pid)];
  await sleep(SECONDS * 1000);
  const seconds = (performance.now() - from) / 1000;
  const processor = processorSeconds(pid) - processorFrom;
  const bytes = total;
  for (const socket of sockets) socket.destroy();
  return { bytes, seconds, processor };
}

/** Returns the size of a response on the wire, which is constant. */
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
  /** URL of a rung. */
  base: string;
  /** Its folder on the disk, and the segments in it. */
  folder: string;
  names: string[];
}

/** Compares our responses with those of nginx, by the medians of interleaved rounds. */
async function compare(
  name: string,
  ours: Side,
  nginxs: Side,
  { unit, target }: { unit: string; target: string },
) {
  const rounds: { base: Measured; full: Measured }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const base = await measure(nginxs);
    rounds.push({ base, full: await measure(ours) });
  }
  const of = (value: (round: (typeof rounds)[number]) => number) => median(rounds.map(value));
  report({ name, value: of(({ base, full }) => full.speed / base.speed), unit, target });
  const processor = of(({ base, full }) => base.processor / full.processor);
  report({ name: `${name}, processor`, value: processor, unit, target: '>= 0' });
  report({
    name: `${name}, absolute`,
    value: of(({ full }) => full.speed),
    unit: 'answers/s',
    target: '>= 0',
  });
  const each = of(({ full }) => full.processor);
  report({ name: `${name}, processor an answer`, value: each, unit: 'µs', target: '>= 0' });
}

const child = fork(join(import.meta.dirname, 'support/video-server.ts'));
const { base, folder, names } = await new Promise<Served>((resolve) => child.once('message', resolve));
if (hasNginx()) {
  const nginx = await startNginx(`location / { root ${folder}; }
    location = /playlist { default_type text/plain; return 200 '${'x'.repeat(1200)}'; }`);
  const segments = async (name: string, some: readonly string[]) => {
    const [ours, theirs] = [base, nginx.url].map((from) => some.map((file) => `${from}/${file}`));
    await compare(
      name,
      { addresses: ours ?? [], pid: child.pid ?? 0 },
      { addresses: theirs ?? [], pid: nginx.pid },
      { unit: 'ratio to nginx sendfile', target: '>= 0.35' },
    );
  };
  await segments('a 1.5 MB segment that many watch', names.slice(0, 1));
  await segments('1.5 MB segments, each viewer another one', names);
  await compare(
    'media playlists',
    { addresses: [`${base}/index.m3u8`], pid: child.pid ?? 0 },
    { addresses: [`${nginx.url}/playlist`], pid: nginx.pid },
    { unit: 'ratio to an nginx constant', target: '>= 0.05' },
  );
  await nginx.close();
} else {
  process.stdout.write('skipped: playback against nginx; there is no nginx on this machine\n');
}
child.disconnect();
await once(child, 'exit');
