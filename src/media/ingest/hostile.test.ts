import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { RtmpClient } from '../../../test/rtmp/client.ts';
import {
  type EngineMemory,
  type EngineProcess,
  startEngineProcess,
} from '../../../test/rtmp/engine-process.ts';
import { readFlv } from '../../../test/rtmp/flv-reader.ts';
import { AVC_360P30, videoFrame, videoHeader } from '../../../test/rtmp/media.ts';

const CORPUS = new URL('../../../test/fuzz-corpus/rtmp/', import.meta.url);
const MIB = 1024 * 1024;
/** Frames of 100 kB, a multiple of 25: three rounds fit the budget of a publish. */
const ROUND = 200;

async function corpus(): Promise<{ name: string; bytes: Buffer }[]> {
  const names = (await readdir(CORPUS)).filter((name) => name.endsWith('.bin')).sort();
  return Promise.all(names.map(async (name) => ({ name, bytes: await readFile(new URL(name, CORPUS)) })));
}

/** Sends the bytes on a new connection, and disconnects when the server has hung up or read them all. */
async function replay(port: number, bytes: Buffer): Promise<void> {
  const client = await RtmpClient.open(port);
  client.write(bytes);
  client.socket.end();
  await Promise.race([client.closed, sleep(300, null, { ref: false })]);
  client.destroy();
}

/** Asserts that a complete publish succeeds, so the process has neither died nor stalled. */
async function assertServes(engine: EngineProcess): Promise<void> {
  assert.ok(engine.alive());
  const client = await RtmpClient.connected(engine.port);
  assert.equal(await client.publish('key-check'), 'NetStream.Publish.Start');
  client.destroy();
}

/** Runs `work` on every item, `width` at a time. */
async function inParallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.pop(); item !== undefined; item = queue.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

/** Asserts that memory grows by at most `maxMiB` while `work` runs. */
async function assertMemory(
  t: TestContext,
  engine: EngineProcess,
  maxMiB: number,
  work: () => Promise<void>,
  kind: keyof EngineMemory = 'residentBytes',
) {
  const before = (await engine.memory())[kind];
  await work();
  const grown = ((await engine.memory())[kind] - before) / MIB;
  t.diagnostic(`memory: ${Math.round(before / MIB)} MiB, ${grown >= 0 ? '+' : ''}${grown.toFixed(1)} MiB`);
  assert.ok(grown < maxMiB, `grew by ${grown.toFixed(1)} MiB`);
}

test('the fuzz corpus, each file as it is', async (t) => {
  const engine = await startEngineProcess(t);
  const files = await corpus();
  assert.ok(files.length >= 40);
  for (const { name, bytes } of files) {
    await replay(engine.port, bytes);
    assert.ok(engine.alive(), `alive after ${name}`);
  }
  await assertServes(engine);
  const recorded = engine.readPorts.length;
  assert.ok(recorded >= 8, 'recorded publishes and attacks past the key check did start');
});

test('the fuzz corpus, with bytes changed at random places', async (t) => {
  const engine = await startEngineProcess(t);
  const files = await corpus();
  const mutants = Array.from({ length: 400 }, (_, index) => {
    const file = files[index % files.length];
    const copy = Buffer.from(file?.bytes ?? '');
    // Past the handshake, where the protocol is.
    const from = copy.length > 3073 ? 3073 : 0;
    for (let changes = randomBytes(1).readUInt8() % 12; changes >= 0; changes--) {
      copy[from + (randomBytes(4).readUInt32BE() % (copy.length - from))] = randomBytes(1).readUInt8();
    }
    return copy;
  });
  await inParallel(mutants, 20, (bytes) => replay(engine.port, bytes));
  await assertServes(engine);
});

