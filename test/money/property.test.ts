import { after, before, test } from 'node:test';
import { assertLedgerInvariants } from './books.ts';
import { createPaymentsSimulation, type PaymentsSimulation } from './payments-simulation.ts';

let world: PaymentsSimulation;
before(async () => {
  world = await createPaymentsSimulation();
});
after(() => world.close());

test('whatever happens in whatever order, and wherever the program is killed, no cent is lost or counted twice', async () => {
  // Always the same ones here: the long form and the benchmark (`bench/money.ts`) try others.
  await assertLedgerInvariants(world, { numRuns: 100, seed: 20_261_120 });
});
