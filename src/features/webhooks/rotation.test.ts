import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Stripe from 'stripe';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { behindLock } from '../../../test/harness/behind-lock.ts';
import { type HttpsSink, startHttpsSink } from '../../../test/harness/https-sink.ts';
import type { TestResponse } from '../../../test/harness/response.ts';
import { trust } from '../../../test/webhooks/fixture.ts';

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

/** Requests that wait for the webhook, one behind the other. */
function inTurn(webhookId: string, requests: (() => Promise<TestResponse>)[]): Promise<TestResponse[]> {
  return behindLock(
    app.container.sql,
    (tx) => tx`select from webhook where id = ${webhookId} for update`,
    requests,
  );
}

for (const what of ['test', 'replay']) {
  test(`a ${what} that waits for a rotation goes to the present address, signed with the new secret`, async () => {
    const { key } = await app.createKey();
    const call = (method: string, path: string, body?: object) => app.request(method, path, { key, body });
    const made = (await call('POST', '/me/webhooks', { url: `${sink.url}/old` })).assertOk(201);
    const id = made.string('data.id');
    const path = `/me/webhooks/${id}`;
    const first = (await call('POST', `${path}/test`)).assertOk(200).string('data.deliveryId');
    sink.requests.length = 0;
    const again = what === 'test' ? `${path}/test` : `${path}/deliveries/${first}/replay`;
    const [rotated, moved, answer] = await inTurn(id, [
      () => call('POST', `${path}/rotate-secret`),
      () => call('PATCH', path, { url: `${sink.url}/new` }),
      () => call('POST', again),
    ]);
    moved?.assertOk(200);
    assert.equal(answer?.assertOk(200).at('data.status'), 'SUCCESS');
    const fresh = rotated?.assertOk(200).string('data.signingSecret') ?? '';
    const [request] = sink.requests;
    assert.ok(request !== undefined);
    assert.equal(request.path, '/new');
    verifier.constructEvent(request.rawBody, String(request.headers['svc-signature']), fresh);
  });
}
