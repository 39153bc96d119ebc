import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { GUESSES_PER_WINDOW } from '../../platform/guesses.ts';
import { newKey } from './rules.ts';

let app: TestApp;
before(async () => {
  app = await startTestApp({ env: { TRUST_PROXY: 'true' } });
});
after(() => app.close());

const ask = (key: string, from: string, path = '/streams') =>
  app.request('GET', path, { key, headers: { 'x-forwarded-for': from } });

async function guess(from: string): Promise<void> {
  const tries = Array.from({ length: GUESSES_PER_WINDOW }, () => ask(newKey(), from));
  for (const answer of await Promise.all(tries)) answer.assertError('INVALID_KEY');
}

test('an address that tries unknown keys is refused, and its neighbours work on', async () => {
  const neighbour = await app.createKey();
  const newcomer = await app.createKey();
  const from = '192.0.2.7';
  (await ask(neighbour.key, from)).assertOk(200);
  await guess(from);
  const refused = (await ask(newKey(), from)).assertError('RATE_LIMITED');
  const wait = Number(refused.headers['retry-after']);
  assert.ok(wait >= 1 && wait <= 60, String(wait));
  (await ask(newcomer.key, from)).assertError('RATE_LIMITED');
  (await ask(neighbour.key, from)).assertOk(200);
  app.container.apiKeys.forget();
  (await ask(neighbour.key, from)).assertOk(200);
  (await ask(newcomer.key, '192.0.2.8')).assertOk(200);
  (await ask(newcomer.key, from)).assertOk(200);
  (await ask(newKey(), '192.0.2.8')).assertError('INVALID_KEY');
});

test('an IPv6 client cannot begin anew with another address of its block', async () => {
  await guess('2001:db8:1:2::1');
  (await ask(newKey(), '2001:db8:1:2:ffff::9')).assertError('RATE_LIMITED');
  (await ask(newKey(), '2001:db8:1:3::1')).assertError('INVALID_KEY');
});

test('public endpoints answer a guesser as if it had sent no key, and count it', async () => {
  const from = '192.0.2.9';
  const path = '/videos/vid_00000000000000000000000000/related';
  const tries = Array.from({ length: 50 }, () => ask(newKey(), from, path));
  for (const answer of await Promise.all(tries)) answer.assertError('NOT_FOUND');
  const rest = Array.from({ length: GUESSES_PER_WINDOW - 50 }, () => ask(newKey(), from));
  for (const answer of await Promise.all(rest)) answer.assertError('INVALID_KEY');
  (await ask(newKey(), from)).assertError('RATE_LIMITED');
  (await ask(newKey(), from, path)).assertError('NOT_FOUND');
});
