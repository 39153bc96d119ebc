import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser } from '../../../../test/auth/browser.ts';
import { type AuthFixture, startAuthFixture } from '../../../../test/auth/fixture.ts';
import { jobWorker } from '../../../../test/harness/modules.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';

let auth: AuthFixture;

before(async () => {
  auth = await startAuthFixture(undefined, { DATABASE_POOL: '2' });
});
after(() => auth.close());

test('as many exports as database connections complete concurrently', async () => {
  const { container } = auth.app;
  const made: { browser: Browser; payload: { accountId: string; exportId: string } }[] = [];
  for (let count = 0; count < 2; count++) {
    const person = await auth.person();
    const browser = new Browser(auth.app);
    await browser.signIn(person);
    const exportId = (await browser.send('POST', '/me/export')).assertOk(201).string('data.id');
    made.push({ browser, payload: { accountId: person.id, exportId } });
  }
  const reached: string[] = [];
  const free = Promise.withResolvers<void>();
  const run = (payload: { accountId: string; exportId: string }) =>
    jobWorker(container, 'account.export').run({
      id: '00000000-0000-4000-8000-000000000000',
      payload,
      attempt: 1,
      isLast: false,
      lost: 0,
      signal: new AbortController().signal,
      // Called in the transaction that ends the export.
      confirm: async () => {
        reached.push(payload.exportId);
        if (reached.length === made.length) free.resolve();
        await free.promise;
      },
    });
  const runs = Promise.all(made.map(({ payload }) => run(payload)));
  await waitFor(() => reached.length === made.length, { message: 'both transactions' });
  await runs;
  for (const { browser } of made) {
    assert.equal((await browser.get('/me/export')).assertOk(200).at('data.status'), 'READY');
  }
});
