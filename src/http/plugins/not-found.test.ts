import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { request } from 'undici';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { apiRoutes } from '../../main/api.ts';

let app: TestApp;
let key: string;

before(async () => {
  app = await startTestApp();
  ({ key } = await app.createKey());
});
after(() => app.close());

describe('an unknown path: 404', () => {
  for (const path of [
    '/nope',
    '/streams/x/y/z',
    '/Streams',
    '//streams',
    '/me/webhooks/a/b',
    '/streams/',
    '/streams//start',
  ]) {
    test(`${path}, with and without a key, whatever the method and body`, async () => {
      for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'PROPFIND', 'TRACE'] as const) {
        const body = ['POST', 'PUT', 'PATCH'].includes(method) ? { body: '{not json' } : {};
        const bare = await app.request(method, path, body);
        bare.assertError('NOT_FOUND').assertRateLimited(false);
        const keyed = await app.request(method, path, { key, ...body });
        keyed.assertError('NOT_FOUND').assertRateLimited(true);
      }
    });
  }

  test('a key that is not valid is as none: the answer stays 404', async () => {
    for (const wrong of ['x', 'pk_x', `pk_${'0'.repeat(40)}`]) {
      (await app.request('GET', '/nope', { key: wrong })).assertError('NOT_FOUND').assertRateLimited(false);
    }
  });

  test('a page of an address with a NUL', async () => {
    for (const path of ['/@%00', '/checkout/%00', '/r/a%00b', '/watch/%00', '/bookings/%00/host']) {
      const answer = await request(app.url + path);
      assert.equal(answer.statusCode, 404, path);
      await answer.body.dump();
    }
  });

  test('outside the base path too', async () => {
    for (const path of ['/', '/api/v2/streams', '/api/v1', '/nope']) {
      const answer = await request(app.url + path, { headers: { accept: 'application/json' } });
      const body = await answer.body.text();
      if (answer.statusCode === 404) assert.match(body, /^\{"success":false,"error":\{"code":"NOT_FOUND"/);
      else assert.equal(path, '/');
    }
  });
});

describe('a known path with another method: 405', () => {
  test('every declared path refuses every method it does not have, and Allow lists those it has', async () => {
    const routes = apiRoutes(app.container, () => true);
    const paths = Map.groupBy(routes, (route) => route.path);
    for (const [path, declared] of paths) {
      const methods = declared.map((route) => route.method);
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const) {
        if (methods.some((one) => one === method)) continue;
        const answer = await app.request(method, path.replace(/\{\w+\}/g, 'some-id'));
        answer.assertError('METHOD_NOT_ALLOWED').assertRateLimited(false);
        assert.deepEqual(answer.headers.allow?.split(', ').sort(), methods.toSorted(), `${method} ${path}`);
      }
    }
  });

  test('an unsupported method is rejected before the body is read, and counts a valid key', async () => {
    const answer = await app.request('PUT', '/streams', {
      key,
      body: '<xml/>',
      headers: { 'content-type': 'text/xml' },
    });
    answer.assertError('METHOD_NOT_ALLOWED').assertRateLimited(true);
    (await app.request('DELETE', '/streams', { body: '{' })).assertError('METHOD_NOT_ALLOWED');
  });

  test('a literal path is not taken for one with a parameter', async () => {
    const answer = await app.request('DELETE', '/me/webhooks/events', { key });
    answer.assertError('METHOD_NOT_ALLOWED').assertRateLimited(true);
    assert.equal(answer.headers.allow, 'GET');
    (await app.request('DELETE', '/me/webhooks/event', { key })).assertError('NOT_FOUND');
  });

  test('methods that the router does not know are 405 as well', async () => {
    for (const method of ['PROPFIND', 'LOCK', 'TRACE', 'SEARCH'] as const) {
      (await app.request(method, '/streams')).assertError('METHOD_NOT_ALLOWED');
    }
  });
});

