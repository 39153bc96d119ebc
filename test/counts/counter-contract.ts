import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Counter, CounterFactory } from '../../src/platform/counters.ts';
import type { TestClock } from '../harness/clock.ts';
import { waitFor } from '../harness/wait-for.ts';

export const minute = { name: 'minute', window: 60, withoutStore: 'open' } as const;
export const daily = { name: 'day', window: 'day', withoutStore: 'open' } as const;

/** Returns the counts of concurrent hits in ascending order. */
export async function hits(counter: Pick<Counter, 'hit'>, key: string, times: number) {
  const results = await Promise.all(Array.from({ length: times }, () => counter.hit(key)));
  return results.map(({ count }) => count).sort((a, b) => a - b);
}

export const oneTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

/** Registers the tests that every counter implementation must pass. */
export function behavesAsCounter(make: () => CounterFactory, clock: TestClock): void {
  test('500 concurrent hits get distinct numbers: a limit of 100 lets exactly 100 pass', async () => {
    const counts = await hits(make()(minute), 'crowd', 500);
    assert.deepEqual(counts, oneTo(500));
  });

  test('a window opens with the first hit, and a look does not count', async () => {
    const counter = make()(minute);
    assert.deepEqual(await counter.peek('lone'), { count: 0, resetInMs: 60_000 });
    const { count, resetInMs } = await counter.hit('lone');
    assert.equal(count, 1);
    assert.ok(resetInMs > 58_000 && resetInMs <= 60_000, `${resetInMs} ms`);
    const look = await counter.peek('lone');
    assert.equal(look.count, 1);
    assert.ok(look.resetInMs <= resetInMs);
  });

  test('a counter starts at one after its window has ended', async () => {
    const counter = make()({ name: 'second', window: 1, withoutStore: 'open' });
    await hits(counter, 'brief', 3);
    await waitFor(async () => (await counter.peek('brief')).count === 0);
    assert.equal((await counter.hit('brief')).count, 1);
  });

  test('keys and names are counted apart; equal names are one counter', async () => {
    const factory = make();
    await hits(factory(minute), 'mine', 3);
    assert.equal((await factory(minute).hit('yours')).count, 1);
    assert.equal((await factory({ ...minute, name: 'other' }).hit('mine')).count, 1);
    assert.equal((await factory(minute).hit('mine')).count, 4);
  });

  test('a daily quota resets at 00:00 UTC', async () => {
    const counter = make()(daily);
    clock.set('2026-03-01T23:59:50Z');
    assert.deepEqual(await counter.hit('day'), { count: 1, resetInMs: 10_000 });
    assert.deepEqual(await counter.hit('day'), { count: 2, resetInMs: 10_000 });
    assert.deepEqual(await counter.peek('day'), { count: 2, resetInMs: 10_000 });
    clock.advance(10_000);
    assert.deepEqual(await counter.peek('day'), { count: 0, resetInMs: 86_400_000 });
    assert.deepEqual(await counter.hit('day'), { count: 1, resetInMs: 86_400_000 });
  });
}
