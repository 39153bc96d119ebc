import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { startTcp } from '../../../test/restream/destinations.ts';
import { ReadMeter } from '../read-budget.ts';
import { PacedSocket, planBudget } from './paced-socket.ts';

test('a plan allows a source four times its bitrate, averaged over the milliseconds of the budget', () => {
  let nowMs = 0;
  const budget = planBudget({ items: 1000, bytes: 1_000_000, ms: 10_000 }, { maxBitrateKbps: 8 });
  const meter = new ReadMeter(budget, () => nowMs);
  assert.equal(meter.add(1, 40_000), 0);
  assert.equal(meter.add(1, 4000), 1000);
  nowMs += 1000;
  assert.equal(meter.add(0, 0), 0);
  nowMs += 1_000_000;
  assert.equal(meter.add(1, 40_004), 1, 'unused budget is not accumulated');
});

test('a budget limits items as well as bytes', () => {
  let nowMs = 0;
  const meter = new ReadMeter({ items: 100, bytes: 1000, ms: 1000 }, () => nowMs);
  assert.equal(meter.add(100, 0), 0);
  assert.equal(meter.add(10, 0), 100);
  nowMs += 100;
  assert.equal(meter.add(0, 0), 0);
});

async function connectToFlood(t: TestContext): Promise<Socket> {
  const flood = (socket: Socket) => {
    while (socket.write(Buffer.alloc(65_536)));
    socket.once('drain', () => flood(socket));
  };
  const socket = connect(await startTcp(t, flood), '127.0.0.1');
  t.after(() => socket.destroy());
  return socket;
}

test('a connection that exceeds its budget is not read in the meantime', async (t) => {
  const socket = await connectToFlood(t);
  let received = 0;
  socket.on('data', ({ length }: Buffer) => {
    received += length;
  });
  new PacedSocket(socket, { items: 1_000_000, bytes: 1_000_000, ms: 10_000 });
  await waitFor(() => received >= 1_000_000);
  await delay(500);
  assert.ok(received < 1_300_000, `${received} bytes`);
});

test('a held connection is not read before its last hold ends', async (t) => {
  const socket = await connectToFlood(t);
  const paced = new PacedSocket(socket, { items: 10, bytes: 10_000_000_000, ms: 200 });
  const held = Promise.withResolvers<void>();
  let received = 0;
  socket.on('data', ({ length }: Buffer) => {
    received += length;
    if (received === length) paced.hold(held.promise);
  });
  await waitFor(() => received > 0);
  const before = received;
  paced.add(20, 0);
  await delay(500);
  assert.ok(received - before <= 131_072, 'only what was buffered arrives');
  held.resolve();
  await waitFor(() => received > before + 500_000);
});
