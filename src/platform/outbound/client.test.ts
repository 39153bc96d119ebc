import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { type HttpsSink, hostile, startHttpsSink } from '../../../test/harness/https-sink.ts';
import { needsOwnProcess } from '../../../test/harness/needs.ts';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { createOutbound, GuardError, type Outbound, OutboundError } from './index.ts';

needsOwnProcess();

let sink: HttpsSink;
let outbound: Outbound;

before(async () => {
  sink = await startHttpsSink();
  setDefaultCACertificates([...getCACertificates('default'), sink.ca.pem]);
  outbound = createOutbound({ allowPrivate: ['127.0.0.0/8'], dnsServers: [] });
});
after(async () => {
  await outbound.close();
  await sink.close();
});
const closers: (() => Promise<unknown>)[] = [];
/** Closes it after the test, whatever comes of it. */
function closing<T extends { close(): Promise<unknown> }>(resource: T): T {
  closers.push(() => resource.close());
  return resource;
}
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});
beforeEach(() => {
  sink.requests.length = 0;
  sink.reply = () => ({});
});

const post = (path = '/', options: { timeoutMs?: number; url?: string; via?: Outbound } = {}) =>
  (options.via ?? outbound).request({
    url: (options.url ?? sink.url) + path,
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'SVC-Event-Type': 'a.b' },
    body: '{"a":1}',
    timeoutMs: options.timeoutMs ?? 3000,
  });

/** A client whose names resolve as told; everything on loopback is allowed. */
function withNames(resolve: (name: string) => Promise<string[]>): Outbound {
  return closing(createOutbound({ allowPrivate: ['127.0.0.0/8'], dnsServers: [], resolve }));
}

const guardError = (reason: string) => (error: unknown) =>
  error instanceof GuardError && error.reason === reason && error.message === `ssrf_guard: ${reason}`;
const outboundError = (message: string | RegExp) => (error: unknown) => {
  assert.ok(error instanceof OutboundError, String(error));
  assert.match(error.message, typeof message === 'string' ? new RegExp(`^${message}$`) : message);
  return true;
};

