import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../../../test/harness/wait.ts';
import { startTcp } from '../../../test/restream/far-ends.ts';
import { ByteBudget, pace } from './byte-budget.ts';

test('ten seconds may come at once, at four times what the stream takes, and then as much as time passes', () => {
  let nowMs = 0;
  // 8 kbps are a byte a millisecond.
  const budget = new ByteBudget({ maxBitrateKbps: 8 }, () => nowMs);
  assert.equal(budget.take(40_000), 0);
  assert.equal(budget.take(4000), 1000);
  nowMs += 1000;
  assert.equal(budget.take(0), 0);
  nowMs += 1_000_000;
  assert.equal(budget.take(40_004), 1, 'what was not sent is not saved up');
});

test('a connection that sends more is not read meanwhile', async (t) => {
  const flood = (socket: Socket) => {
    while (socket.write(Buffer.alloc(65_536)));
    socket.once('drain', () => flood(socket));
  };
  const socket = connect(await startTcp(t, flood), '127.0.0.1');
  t.after(() => socket.destroy());
  let came = 0;
  socket.on('data', ({ length }: Buffer) => {
    came += length;
  });
  // 100 kB a second: 1 MB at once.
  pace(socket, { maxBitrateKbps: 200 });
  await until(() => came >= 1_000_000);
  await delay(500);
  assert.ok(came < 1_300_000, `${came} bytes`);
});
