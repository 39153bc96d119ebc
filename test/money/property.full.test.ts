import { after, before, test } from 'node:test';
import { assertBooksHold } from './books.ts';
import { createMoneyWorld, type MoneyWorld } from './world.ts';

let world: MoneyWorld;
before(async () => {
  world = await createMoneyWorld();
});
after(() => world.close());

test('whatever happens in whatever order, and wherever the program is killed, no cent is lost or counted twice', async () => {
  // Not those of the short form.
  await assertBooksHold(world, { numRuns: 600, seed: 20_261_127 });
});
