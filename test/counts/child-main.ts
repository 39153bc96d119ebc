/** Process that counts in its parent, by its orders. */
import { systemClock } from '../../src/kernel/clock.ts';
import { createCountClient } from '../../src/platform/count-client.ts';
import { counterFactory } from '../../src/platform/counters.ts';
import { type ConcurrencyLease, createLeases } from '../../src/platform/leases.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { isOrder, type Order } from './child.ts';

const client = createCountClient(process, { log: createLogger('silent') });
const counter = counterFactory(client, () => systemClock.ms())({
  name: 'test',
  window: 3600,
  withoutStore: 'open',
});
const leases = createLeases(client);
const held: ConcurrencyLease[] = [];

async function obey({ act, key, times, limit }: Order): Promise<number[]> {
  const all = Array.from({ length: times });
  if (act === 'hit') return (await Promise.all(all.map(() => counter.hit(key)))).map(({ count }) => count);
  if (act === 'acquire') {
    const acquired = await Promise.all(all.map(() => leases.acquire(key, limit)));
    held.push(...acquired.filter((lease) => lease !== null));
  } else if (act === 'release') {
    await Promise.all(held.splice(0, times).map((lease) => lease.release()));
  } else {
    await leases.close();
  }
  return [held.length];
}

process.on('message', async (order: unknown) => {
  if (isOrder(order)) process.send?.({ type: 'done', results: await obey(order) });
});
process.on('disconnect', () => process.exit(0));
process.send?.({ type: 'done', results: [] });
