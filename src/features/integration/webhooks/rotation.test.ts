import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Stripe from 'stripe';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { type HttpsSink, startHttpsSink } from '../../../../test/harness/https-sink.ts';
import type { TestResponse } from '../../../../test/harness/response.ts';
import { withLockContention } from '../../../../test/harness/with-lock-contention.ts';
import { trust } from '../../../../test/webhooks/fixture.ts';

let app: TestApp;
let sink: HttpsSink;
const { webhooks: verifier } = new Stripe('sk_test_unused');

before(async () => {
  sink = await startHttpsSink();
  trust(sink);
  app = await startTestApp({ env: { WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8' } });
});
after(async () => {
  await app.close();
  await sink.close();
});

for (const what of ['test', 'replay']) {
  test(`a ${what} that waits for a change goes to the present address, signed with the new secret`, async () => {
    const { key } = await app.createKey();
    const call = (method: string, path: string, body?: object) => app.request(method, path, { key, body });
    const made = (await call('POST', '/me/webhooks', { url: `${sink.url}/old` })).assertOk(201);
    const id = made.string('data.id');
    const path = `/me/webhooks/${id}`;
    const first = (await call('POST', `${path}/test`)).assertOk(200).string('data.deliveryId');
    sink.requests.length = 0;
    const again = what === 'test' ? `${path}/test` : `${path}/deliveries/${first}/replay`;
    /** Only two requests are certain to get the lock in order. */
    const before = async (change: () => Promise<TestResponse>) => {
      const [changed, answer] = await withLockContention(
        app.container.sql,
        (tx) => tx`select from webhook where id = ${id} for update`,
        [change, () => call('POST', again)],
      );
      assert.equal(answer?.assertOk(200).at('data.status'), 'SUCCESS');
      return changed?.assertOk(200);
    };
    const rotated = await before(() => call('POST', `${path}/rotate-secret`));
    await before(() => call('PATCH', path, { url: `${sink.url}/new` }));
    assert.deepEqual(
      sink.requests.map((request) => request.path),
      ['/old', '/new'],
    );
    for (const { rawBody, headers } of sink.requests) {
      const secret = rotated?.string('data.signingSecret') ?? '';
      verifier.constructEvent(rawBody, String(headers['svc-signature']), secret);
    }
  });
}
