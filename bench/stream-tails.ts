import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { type RunningPlatform, startPlatform, unlimitedHeaders } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { median, report } from './support/report.ts';

/**
 * Measures the cost of chat event streams for a process: memory of an idle one above that of Node's bare HTTP
 * server, one message to all, idle CPU, the effect on other requests, and how many posts a second a chat
 * accepts. The readers are page visitors, each with its own IP address.
 *
 * Arguments: connections (10,000).
 */
const CONNECTIONS = Number(process.argv[2] ?? 10_000);
const READERS = 1000;
const ROUNDS = 10;
const REST_MS = 20_000;
const READS = 1500;
const WRITERS = 200;
const POSTS_EACH = 15;
const AT_ONCE = 32;
const TICKS_PER_SEC = 100;

const agent = new Agent({ connections: AT_ONCE });
type Headers = Record<string, string>;

const addressOf = (n: number) => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;

/** Connections that count the bytes and messages read. */
class Readers {
  readonly #sockets: Socket[] = [];
  /** Times at which each connection last read the marker. */
  #seenAt: number[] = [];
  #marker = '\0';

  async open(port: number, path: string, count: number): Promise<void> {
    for (let from = 0; from < count; from += 100) {
      const batch = Array.from({ length: Math.min(100, count - from) }, (_, n) =>
        this.#one(port, path, from + n),
      );
      await Promise.all(batch);
    }
  }

  #one(port: number, path: string, n: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      this.#sockets.push(socket);
      let isOpen = false;
      socket.setEncoding('latin1');
      socket.on('error', reject);
      socket.on('data', (text) => {
        if (!isOpen && String(text).includes('retry: 3000')) {
          isOpen = true;
          resolve();
        }
        if (!isOpen && !String(text).startsWith('HTTP/1.1 200')) reject(new Error(String(text)));
        if (String(text).includes(this.#marker)) this.#seenAt.push(performance.now());
      });
      socket.write(`GET ${path} HTTP/1.1\r\nHost: bench\r\nX-Forwarded-For: ${addressOf(n)}\r\n\r\n`);
    });
  }

  /** @returns how long after `send` each of them had read it, in milliseconds, in order. */
  async timesOf(marker: string, send: () => Promise<void> | void): Promise<number[]> {
    this.#marker = marker;
    this.#seenAt = [];
    const begun = performance.now();
    await send();
    await waitFor(() => this.#seenAt.length >= this.#sockets.length, { timeoutMs: 30_000 });
    return this.#seenAt.map((at) => at - begun).sort((a, b) => a - b);
  }

  close(): void {
    for (const socket of this.#sockets.splice(0)) socket.destroy();
  }
}

const percentile = (sorted: readonly number[], part: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;

/** Resident memory in bytes. */
function residentOf({ pid }: ChildProcess): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}

/** Returns the processor time used by a process, in seconds. */
function processorOf({ pid }: ChildProcess): number {
  const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const fields = rest.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SEC;
}

async function call(
  url: string,
  headers: Headers,
  body?: object,
): Promise<{ data: Record<string, unknown> }> {
  const answer = await request(url, {
    dispatcher: agent,
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`${url}: ${text}`);
  return JSON.parse(text);
}

/** Memory for each connection, and p99 of one message to all. */
async function measure(
  child: ChildProcess,
  port: number,
  path: string,
  send: (marker: string) => Promise<void> | void,
) {
  const readers = new Readers();
  // The cost of the first connections is not representative.
  await readers.open(port, path, 100);
  await readers.timesOf('warm-up', () => send('warm-up'));
  await sleep(2000);
  const before = residentOf(child);
  await readers.open(port, path, CONNECTIONS - 100);
  await sleep(5000);
  const bytes = (residentOf(child) - before) / (CONNECTIONS - 100);
  const p99: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    p99.push(percentile(await readers.timesOf(`round-${round}-`, () => send(`round-${round}-`)), 0.99));
    await sleep(500);
  }
  return { readers, bytes, p99: median(p99) };
}

async function bare() {
  const child = fork(join(import.meta.dirname, 'support/bare-sse-server.ts'));
  const [port] = await once(child, 'message');
  const { readers, bytes, p99 } = await measure(
    child,
    Number(port),
    '/',
    (marker) => void child.send(marker),
  );
  readers.close();
  child.kill();
  return { bytes, p99 };
}

async function readP50({ api }: RunningPlatform, headers: Headers, id: string): Promise<number> {
  const times: number[] = [];
  const reader = async () => {
    while (times.length < READS) {
      const begun = performance.now();
      await call(`${api}/streams/${id}`, headers);
      times.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: 4 }, reader));
  return median(times);
}