/** A TLS receiver that handles its sockets itself. */
async function rawReceiver(handle: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createTlsServer(await sink.ca.issue(['localhost']), (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    handle(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return closing({
    url: `https://localhost:${port}`,
    connections: () => sockets.size,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  });
}

describe('an exchange', () => {
  test('an exchange sends method, path, headers and body as given and returns the response', async () => {
    sink.reply = () => ({ status: 202, body: 'thanks' });
    const response = await post('/hook?x=1');
    assert.equal(response.status, 202);
    assert.equal(response.body, 'thanks');
    assert.ok(response.latencyMs >= 0 && response.latencyMs < 3000);
    const [seen] = sink.requests;
    assert.equal(seen?.method, 'POST');
    assert.equal(seen?.path, '/hook?x=1');
    assert.equal(seen?.rawBody.toString(), '{"a":1}');
    assert.equal(seen?.headers.host, `localhost:${sink.port}`);
    assert.equal(seen?.headers['svc-event-type'], 'a.b');
    assert.equal(seen?.headers['accept-encoding'], undefined);
  });

  test('an exchange keeps connections alive: fifty sequential requests use one, four concurrent ones at most four', async () => {
    for (let i = 0; i < 50; i++) await post();
    assert.equal(new Set(sink.requests.map((r) => r.remotePort)).size, 1);
    sink.requests.length = 0;
    for (let i = 0; i < 5; i++) await Promise.all([post(), post(), post(), post()]);
    assert.ok(new Set(sink.requests.map((r) => r.remotePort)).size <= 4);
  });

  test('does not follow redirects', async () => {
    sink.reply = () => hostile.redirect(`${sink.url}/elsewhere`);
    assert.equal((await post()).status, 302);
    assert.equal(sink.requests.length, 1);
  });

  test('a gzip bomb is not inflated', async () => {
    const bomb = hostile.gzipBomb(20 * 2 ** 20);
    sink.reply = () => bomb;
    const { status, body } = await post();
    assert.equal(status, 200);
    assert.ok(body.length <= 16 * 1024);
    assert.ok(body.startsWith('\x1f'), 'the first byte of a gzip file');
  });

  test('keeps 16 KiB of an endless body and drops the connection', async () => {
    sink.reply = (_request, index) => (index === 0 ? { fault: 'endless' } : {});
    const { status, body } = await post();
    assert.equal(status, 200);
    assert.equal(body, 'x'.repeat(16 * 1024));
    await post();
    assert.notEqual(sink.requests[0]?.remotePort, sink.requests[1]?.remotePort);
  });

  test('reads a body of 40 KiB to its end, so that the connection stays', async () => {
    sink.reply = () => ({ body: 'y'.repeat(40 * 1024) });
    assert.equal((await post()).body.length, 16 * 1024);
    await post();
    assert.equal(sink.requests[0]?.remotePort, sink.requests[1]?.remotePort);
  });

  test('makes NUL and malformed UTF-8 safe, and cuts between characters', async () => {
    sink.reply = () => hostile.nulBytes();
    assert.equal((await post()).body, 'before\uFFFDafter\uFFFD');
    sink.reply = () => ({ body: Buffer.from([0x61, 0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80]) });
    const { body } = await post();
    assert.ok(body.isWellFormed() && !body.includes('\0') && body.startsWith('a\uFFFD'));
    sink.reply = () => ({ body: `a${'é'.repeat(16 * 1024)}` });
    assert.equal((await post()).body, `a${'é'.repeat(8 * 1024 - 1)}`);
  });
});

describe('the deadline', () => {
  test('ends a request that is never answered', async () => {
    sink.reply = () => ({ fault: 'hang' });
    const startedAt = performance.now();
    await assert.rejects(post('/', { timeoutMs: 200 }), outboundError('timeout: 200 ms'));
    assert.ok(performance.now() - startedAt < 1000);
  });

  test('a status in time counts although its body drips past the deadline', async () => {
    sink.reply = () => ({ fault: 'drip' });
    const { status, body } = await post('/', { timeoutMs: 300 });
    assert.equal(status, 200);
    assert.match(body, /^\.+$/);
  });

  test('ends dripping headers, and a connection on which TLS never begins', async () => {
    const drip = await rawReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX-A: ');
      const timer = setInterval(() => socket.write('a'), 20);
      socket.on('close', () => clearInterval(timer));
    });
    await assert.rejects(post('/', { url: drip.url, timeoutMs: 200 }), outboundError('timeout: 200 ms'));
    const silent = createTcpServer((socket) => socket.on('error', () => {}));
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const address = silent.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const url = `https://localhost:${port}`;
    const call = post('/', { url, timeoutMs: 200 });
    await assert.rejects(call, outboundError('timeout: 200 ms')).finally(() => silent.close());
  });

  test('holds for the name service too, and nothing is sent afterwards', async () => {
    const late = Promise.withResolvers<string[]>();
    const via = withNames(() => late.promise);
    const url = `https://receiver.test:${sink.port}`;
    await assert.rejects(post('/', { url, via, timeoutMs: 100 }), outboundError('timeout: 100 ms'));
    late.resolve(['127.0.0.1']);
    await post();
    assert.equal(sink.requests.length, 1);
  });
});

describe('failures', () => {
  test('failures are named by their stage', async () => {
    sink.reply = () => ({ fault: 'reset' });
    await assert.rejects(post(), outboundError(/^connection: (ECONNRESET|UND_ERR_SOCKET)$/));
    await assert.rejects(post('/', { url: 'https://localhost:1' }), outboundError('connect: ECONNREFUSED'));
    const via = withNames(async () => {
      throw new OutboundError('dns', 'ENOTFOUND');
    });
    await assert.rejects(post('/', { url: 'https://a.example', via }), outboundError('dns: ENOTFOUND'));
  });

  test('an answer that is no HTTP, and headers without end', async () => {
    const garbage = await rawReceiver((socket) => void socket.end('SSH-2.0-x\r\n\r\n'));
    await assert.rejects(post('/', { url: garbage.url }), outboundError(/^connection: H/));
    const endless = await rawReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const line = `X-A: ${'a'.repeat(1000)}\r\n`;
      const timer = setInterval(() => socket.write(line.repeat(20)), 1);
      socket.on('close', () => clearInterval(timer));
    });
    await assert.rejects(
      post('/', { url: endless.url }),
      outboundError('connection: UND_ERR_HEADERS_OVERFLOW'),
    );
  });

  test('interim answers are passed over', async () => {
    const early = await rawReceiver((socket) => {
      socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n');
    });
    assert.equal((await post('/', { url: early.url })).status, 204);
  });

  test('a wrong certificate is refused, also when a session could be resumed', async () => {
    const other = closing(await startHttpsSink({ ca: sink.ca, names: ['other.test'] }));
    for (let i = 0; i < 3; i++) {
      await assert.rejects(
        post('/', { url: `https://localhost:${other.port}` }),
        outboundError('connect: ERR_TLS_CERT_ALTNAME_INVALID'),
      );
    }
    assert.equal(other.requests.length, 0);
    const stranger = closing(await startHttpsSink());
    await assert.rejects(
      post('/', { url: stranger.url }),
      outboundError(/^connect: [A-Z_]*(CERT|SIGNED|SIGNATURE)/),
    );
    assert.equal(stranger.requests.length, 0);
  });
});

