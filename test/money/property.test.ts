import { after, before, test } from 'node:test';
import fc from 'fast-check';
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
});