describe('the withdrawn catalog: 410', () => {
  for (const path of ['/search', '/trending', '/feed', '/search?q=x']) {
    test(`${path}, for any method`, async () => {
      for (const method of ['GET', 'POST', 'DELETE'] as const) {
        (await app.request(method, path)).assertError('CATALOG_DISABLED').assertRateLimited(false);
        (await app.request(method, path, { key })).assertError('CATALOG_DISABLED').assertRateLimited(true);
      }
      assert.equal((await app.request('HEAD', path)).status, 410);
    });
  }

  test('a valid key is counted there', async () => {
    const limited = (await app.createKey({ rateLimitPerMinute: 1 })).key;
    (await app.request('GET', '/feed', { key: limited })).assertError('CATALOG_DISABLED');
    (await app.request('GET', '/feed', { key: limited })).assertError('RATE_LIMITED');
  });
});

describe('broken percent-encoding: 400', () => {
  for (const path of [
    '/streams/%',
    '/streams/%zz',
    '/streams/%ff',
    '/%c3%28',
    '/streams/%u0041',
    '/%E0%A4%A?x=1',
  ]) {
    test(path, async () => {
      (await app.request('GET', path)).assertError('BAD_REQUEST', 'path').assertRateLimited(false);
      const keyed = await app.request('POST', path, { key, body: '{' });
      keyed.assertError('BAD_REQUEST', 'path').assertRateLimited(true);
      assert.equal(keyed.headers['access-control-allow-origin'], '*');
    });
  }

  test('in the query it is the value’s own matter', async () => {
    (await app.request('GET', '/streams?x=%zz', { key })).assertOk(200);
    (await app.request('GET', '/streams?limit=%zz', { key })).assertError('BAD_REQUEST', 'limit');
  });

  test('nothing is to be found under the address that stands for it', async () => {
    (await request(`${app.url}/undecodable`)).body.json().then((body) => {
      assert.equal(Object(Object(body).error).code, 'NOT_FOUND');
    });
  });
});

describe('HEAD', () => {
  test('answers as GET does, without a body', async () => {
    const head = await app.request('HEAD', '/streams', { key });
    assert.equal(head.status, 200);
    assert.equal(head.text, '');
    head.assertCommonHeaders().assertRateLimited(true);
    assert.ok(Number(head.headers['content-length']) > 0);
  });

  test('refuses as GET does', async () => {
    assert.equal((await app.request('HEAD', '/streams')).status, 401);
    assert.equal((await app.request('HEAD', '/streams/x', { key })).status, 404);
    assert.equal((await app.request('HEAD', '/streams/x/start', { key })).status, 405);
    const reader = (await app.createKey({ scope: 'READ_ONLY' })).key;
    assert.equal((await app.request('HEAD', '/streams', { key: reader })).status, 200);
  });
});

describe('CORS', () => {
  const preflight = (path: string) =>
    app.request('OPTIONS', path, {
      headers: {
        origin: 'https://app.example.com',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,idempotency-key',
      },
    });

  test('a preflight is answered without a key, for any origin, without credentials', async () => {
    for (const path of ['/streams', '/streams/x/start', '/nope']) {
      const answer = await preflight(path);
      assert.equal(answer.status, 204);
      answer.assertCommonHeaders().assertRateLimited(false);
      assert.equal(answer.headers['access-control-allow-origin'], '*');
      assert.equal(answer.headers['access-control-allow-credentials'], undefined);
      const allowed = (answer.headers['access-control-allow-headers'] ?? '').toLowerCase();
      for (const name of ['authorization', 'x-api-key', 'x-user-token', 'idempotency-key', 'content-type']) {
        assert.ok(allowed.includes(name), name);
      }
      assert.match(answer.headers['access-control-allow-methods'] ?? '', /PATCH.*DELETE/);
    }
  });

  test('every answer can be read by a page, refusals too, with the documented headers exposed', async () => {
    const headers = { origin: 'https://app.example.com' };
    for (const answer of [
      await app.request('GET', '/streams', { key, headers }),
      await app.request('GET', '/streams', { headers }),
      await app.request('GET', '/nope', { headers }),
      await app.request('GET', '/streams', { key, headers: { ...headers, 'svc-api-version': '9' } }),
      await app.request('POST', '/streams', { key, headers, body: '{' }),
    ]) {
      assert.equal(answer.headers['access-control-allow-origin'], '*', answer.text);
      const exposed = (answer.headers['access-control-expose-headers'] ?? '').toLowerCase();
      for (const name of [
        'x-svc-request-id',
        'x-ratelimit-remaining',
        'retry-after',
        'svc-key-mode',
        'link',
      ]) {
        assert.ok(exposed.includes(name), name);
      }
    }
  });
});