test('a thousand random blobs, in every phase of a connection', async (t) => {
  const engine = await startEngineProcess(t);
  await assertServes(engine);
  const phases = [
    (port: number) => RtmpClient.handshaken(port),
    (port: number) => RtmpClient.connected(port),
    async (port: number) => {
      const client = await RtmpClient.connected(port);
      await client.publish(`key-${randomBytes(4).toString('hex')}`);
      return client;
    },
  ];
  const jobs = Array.from(
    { length: 1000 },
    (_, index) => phases[index % phases.length] ?? RtmpClient.handshaken,
  );
  await assertMemory(t, engine, 50, async () => {
    await inParallel(jobs, 20, async (open) => {
      const client = await open(engine.port);
      client.write(randomBytes(5000));
      client.socket.end();
      await Promise.race([client.closed, sleep(300, null, { ref: false })]);
      client.destroy();
    });
  });
  await assertServes(engine);
});

test('before the key check a hundred connections of 60 large messages each hold little memory', async (t) => {
  const engine = await startEngineProcess(t);
  await assertServes(engine);
  const header = (csid: number, length: number) => {
    const bytes = Buffer.alloc(12);
    bytes[0] = csid;
    bytes.writeUIntBE(length, 4, 3);
    bytes[7] = 9;
    return bytes;
  };
  const chunkSize = Buffer.from('020000000000040100000000000fffff', 'hex');
  const attack = (length: number, body: number) =>
    Buffer.concat([
      chunkSize,
      ...Array.from({ length: 60 }, (_, i) => Buffer.concat([header(3 + i, length), Buffer.alloc(body)])),
    ]);
  const clients: RtmpClient[] = [];
  t.after(() => {
    for (const client of clients) client.destroy();
  });
  await assertMemory(t, engine, 50, async () => {
    for (let i = 0; i < 100; i++) {
      const client = await RtmpClient.handshaken(engine.port);
      clients.push(client);
      client.write(i % 2 === 0 ? attack(0xffffff, 100) : attack(65536, 65536));
    }
    await Promise.all(clients.map((client) => client.closed));
  });
  await assertServes(engine);
});

test('a peer that asks and never reads is cut', async (t) => {
  const engine = await startEngineProcess(t);
  const client = await RtmpClient.connected(engine.port);
  t.after(() => client.destroy());
  client.socket.pause();
  const pings = Buffer.concat(
    Array.from({ length: 4000 }, () => Buffer.from('02000000000006040000000000060000abcd', 'hex')),
  );
  await assertMemory(t, engine, 30, async () => {
    // A server that responded forever would accept it all.
    for (let sent = 0; sent < 4000 && !client.isClosed; sent++) {
      client.write(pings);
      await sleep(client.socket.writableNeedDrain ? 5 : 0);
    }
    assert.ok(client.isClosed, 'the server hung up');
  });
  await assertServes(engine);
});

test('a reader that is stuck does not grow the server', async (t) => {
  const engine = await startEngineProcess(t);
  const client = await RtmpClient.connected(engine.port);
  t.after(() => client.destroy());
  assert.equal(await client.publish('key-a'), 'NetStream.Publish.Start');
  const port = await waitFor(() => engine.readPorts[0]);
  const stuck = readFlv(connect(port, '127.0.0.1'));
  t.after(() => stuck.destroy());
  stuck.pause();
  client.setChunkSize(65536);
  client.media('video', 0, videoHeader(AVC_360P30));
  const frames = async (from: number, count: number) => {
    for (let i = from; i < from + count; i++) {
      client.media('video', i * 40, videoFrame(i % 25 === 0, 100_000));
      if (client.socket.writableNeedDrain)
        await new Promise((resolve) => client.socket.once('drain', resolve));
    }
  };
  // The first round fills the reader's queue. Resident memory varies by more than the bound, because the
  // allocator returns freed pages late.
  await frames(0, ROUND);
  await assertMemory(t, engine, 10, () => frames(ROUND, 2 * ROUND), 'liveBytes');
  await waitFor(() => client.socket.writableLength === 0);
  stuck.resume();
  await frames(3 * ROUND, 1);
  const before = stuck.tags().length;
  await waitFor(async () => {
    await frames(3 * ROUND + 25, 1);
    return stuck.tags().length > before;
  });
});
