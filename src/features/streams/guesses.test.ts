import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { GUESSES_PER_WINDOW } from '../../platform/guesses.ts';

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.close());

const publish = (key: string, ip: string) =>
  app.container.signals.authorise({ key, ip, app: 'live', protocol: 'rtmp' });

test('an address that tries unknown stream keys is refused; encoders known here come back', async () => {
  const { key } = await app.createKey();
  const streamKey = async () =>
    (await app.request('POST', '/streams', { key, body: { title: 'x' } })).string('data.streamKey');
  const [known, fresh] = [await streamKey(), await streamKey()];
  const from = '192.0.2.7';
  assert.notEqual(await publish(known, from), null);
  for (let i = 0; i < GUESSES_PER_WINDOW; i++) assert.equal(await publish(`guess-${i}`, from), null);
  assert.equal(await publish(fresh, from), null, 'a new key waits until the budget opens anew');
  assert.notEqual(await publish(known, from), null);
  assert.notEqual(await publish(fresh, '192.0.2.8'), null);
  assert.notEqual(await publish(fresh, from), null);
});

test('a key that exists is no guess, whatever it may do', async () => {
  const { key } = await app.createKey();
  const body = { title: 'x', enabled: false };
  const off = (await app.request('POST', '/streams', { key, body })).string('data.streamKey');
  const on = (await app.request('POST', '/streams', { key, body: { title: 'y' } })).string('data.streamKey');
  const from = '192.0.2.20';
  for (let i = 0; i <= GUESSES_PER_WINDOW; i++) assert.equal(await publish(off, from), null);
  assert.notEqual(await publish(on, from), null);
});
