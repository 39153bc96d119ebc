import assert from 'node:assert/strict';
import { after, before, mock, test } from 'node:test';
import { startTestApp, type TestApp } from '../harness/app.ts';

let app: TestApp;
let key: string;
before(async () => {
  app = await startTestApp();
  ({ key } = await app.createKey());
  for (const title of ['One', 'Two']) {
    (await app.request('POST', '/streams', { key, body: { title } })).assertOk(201);
    (await app.request('POST', '/videos', { key, body: { title } })).assertOk(201);
  }
});
after(() => app.close());

/** Returns the number of statements of a request that the server plans on each execution. */
async function plannedAnew(path: string): Promise<number> {
  const sent = mock.method(app.container.sql, 'unsafe');
  try {
    (await app.request('GET', path, { key })).assertOk(200);
    assert.notEqual(sent.mock.callCount(), 0);
    return sent.mock.calls.filter(({ arguments: [, , options] }) => options?.prepare !== true).length;
  } finally {
    sent.mock.restore();
  }
}

for (const path of ['/streams', '/videos']) {
  test(`pages of ${path} without a filter are planned once, and one of them as well`, async () => {
    const page = (await app.request('GET', `${path}?limit=1&order=asc`, { key })).assertOk(200);
    const next = `${path}?limit=1&order=asc&cursor=${page.string('pagination.nextCursor')}`;
    for (const one of [path, next, `${path}/${page.string('data.0.id')}`]) {
      assert.equal(await plannedAnew(one), 0, one);
    }
    assert.notEqual(await plannedAnew(`${path}?visibility=PUBLIC`), 0);
  });
}
