import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import type { TestAccount } from '../../../../test/harness/factories.ts';

let app: TestApp;
let key: string;
let account: TestAccount;

before(async () => {
  app = await startTestApp();
  ({ key, account } = await app.createKey());
});
after(() => app.close());

const post = (path: string, body?: object, by = key) => app.request('POST', path, { key: by, body });
const read = (id: string) => app.request('GET', `/videos/${id}`, { key });
const createVideo = async () => (await post('/videos', { title: 'A video' })).assertOk(201).string('data.id');

describe('permissions are checked', () => {
  test('a key that is READ_ONLY or lacks videos:write reads and changes nothing', async () => {
    const id = await createVideo();
    const reader = await app.createKey({ account, scope: 'STANDARD', permissions: ['videos:read'] });
    const other = await app.createKey({ account, scope: 'STANDARD', permissions: ['streams:read'] });
    const readOnly = await app.createKey({ account, scope: 'READ_ONLY' });
    const writes: [string, string][] = [
      ['POST', '/videos'],
      ['PATCH', `/videos/${id}`],
      ['DELETE', `/videos/${id}`],
      ['POST', `/videos/${id}/publish`],
      ['POST', `/videos/${id}/unpublish`],
      ['POST', `/videos/${id}/retry`],
      ['POST', `/videos/${id}/captions`],
      ['DELETE', `/videos/${id}/captions/en`],
      ['PUT', `/videos/${id}/thumbnail`],
      ['DELETE', `/videos/${id}/thumbnail`],
    ];
    for (const [method, path] of writes) {
      const body = { title: 'A' };
      (await app.request(method, path, { key: reader.key, body })).assertError('PERMISSION_DENIED');
      (await app.request(method, path, { key: readOnly.key, body })).assertError('INSUFFICIENT_SCOPE');
    }
    for (const path of ['/videos', `/videos/${id}`, `/videos/${id}/captions`]) {
      (await app.request('GET', path, { key: reader.key })).assertOk(200);
      (await app.request('GET', path, { key: readOnly.key })).assertOk(200);
      (await app.request('GET', path, { key: other.key })).assertError('PERMISSION_DENIED');
    }
  });

  test('test mode has videos of its own', async () => {
    const id = await createVideo();
    const tester = await app.createKey({ account, mode: 'test' });
    (await app.request('GET', `/videos/${id}`, { key: tester.key })).assertError('NOT_FOUND');
    const made = (await post('/videos', { title: 'Trial' }, tester.key)).assertOk(201);
    assert.equal(made.at('data.mode'), 'test');
    (await read(made.string('data.id'))).assertError('NOT_FOUND');
  });
});