/** Posts of many guests while some read. @returns how many a second, and how long the last reader waited for one. */
async function posts({ url, port }: RunningPlatform, id: string): Promise<number> {
  const chat = `${url}/live/${id}/chat`;
  const writers: { session: unknown; from: Headers }[] = [];
  for (let n = 0; n < WRITERS; n++) {
    const from = { 'x-forwarded-for': addressOf(5_000_000 + n) };
    const { data } = await call(`${chat}/guest`, from, { name: `Guest ${n}` });
    writers.push({ session: data.session, from });
  }
  const readers = new Readers();
  await readers.open(port, `/live/${id}/chat/events`, READERS);
  let next = 0;
  const total = WRITERS * POSTS_EACH;
  const begun = performance.now();
  const times = await readers.timesOf('the very last one', async () => {
    const post = async () => {
      for (let n = next++; n < total; n = next++) {
        const writer = writers[n % WRITERS];
        await call(chat, writer?.from ?? {}, { session: writer?.session, text: `Message ${n}` });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, post));
    await call(chat, writers[0]?.from ?? {}, { session: writers[0]?.session, text: 'the very last one' });
  });
  readers.close();
  const seconds = ((times.at(-1) ?? 0) || performance.now() - begun) / 1000;
  return total / seconds;
}

const baseline = await bare();
const platform = await startPlatform({ environment: { ROLES: 'api', TRUST_PROXY: '1', LOG_LEVEL: 'warn' } });
try {
  const headers = await unlimitedHeaders(platform);
  const create = async () => String((await call(`${platform.api}/streams`, headers, { title: 'x' })).data.id);
  const id = await create();
  await readP50(platform, headers, id);
  const alone = await readP50(platform, headers, id);
  const send = async (text: string) =>
    void (await call(`${platform.api}/streams/${id}/chat`, headers, { text }));
  const { readers, bytes, p99 } = await measure(
    platform.process,
    platform.port,
    `/live/${id}/chat/events`,
    send,
  );
  const begun = processorOf(platform.process);
  await sleep(REST_MS);
  const atRest = (processorOf(platform.process) - begun) / (REST_MS / 1000);
  const beside = await readP50(platform, headers, id);
  readers.close();
  await sleep(2000);
  const rate = await posts(platform, await create());
  const of = `${CONNECTIONS} event streams`;
  report({
    name: `memory of each of ${of}`,
    value: (bytes - baseline.bytes) / 1000,
    unit: 'kB above a bare Node server',
    target: '<= 12',
  });
  report({
    name: `memory of each of ${of}, bare`,
    value: baseline.bytes / 1000,
    unit: 'kB',
    target: '<= 1000',
  });
  report({ name: `one message to ${of}, p99`, value: p99, unit: 'ms', target: '<= 1000' });
  report({ name: 'the same from the bare server', value: baseline.p99, unit: 'ms', target: '<= 1000' });
  report({ name: `processor at rest with ${of}`, value: atRest * 100, unit: '% of a core', target: '<= 10' });
  report({
    name: `p50 of GET /streams/{id} beside ${of}`,
    value: beside / alone,
    unit: 'of the p50 without them',
    target: '<= 1.2',
  });
  report({ name: `posts of guests with ${READERS} readers`, value: rate, unit: '1/s', target: '>= 100' });
} finally {
  await platform.stop();
  await agent.destroy();
}
