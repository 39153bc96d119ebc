import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { newKey } from './rules.ts';

const GUESSES = 200;
let app: TestApp;
before(async () => {
  app = await startTestApp({ env: { TRUST_PROXY: 'true' } });
});
after(() => app.close());

const ask = (key: string, from: string, path = '/streams') =>
  app.request('GET', path, { key, headers: { 'x-forwarded-for': from } });

test('C23.7: an unseen valid key is accepted from an IP address that guesses keys', async () => {
  const from = '192.0.2.7';
  const guesses = Array.from({ length: GUESSES }, () => ask(newKey(), from));
  for (const answer of await Promise.all(guesses)) answer.assertError('INVALID_KEY');
  const { key } = await app.createKey();
  (await ask(key, from)).assertOk(200);
  // Requests a new key during further guesses, too.
  const newcomer = await app.createKey();
  const more = Array.from({ length: GUESSES }, () => ask(newKey(), from));
  (await ask(newcomer.key, from)).assertOk(200);
  for (const answer of await Promise.all(more)) answer.assertError('INVALID_KEY');
});

test('C23.7: an unknown key is always INVALID_KEY, and ignored on public endpoints', async () => {
  const guess = newKey();
  for (let i = 0; i < 100; i++) (await ask(guess, '192.0.2.8')).assertError('INVALID_KEY');
  const path = '/videos/vid_00000000000000000000000000/related';
  (await ask(guess, '192.0.2.8', path)).assertError('NOT_FOUND');
});

test('C23.7: a key that was tried before its creation works immediately', async () => {
  const key = newKey();
  (await ask(key, '192.0.2.9')).assertError('INVALID_KEY');
  await app.createKey({ key });
  (await ask(key, '192.0.2.9')).assertOk(200);
});

test('C23.7: a replaced secret is looked up as well', async () => {
  const owner = await app.createKey();
  const rotated = await app.request('POST', `/me/api-keys/${owner.id}/rotate`, {
    key: owner.key,
    body: { overlapSec: 3600 },
  });
  app.container.apiKeys.forget();
  for (const key of [owner.key, rotated.string('data.key')]) (await ask(key, '192.0.2.9')).assertOk(200);
});

test('C23.7: an unseen valid stream key publishes from an IP address that guesses stream keys', async () => {
  const { key } = await app.createKey();
  const create = (more: object) => app.request('POST', '/streams', { key, body: { title: 'x', ...more } });
  const [open, disabled] = [await create({}), await create({ enabled: false })];
  const publish = (streamKey: string) =>
    app.container.signals.authorise({ key: streamKey, ip: '192.0.2.7', app: 'live', protocol: 'rtmp' });
  for (let i = 0; i < GUESSES; i++) assert.equal(await publish(`guess-${i}`), null);
  assert.notEqual(await publish(open.string('data.streamKey')), null);
  assert.equal(await publish(disabled.string('data.streamKey')), null);
});
