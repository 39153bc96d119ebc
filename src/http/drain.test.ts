import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { request } from 'undici';
import { startTestApp, type TestApp } from '../../test/harness/app.ts';
import { openRawSocket, type RawSocket } from '../../test/harness/raw-http.ts';
import { openTail } from '../../test/harness/tail.ts';
import { waitFor } from '../../test/harness/wait-for.ts';
import { createEncoderStream } from '../../test/streams/encoder-stream.ts';
import { createSession, offsetOf, TUS } from '../../test/uploads/fixture.ts';

const GET = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n';

let app: TestApp;
let node: TestApp;
let key: string;
const sockets: RawSocket[] = [];

before(async () => {
  app = await startTestApp();
  ({ key } = await app.createKey());
});
after(() => app.close());

async function startNode(env: Record<string, string>): Promise<void> {
  node = await startTestApp({ beside: app, env });
}
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.close();
  await node.close();
});

async function open(): Promise<RawSocket> {
  const socket = await openRawSocket(node.port);
  sockets.push(socket);
  return socket;
}

/** Sends the head of a request whose body is sent by `finish`, so that it is in progress until then. */
async function beginRequest() {
  const socket = await open();
  const body = '{"title":"On its way"}';
  const head = `POST /api/v1/streams HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\n`;
  socket.write(`${head}content-length: ${body.length}\r\nexpect: 100-continue\r\n\r\n`);
  assert.equal((await socket.answer()).status, 100);
  return { finish: () => socket.exchange(body), socket };
}

async function isRefused(): Promise<boolean> {
  const socket = connect(node.port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return false;
  } catch (error) {
    assert.equal(Object(error).code, 'ECONNREFUSED');
    return true;
  } finally {
    socket.destroy();
  }
}
const untilRefused = () => waitFor(isRefused, { message: 'the port to be closed' });

const readiness = async () => {
  const { statusCode, headers, body } = await request(`${node.url}/readyz`);
  return { status: statusCode, connection: headers.connection, body: await body.json() };
};

describe('a node that drains with a delay', () => {
  beforeEach(() => startNode({ DRAIN_DELAY: '2', DRAIN_TIMEOUT: '600' }));

  test('returns 503 from /readyz, accepts connections, and ends each with its next response', async () => {
    const [idle, begun] = [await open(), await beginRequest()];
    assert.equal((await idle.exchange(GET)).headers.connection, 'keep-alive');
    assert.deepEqual((await readiness()).body, { status: 'OK' });
    const drained = node.drain();
    assert.deepEqual(await readiness(), {
      status: 503,
      connection: 'close',
      body: { status: 'DRAINING' },
    });
    for (const socket of [idle, await open()]) {
      const response = await socket.exchange(GET);
      assert.deepEqual([response.status, response.headers.connection], [200, 'close']);
      await socket.closed();
    }
    const response = await begun.finish();
    assert.deepEqual([response.status, response.headers.connection], [201, 'close']);
    await begun.socket.closed();
    await drained;
  });

  test('responds to every request on a new connection of clients that stop when /readyz is 503', async () => {
    let isReady = true;
    const outcomes = new Set<number>();
    const poll = async () => {
      while (isReady) {
        const { statusCode, body } = await request(`${node.url}/healthz`, { reset: true });
        await body.dump();
        outcomes.add(statusCode);
      }
    };
    const clients = Array.from({ length: 8 }, poll);
    await waitFor(() => outcomes.size > 0);
    const drained = node.drain();
    isReady = (await readiness()).status === 200;
    await Promise.all(clients);
    assert.deepEqual([...outcomes], [200]);
    await drained;
    assert.ok(await isRefused());
  });

  test('ends its event streams one after the other, and their clients resume on another node', async () => {
    const stream = await createEncoderStream(app, key);
    const tailOf = (at: TestApp, after?: string) =>
      openTail(`${at.url}/api/v1/streams/${stream.id}/status`, {
        key,
        accept: 'text/event-stream',
        ...(after === undefined ? {} : { after }),
      });
    const tails = await Promise.all(Array.from({ length: 4 }, () => tailOf(node)));
    for (const tail of tails) await tail.waitFor('status');
    const drained = node.drain();
    await Promise.race(tails.map(({ ended }) => ended));
    const late = await tailOf(node);
    await Promise.all([...tails, late].map(({ ended }) => ended));
    for (const tail of [...tails, late]) {
      assert.deepEqual(tail.data('bye'), [{ reason: 'SHUTDOWN', reconnect: true }]);
    }
    await stream.connect();
    for (const tail of tails) {
      const resumed = await tailOf(app, tail.lastId());
      await resumed.waitFor('status');
      assert.deepEqual(
        resumed.data('status').map(({ status }) => status),
        ['PREVIEW'],
      );
      await resumed.close();
    }
    await drained;
  });
});

describe('a node that drains without a delay', () => {
  test('answers requests that were on their way when it closed its port', async () => {
    await startNode({ DRAIN_TIMEOUT: '600' });
    const [idle, unused, begun] = [await open(), await open(), await beginRequest()];
    await idle.exchange(GET);
    const drained = node.drain();
    await untilRefused();
    for (const socket of [idle, unused]) {
      const response = await socket.exchange(GET);
      assert.deepEqual([response.status, response.headers.connection], [200, 'close']);
    }
    assert.equal((await begun.finish()).status, 201);
    await drained;
  });

  test('waits for the rest of a head, and not for connections without a request', async () => {
    await startNode({ DRAIN_TIMEOUT: '600' });
    const [begun, unused] = [await open(), await open()];
    begun.write(GET.slice(0, 10));
    const drained = node.drain();
    await untilRefused();
    // The unused connection is closed last, together with the server.
    assert.equal((await begun.exchange(GET.slice(10))).status, 200);
    await drained;
    await unused.closed();
  });

  test('ends an event stream that is opened when the port is closed', async () => {
    await startNode({ DRAIN_TIMEOUT: '600' });
    const [late, begun] = [await open(), await beginRequest()];
    const drained = node.drain();
    await untilRefused();
    late.write(`GET /api/v1/me/events/tail HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n\r\n`);
    await late.closed();
    await begun.finish();
    await drained;
  });

  test('ends an upload when the port is closed, and another node continues it', async () => {
    await startNode({ DRAIN_TIMEOUT: '600' });
    const session = await createSession(app, key, { sizeBytes: 100_000 });
    const { pathname } = new URL(session.url);
    const socket = await open();
    const headers = { ...TUS, 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`PATCH ${pathname} HTTP/1.1\r\nhost: x\r\n${lines.join('')}content-length: 100000\r\n\r\n`);
    socket.write(Buffer.alloc(60_000));
    await waitFor(async () => (await offsetOf(session.url)) === 60_000);
    await node.drain();
    await socket.closed();
    assert.equal(await offsetOf(session.url), 60_000);
  });
});
