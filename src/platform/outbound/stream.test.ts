import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { after, before, beforeEach, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { type HttpsSink, hostile, startHttpsSink } from '../../../test/harness/https-sink.ts';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { createOutbound, GuardError, type Outbound, OutboundError, type StreamResponse } from './index.ts';

let sink: HttpsSink;
let outbound: Outbound;
/** A plain server whose behavior the test chooses. */
let plain: { url: string; handle: RequestListener; requests: IncomingMessage[]; close(): void };

before(async () => {
  sink = await startHttpsSink();
  setDefaultCACertificates([...getCACertificates('default'), sink.ca.pem]);
  outbound = createOutbound({ allowPrivate: ['127.0.0.0/8'], dnsServers: [] });
  const server = createServer((request, response) => {
    plain.requests.push(request);
    plain.handle(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  plain = {
    url: `http://localhost:${port}`,
    handle: () => {},
    requests: [],
    close: () => server.close().closeAllConnections(),
  };
});
after(async () => {
  await outbound.close();
  await sink.close();
  plain.close();
});
beforeEach(() => {
  plain.requests.length = 0;
  sink.requests.length = 0;
});

const stream = (url: string, options: { idleMs?: number; signal?: AbortSignal; via?: Outbound } = {}) =>
  (options.via ?? outbound).stream({
    url,
    headers: { Range: 'bytes=5-' },
    maxRedirects: 5,
    idleMs: options.idleMs ?? 3000,
    signal: options.signal ?? new AbortController().signal,
  });

async function read({ body }: StreamResponse): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}
const outboundError = (message: RegExp) => (error: unknown) =>
  error instanceof OutboundError && message.test(error.message);

test('a file comes over TLS or without, as it is', async () => {
  sink.reply = () => ({ ...hostile.gzipBomb(2 ** 20), status: 206 });
  const packed = await stream(`${sink.url}/file?x=1`);
  assert.deepEqual([packed.status, packed.url], [206, `${sink.url}/file?x=1`]);
  assert.equal(packed.headers.get('content-encoding'), 'gzip');
  assert.ok((await read(packed)).length < 4096, 'not inflated');
  const { headers } = sink.requests[0] ?? {};
  assert.deepEqual([headers?.range, headers?.['accept-encoding']], ['bytes=5-', 'identity']);
  assert.equal(headers?.host, `localhost:${sink.port}`);

  plain.handle = (_request, response) => void response.end('plain');
  assert.equal((await read(await stream(`${plain.url}/a`))).toString(), 'plain');
});

test('redirects are followed across schemes and each is guarded', async () => {
  plain.handle = ({ url }, response) => {
    const hop = Number(url?.slice(1));
    if (hop === 0) response.writeHead(302, { location: `${sink.url}/end` }).end();
    else response.writeHead(307, { location: `/${hop - 1}` }).end('a body that nobody reads');
  };
  sink.reply = () => ({ body: 'end' });
  const answer = await stream(`${plain.url}/4`);
  assert.deepEqual([answer.url, (await read(answer)).toString()], [`${sink.url}/end`, 'end']);
  await assert.rejects(stream(`${plain.url}/5`), outboundError(/^redirect: too many$/));
  for (const inside of ['http://10.0.0.1/', 'file:///etc/passwd', 'http://user@example.com/']) {
    plain.handle = (_request, response) => void response.writeHead(302, { location: inside }).end();
    await assert.rejects(stream(plain.url), GuardError);
  }
  const strict = createOutbound({ allowPrivate: [], dnsServers: [] });
  await assert.rejects(stream(plain.url, { via: strict }), GuardError);
  await strict.close();
});

test('a connection cut during the body causes an error after the received bytes', async () => {
  plain.handle = (_request, response) => {
    response.writeHead(200, { 'content-length': 1000 });
    response.write('half', () => setTimeout(() => response.destroy(), 20));
  };
  const chunks: string[] = [];
  const reading = (async () => {
    for await (const chunk of (await stream(plain.url)).body) chunks.push(Buffer.from(chunk).toString());
  })();
  await assert.rejects(reading, outboundError(/^connection: /));
  assert.deepEqual(chunks, ['half']);
});

test('silence is limited, before the answer and within it', async () => {
  plain.handle = () => {};
  await assert.rejects(stream(plain.url, { idleMs: 100 }), outboundError(/^timeout: /));
  plain.handle = (_request, response) => void response.writeHead(200).write('x');
  await assert.rejects(stream(plain.url, { idleMs: 100 }).then(read), outboundError(/^timeout: /));
});

test('an aborted request ends immediately with the reason, and the connection is closed', async () => {
  let closed = 0;
  plain.handle = (request, response) => {
    request.socket.on('close', () => closed++);
    if (request.url === '/body') response.writeHead(200).write('x');
  };
  for (const path of ['/head', '/body']) {
    const controller = new AbortController();
    const reading = stream(plain.url + path, { signal: controller.signal }).then(read);
    await waitFor(() => plain.requests.some(({ url }) => url === path));
    controller.abort(new Error('enough'));
    await assert.rejects(reading, /^Error: enough$/);
  }
  plain.handle = (request, response) => {
    request.socket.on('close', () => closed++);
    response.writeHead(200).write('x');
  };
  (await stream(`${plain.url}/given-up`)).discard();
  await waitFor(() => closed === 3);
});

test('a slow reader does not buffer the whole body', async () => {
  let sent = 0;
  plain.handle = (_request, response) => {
    const block = Buffer.alloc(64 * 1024);
    const push = () => {
      do sent += block.length;
      while (!response.destroyed && response.write(block));
    };
    response.on('drain', push);
    push();
  };
  const answer = await stream(plain.url);
  const chunks = answer.body[Symbol.asyncIterator]();
  await chunks.next();
  const settled = await waitFor(
    async () => {
      const before = sent;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return sent === before && sent;
    },
    { timeoutMs: 10_000 },
  );
  assert.ok(settled < 64 * 2 ** 20, `${settled} bytes were taken`);
  answer.discard();
});