describe('the pin', () => {
  test('connects to the checked address with the name in SNI, Host and the certificate check', async () => {
    const via = withNames(async () => ['127.0.0.1']);
    const response = await post('/', { url: `https://receiver.test:${sink.port}`, via });
    assert.equal(response.status, 200);
    assert.equal(sink.requests[0]?.headers.host, `receiver.test:${sink.port}`);
    await assert.rejects(
      post('/', { url: `https://unknown.test:${sink.port}`, via }),
      outboundError('connect: ERR_TLS_CERT_ALTNAME_INVALID'),
    );
  });

  test('a name that is rebound is refused although a connection is alive', async () => {
    const answers = [['127.0.0.1'], ['127.0.0.1'], ['10.0.0.1'], ['1.1.1.1', '192.168.0.1'], ['::1']];
    const via = withNames(async () => answers.shift() ?? []);
    const url = `https://receiver.test:${sink.port}`;
    await post('/', { url, via });
    await post('/', { url, via });
    await assert.rejects(post('/', { url, via }), guardError('private address'));
    await assert.rejects(post('/', { url, via }), guardError('private address'));
    await assert.rejects(post('/', { url, via }), guardError('loopback address'));
    await assert.rejects(post('/', { url, via }), outboundError('dns: ENODATA'));
    assert.equal(sink.requests.length, 2);
  });

  test('the next address is tried when one does not connect', async () => {
    const via = withNames(async () => ['127.0.0.2', '127.0.0.1']);
    const url = `https://receiver.test:${sink.port}`;
    assert.equal((await post('/', { url, via })).status, 200);
    assert.equal((await post('/', { url, via })).status, 200);
    const ports = sink.requests.map((request) => request.remotePort);
    assert.equal(new Set(ports).size, 1);
  });

  test('a refused target is never dialled', async () => {
    const closed = closing(createOutbound({ allowPrivate: [], dnsServers: [] }));
    await assert.rejects(post('/', { via: closed }), guardError('host name localhost'));
    const url = `https://127.0.0.1:${sink.port}`;
    await assert.rejects(post('/', { url, via: closed }), guardError('loopback address'));
    assert.equal(sink.requests.length, 0);
  });
});

describe('stale connections', () => {
  const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

  test('a reset of a reused connection is sent again once, over a new one', async () => {
    let requests = 0;
    const receiver = await rawReceiver((socket) => {
      let first = true;
      socket.on('data', () => {
        requests++;
        if (first) socket.write(answer);
        else socket.destroy();
        first = false;
      });
    });
    for (let i = 0; i < 10; i++) assert.equal((await post('/', { url: receiver.url })).status, 200);
    assert.equal(receiver.connections(), 10);
    assert.equal(requests, 19);
  });

  test('once, however many other connections are stale', async () => {
    let requests = 0;
    const seen = new Set<Socket>();
    const receiver = await rawReceiver((socket) => {
      socket.on('data', () => {
        requests++;
        if (seen.has(socket)) socket.destroy();
        else setTimeout(() => socket.write(answer), 50);
        seen.add(socket);
      });
    });
    await Promise.all(Array.from({ length: 4 }, () => post('/', { url: receiver.url })));
    assert.equal(receiver.connections(), 4);
    await post('/', { url: receiver.url });
    assert.equal(requests, 6);
  });

  test('a reset of a fresh connection is not', async () => {
    let requests = 0;
    const receiver = await rawReceiver((socket) => {
      socket.on('data', () => {
        requests++;
        socket.destroy();
      });
    });
    await assert.rejects(post('/', { url: receiver.url }), outboundError(/^connection: /));
    assert.equal(requests, 1);
  });
});

describe('checkUrl', () => {
  test('refuses on evidence only', async () => {
    const via = withNames(async (name) => {
      if (name === 'private.example') return ['10.0.0.1'];
      if (name === 'public.example') return ['1.1.1.1'];
      throw new OutboundError('dns', 'ENOTFOUND');
    });
    await via.checkUrl('https://public.example/');
    await via.checkUrl('https://missing.example/');
    await assert.rejects(via.checkUrl('https://private.example/'), guardError('private address'));
    await assert.rejects(via.checkUrl('http://public.example/'), guardError('scheme is not https'));
    await assert.rejects(
      via.checkUrl('https://public.example/', { maxLength: 10 }),
      guardError('URL longer than 10 characters'),
    );
  });

  test('asks the configured name servers, and a silent one costs at most 2 s', async () => {
    const silent = createSocket('udp4').bind(0, '127.0.0.1');
    let asked = 0;
    silent.on('message', () => asked++);
    await once(silent, 'listening');
    const servers = [`127.0.0.1:${silent.address().port}`];
    const via = closing(createOutbound({ allowPrivate: [], dnsServers: servers }));
    closers.push(async () => silent.close());
    const startedAt = performance.now();
    await via.checkUrl('https://slow.example/');
    assert.ok(performance.now() - startedAt < 2500);
    assert.ok(asked >= 2);
  });
});

test('close ends open requests', async () => {
  sink.reply = () => ({ fault: 'hang' });
  const via = createOutbound({ allowPrivate: ['127.0.0.0/8'], dnsServers: [] });
  const pending = post('/', { via }).then(
    () => 'answered',
    () => 'failed',
  );
  await waitFor(() => sink.requests.length === 1);
  await via.close();
  assert.equal(await pending, 'failed');
});
