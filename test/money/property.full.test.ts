import { after, before, test } from 'node:test';
import { assertLedgerInvariants } from './books.ts';
import { createPaymentsSimulation, type PaymentsSimulation } from './payments-simulation.ts';

let world: PaymentsSimulation;
before(async () => {
  world = await createPaymentsSimulation();
});
after(() => world.close());

test('no cent is lost or counted twice after any sequence of actions and crashes', async () => {
  // Not those of the short form.
  await assertLedgerInvariants(world, { numRuns: 600, seed: 20_261_127 });
});
