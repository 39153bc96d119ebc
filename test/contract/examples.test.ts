import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { request } from 'undici';
import { signatureHeader } from '../../src/features/integration/webhooks/delivery/signature.ts';
import { startTestApp, type TestApp } from '../harness/app.ts';
import { type Operation, readOperations } from './document.ts';

/** Operations whose examples refer to no existing resources. */
const ALONE = [
  'PATCH /me',
  'POST /booking/calendars',
  'POST /booking/discount-codes',
  'POST /booking/products',
  'POST /imports',
  'POST /me/api-keys',
  'POST /me/events/trigger',
  'POST /me/integration-domains',
  'POST /me/webhooks',
  'POST /playlists',
  'POST /rooms',
  'POST /streams',
  'POST /subscribers',
  'POST /support/tickets',
  'POST /team/invitations',
  'POST /tiers',
  'POST /upload',
  'POST /videos',
  'PUT /booking/availability',
  'PUT /me/embed-allowlist',
  'PUT /notifications/preferences',
];

let app: TestApp;
let operations: Map<string, Operation>;
let key: string;

before(async () => {
  // No name resolves, so that any outgoing request would fail.
  app = await startTestApp({ env: { DNS_SERVERS: '127.0.0.1:9' } });
  operations = new Map((await readOperations(app)).map((one) => [`${one.method} ${one.path}`, one]));
  ({ key } = await app.createKey());
});
after(() => app.close());

/** The example of a component. */
async function exampleOf(name: string) {
  const { body } = await request(`${app.url}/openapi.json`);
  return Object(await body.json()).components.schemas[name].examples[0];
}

test('every example request of the document is accepted unchanged', async () => {
  for (const endpoint of ALONE) {
    const [method = '', path = ''] = endpoint.split(' ');
    const body = operations.get(endpoint)?.bodyExample;
    assert.ok(body !== undefined, endpoint);
    const answer = await app.request(method, path, { key, body });
    assert.ok(answer.status < 300, `${endpoint}: ${answer.text}`);
  }
});

test('the webhook examples of the document are correct', async () => {
  const types = (await app.request('GET', '/me/webhooks/events', { key })).assertOk(200).list('data');
  for (const type of await exampleOf('EventTypes')) assert.ok(types.includes(type), type);
  const { renderedRequest } = await exampleOf('WebhookSimulation');
  const { headers, body, bodyString } = renderedRequest;
  assert.deepEqual(JSON.parse(bodyString), body);
  const { signingSecret } = await exampleOf('WebhookWithSecret');
  const id = (await app.request('GET', '/me/webhooks', { key })).assertOk(200).string('data.0.id');
  const simulated = await app.request('POST', `/me/webhooks/${id}/simulate`, {
    key,
    body: { event: body.type },
  });
  const sent = Object(simulated.assertOk(200).at('data.renderedRequest.headers'));
  assert.deepEqual(headers, {
    ...sent,
    'SVC-Event-Id': body.id,
    'SVC-Event-Timestamp': String(body.created),
    'SVC-Signature': signatureHeader(signingSecret, body.created, bodyString),
  });
});
