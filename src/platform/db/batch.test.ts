import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDeduplicatingReader } from './batch.ts';

test('equal reads of one turn share a read that begins after each of them', async () => {
  const begun: number[] = [];
  let during: Promise<object> | null = null;
  const read = createDeduplicatingReader(async (query: { n: number }) => {
    begun.push(query.n);
    during ??= read(query);
    return { n: query.n };
  });
  const [first, second, other] = await Promise.all([read({ n: 1 }), read({ n: 1 }), read({ n: 2 })]);
  assert.equal(first, second);
  assert.notEqual(first, other);
  assert.notEqual(await during, first);
  assert.deepEqual(begun, [1, 2, 1]);
});
