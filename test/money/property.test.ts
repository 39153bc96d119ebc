import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { createBooksCheck, createPayouts } from '../../src/features/ledger/index.ts';
import { DAY_MS } from '../../src/kernel/durations.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { deeds, play } from './sequences.ts';
import { createMoneyWorld, type MoneyWorld } from './world.ts';

let world: MoneyWorld;
before(async () => {
  world = await createMoneyWorld();
});
after(() => world.close());

test('whatever happens in whatever order, and wherever the program is killed, no cent is lost or counted twice', async () => {
  const property = fc.asyncProperty(deeds, (sequence) => play(world, sequence));
  // Always the same ones here: the benchmark (`bench/money.ts`) tries others each time.
  await fc.assert(property, { numRuns: 300, seed: 20_261_120 });
  const { database, clock, events, ledger } = world;
  const log = createLogger('silent');
  const startElsewhere = () => Promise.resolve(null);
  const deps = { db: database.db, clock, events, ledger, log, startElsewhere };
  const books = createBooksCheck(deps);
  assert.deepEqual(await books.check(), []);
  clock.advance(3 * DAY_MS);
  await createPayouts(deps).run();
  assert.deepEqual(await books.check(), []);
});
