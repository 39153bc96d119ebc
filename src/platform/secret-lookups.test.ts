import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSecretLookups } from './secret-lookups.ts';

/** A table with these secrets, which answers when the test lets it. */
function table(secrets: readonly string[]) {
  const reads: { asked: readonly string[]; answer: () => void; fail: (error: Error) => void }[] = [];
  const read = (asked: readonly string[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
    reads.push({ asked, answer: () => resolve(asked.filter((one) => secrets.includes(one))), fail: reject });
    return promise;
  };
  return { reads, read };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('C23.7: one statement at a time is read, however many guess, and a valid secret waits for two', async () => {
  const { reads, read } = table(['valid']);
  const lookups = createSecretLookups({ read });
  const first = lookups.exists('guess');
  const guesses = Array.from({ length: 500 }, (_, index) => lookups.exists(`guess ${index}`));
  const valid = lookups.exists('valid');
  await settled();
  assert.deepEqual(
    reads.map(({ asked }) => asked.length),
    [1],
  );
  reads[0]?.answer();
  await settled();
  assert.deepEqual(
    reads.map(({ asked }) => asked.length),
    [1, 501],
  );
  reads[1]?.answer();
  assert.equal(await valid, true);
  assert.equal(await first, false);
  assert.deepEqual(new Set(await Promise.all(guesses)), new Set([false]));
});

test('C23.7: a statement has a bounded number of secrets', async () => {
  const { reads, read } = table(['valid']);
  const lookups = createSecretLookups({ read, maxBatch: 10 });
  const all = Array.from({ length: 25 }, (_, index) => lookups.exists(`guess ${index}`));
  for (let count = 1; count <= 4; count++) {
    await settled();
    reads[count - 1]?.answer();
  }
  await Promise.all(all);
  assert.deepEqual(
    reads.map(({ asked }) => asked.length),
    [1, 10, 10, 4],
  );
});

test('C23.7: a negative answer is remembered, for a time and for a number of secrets', async () => {
  let reads = 0;
  const read = async () => {
    reads += 1;
    return [];
  };
  const lookups = createSecretLookups({ read, maxEntries: 10 });
  for (let i = 0; i < 3; i++) assert.equal(await lookups.exists('guess'), false);
  assert.equal(reads, 1);
  for (let i = 0; i < 10; i++) await lookups.exists(`guess ${i}`);
  await lookups.exists('guess');
  assert.equal(reads, 12, 'the answers of earlier secrets have made room');
  const short = createSecretLookups({ read, rememberedMs: { found: 0, missing: 0 } });
  reads = 0;
  for (let i = 0; i < 3; i++) await short.exists('guess');
  assert.equal(reads, 3);
});

test('C23.7: an answer from before `forget` is not remembered', async () => {
  const secrets: string[] = [];
  const { reads, read } = table(secrets);
  const lookups = createSecretLookups({ read });
  const before = lookups.exists('given');
  await settled();
  reads[0]?.answer();
  lookups.forget();
  secrets.push('given');
  assert.equal(await before, false);
  const later = lookups.exists('given');
  await settled();
  reads[1]?.answer();
  assert.equal(await later, true);
});

test('a read that fails is passed on to those who wait for it, and the next one is tried', async () => {
  const { reads, read } = table(['valid']);
  const lookups = createSecretLookups({ read });
  const failed = assert.rejects(lookups.exists('valid'), /away/);
  await settled();
  reads[0]?.fail(new Error('away'));
  await failed;
  const valid = lookups.exists('valid');
  await settled();
  reads[1]?.answer();
  assert.equal(await valid, true);
});
