import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser } from '../../../../test/auth/browser.ts';
import { type AuthFixture, startAuthFixture } from '../../../../test/auth/fixture.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';

let auth: AuthFixture;
before(async () => {
  auth = await startAuthFixture(new TestClock('2026-11-20T09:00:00Z'), {});
});
after(() => auth.close());

test('what a person did in the dashboard is there, without a key', async () => {
  const browser = new Browser(auth.app);
  await browser.signIn(await auth.person());
  const refused = await browser.get('/streams/none');
  refused.assertError('NOT_FOUND');
  const row = await waitFor(async () => {
    const found = await browser.get(`/me/requests?requestId=${refused.headers['x-svc-request-id']}`);
    return Object(found.assertOk(200).list('data')[0]).path !== undefined && Object(found.at('data.0'));
  });
  assert.deepEqual([row.path, row.code, row.keyId], ['/api/v1/streams/none', 'NOT_FOUND', null]);
  const limits = Object((await browser.get('/quota')).assertOk(200).at('data.requests'));
  assert.deepEqual([limits.perMinute.used > 0, limits.perDay], [true, null]);
});
