import { after, before, test } from 'node:test';
import { assertBooksHold } from './books.ts';
import { createMoneyWorld, type MoneyWorld } from './world.ts';

let world: MoneyWorld;
before(async () => {
  world = await createMoneyWorld();
});
after(() => world.close());

test('whatever happens in whatever order, and wherever the program is killed, no cent is lost or counted twice', async () => {
  // Always the same ones here: the long form and the benchmark (`bench/money.ts`) try others.
  await assertBooksHold(world, { numRuns: 100, seed: 20_261_120 });
});
