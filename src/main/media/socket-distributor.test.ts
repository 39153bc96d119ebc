import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { RtmpClient } from '../../../test/rtmp/client.ts';
import { openPublisher, startIngest, type TestIngest } from '../../../test/rtmp/ingest.ts';
import { close, listen } from '../../media/ingest/listen.ts';
import { createLogger } from '../../platform/logger.ts';
import { type ConnectionTaker, SocketDistributor } from './socket-distributor.ts';

/** Process that accepts offers until it is stalled. */
interface TestTaker extends ConnectionTaker {
  ingest: TestIngest;
  isStalled: boolean;
  isStarted: boolean;
  /** Number of the offers it got. */
  offers: number;
  sockets: Set<Socket>;
}

interface Setting {
  port: number;
  distributor: SocketDistributor;
  takers: TestTaker[];
  /** Number of accepted connections. */
  accepted: number;
}

/** Starts a listener that distributes its connections to engines. */
async function start(
  t: TestContext,
  limits = { connections: 100, connectionsPerAddress: 100 },
): Promise<Setting> {
  const takers: TestTaker[] = [];
  for (const index of [0, 1]) {
    const taker: TestTaker = {
      ingest: await startIngest(t, { isShared: true, limits: { connectionsPerAddress: 1 } }),
      isStalled: false,
      isStarted: true,
      offers: 0,
      sockets: new Set(),
      isReady: () => taker.isStarted,
      offer(id) {
        taker.offers += 1;
        if (!taker.isStalled) setImmediate(() => distributor.accept(index, id));
      },
      give({ id, protocol }, socket) {
        taker.sockets.add(socket);
        socket.once('close', () => distributor.end(id));
        taker.ingest.engine.take(socket, protocol);
        socket.resume();
      },
    };
    takers.push(taker);
  }
  const distributor = new SocketDistributor({ takers, limits, log: createLogger('silent') });
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    setting.accepted += 1;
    distributor.add(socket, 'rtmp');
  });
  const port = await listen(server, { host: '127.0.0.1', port: 0 });
  const setting = { port, distributor, takers, accepted: 0 };
  t.after(() => {
    distributor.close();
    for (const { sockets } of takers) for (const socket of sockets) socket.destroy();
    return close(server);
  });
  return setting;
}

const publishersOf = ({ takers }: Setting) => takers.map(({ ingest }) => ingest.engine.list().length);

test('publishers are spread over the processes, however many connect at the same time', async (t) => {
  const setting = await start(t);
  await Promise.all(
    ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => openPublisher(t, setting.port, `key-${name}`)),
  );
  assert.deepEqual(publishersOf(setting), [3, 3]);
});

test('publishes without a connection count as publishes of their process', async (t) => {
  const setting = await start(t);
  setting.distributor.report(0, 2);
  for (const name of ['a', 'b']) await openPublisher(t, setting.port, `key-${name}`);
  assert.deepEqual(publishersOf(setting), [0, 2]);
});

test('a stalled process gets no connections until it responds', async (t) => {
  const setting = await start(t);
  const [stalled] = setting.takers;
  assert.ok(stalled !== undefined);
  stalled.isStalled = true;
  for (const name of ['a', 'b', 'c']) await openPublisher(t, setting.port, `key-${name}`);
  assert.deepEqual(publishersOf(setting), [0, 3]);
  assert.equal(stalled.offers, 1, 'later connections are offered to the other one first');
  stalled.isStalled = false;
  setting.distributor.report(0, 0);
  await openPublisher(t, setting.port, 'key-d');
  assert.deepEqual(publishersOf(setting), [1, 3]);
});

test('a connection waits until a process is ready', async (t) => {
  const setting = await start(t);
  for (const taker of setting.takers) taker.isStarted = false;
  const connecting = RtmpClient.connected(setting.port);
  await waitFor(() => setting.accepted === 1);
  for (const taker of setting.takers) taker.isStarted = true;
  (await connecting).destroy();
});

test('connections of a lost process are no longer counted, and its offers go to another one', async (t) => {
  const setting = await start(t, { connections: 2, connectionsPerAddress: 2 });
  const [lost] = setting.takers;
  assert.ok(lost !== undefined);
  await openPublisher(t, setting.port, 'key-a');
  lost.isStalled = true;
  setting.distributor.lose(0);
  for (const socket of lost.sockets) socket.destroy();
  for (const name of ['b', 'c']) await openPublisher(t, setting.port, `key-${name}`);
  await waitFor(() => publishersOf(setting).join() === '0,2');
});

test('connections per address and in total are limited over all processes, and freed when they close', async (t) => {
  for (const limits of [
    { connections: 100, connectionsPerAddress: 3 },
    { connections: 3, connectionsPerAddress: 100 },
  ]) {
    const { port } = await start(t, limits);
    const clients = [];
    for (let count = 0; count < 3; count += 1) clients.push(await RtmpClient.connected(port));
    const refused = await RtmpClient.open(port);
    await refused.closedSoon();
    clients[0]?.destroy();
    const next = await waitFor(() => RtmpClient.connected(port));
    for (const client of [...clients, next]) client.destroy();
  }
});
