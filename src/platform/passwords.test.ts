import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hash } from '@node-rs/argon2';
import { AppError } from '../kernel/errors.ts';
import { createPasswords } from './passwords.ts';

describe('passwords', () => {
  it('hashes with argon2id and checks', async () => {
    const passwords = createPasswords();
    const stored = await passwords.hash('correct horse');
    assert.match(stored, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    assert.deepEqual(await passwords.verify('correct horse', stored), { ok: true, stale: false });
    assert.deepEqual(await passwords.verify('wrong horse', stored), { ok: false, stale: false });
    assert.notEqual(await passwords.hash('correct horse'), stored, 'salted');
  });

  it('outdated hash parameters are reported', async () => {
    const weak = await hash('correct horse', { memoryCost: 1024, timeCost: 1 });
    assert.deepEqual(await createPasswords().verify('correct horse', weak), { ok: true, stale: true });
  });

  it('checks a hash that no password has where there is none', async () => {
    const passwords = createPasswords({ concurrency: 1, queueMax: 0 });
    for (const stored of [null, '', '-']) {
      const checking = passwords.verify('anything', stored);
      // The place is taken: there is work although there is nothing to compare with.
      await assert.rejects(passwords.verify('anything', stored), AppError);
      assert.equal((await checking).ok, false);
    }
  });

  it('a few hashes are computed concurrently and the event loop stays free', async () => {
    const passwords = createPasswords({ concurrency: 1 });
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 1);
    await Promise.all(Array.from({ length: 6 }, () => passwords.hash('correct horse')));
    clearInterval(timer);
    assert.ok(ticks > 10, `${ticks} ticks of a millisecond`);
  });

  it('calls beyond the queue limit are rejected immediately, and others continue', async () => {
    const passwords = createPasswords({ concurrency: 1, queueMax: 2 });
    const results = await Promise.allSettled(
      Array.from({ length: 6 }, () => passwords.hash('correct horse')),
    );
    const refused = results.filter((result) => result.status === 'rejected');
    assert.equal(refused.length, 3);
    for (const { reason } of refused) {
      assert.ok(reason instanceof AppError);
      assert.equal(reason.code, 'SERVICE_UNAVAILABLE');
    }
    assert.match(await passwords.hash('correct horse'), /^\$argon2id/);
  });
});
