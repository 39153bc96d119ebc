import { after, before, test } from 'node:test';
import { assertLedgerInvariants } from './books.ts';
import { createPaymentsSimulation, type PaymentsSimulation } from './payments-simulation.ts';

let world: PaymentsSimulation;
before(async () => {
  world = await createPaymentsSimulation();
});
after(() => world.close());

test('whatever happens in whatever order, and wherever the program is killed, no cent is lost or counted twice', async () => {
  // Not those of the short form.
  await assertLedgerInvariants(world, { numRuns: 600, seed: 20_261_127 });
});
