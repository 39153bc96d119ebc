import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import sharp from 'sharp';
import { request } from 'undici';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import type { TestAccount } from '../../../../test/harness/factories.ts';
import { type HttpsSink, startHttpsSink } from '../../../../test/harness/https-sink.ts';
import { trust } from '../../../../test/webhooks/fixture.ts';

let app: TestApp;
let sink: HttpsSink;
let account: TestAccount;
let key: string;
let keyId: string;

before(async () => {
  sink = await startHttpsSink();
  trust(sink);
  app = await startTestApp({ env: { FETCH_ALLOW_PRIVATE: '127.0.0.1,::1' } });
  account = await app.createAccount({ plan: 'STAR' });
  ({ key, id: keyId } = await app.createKey({ account, name: 'My key' }));
});
after(async () => {
  await app.close();
  await sink.close();
});

const patch = (body: unknown, by = key) => app.request('PATCH', '/me', { key: by, body });

describe('GET /me', () => {
  test('GET /me returns the account and the key of the request', async () => {
    const answer = (await app.request('GET', '/me', { key })).assertOk(200);
    assert.deepEqual(answer.at('data'), {
      id: account.id,
      email: account.email,
      emailVerified: true,
      name: null,
      username: account.id,
      role: 'USER',
      plan: 'STAR',
      avatarUrl: null,
      bio: null,
      locale: 'en',
      timezone: 'UTC',
      twoFactorEnabled: false,
      createdAt: answer.string('data.createdAt'),
      key: {
        id: keyId,
        name: 'My key',
        scope: 'FULL_ACCESS',
        permissions: [],
        mode: 'live',
        expiresAt: null,
      },
    });
  });

  test('a test key belongs to the same user', async () => {
    const sandbox = await app.createKey({ account, mode: 'test', scope: 'READ_ONLY' });
    const answer = (await app.request('GET', '/me', { key: sandbox.key })).assertOk(200);
    assert.equal(answer.at('data.id'), account.id);
    assert.equal(answer.at('data.key.mode'), 'test');
  });
});

describe('PATCH /me', () => {
  test('PATCH /me changes only the fields that are sent; read-only fields are ignored', async () => {
    const sent = {
      name: ' Ada ',
      bio: 'Films.',
      locale: 'de-at',
      timezone: 'europe/vienna',
      username: 'Ada-1',
    };
    const answer = (await patch({ ...sent, role: 'ADMIN', plan: 'VIP', email: 'x@example.com' })).assertOk(
      200,
    );
    const expected = {
      name: 'Ada',
      bio: 'Films.',
      locale: 'de-AT',
      timezone: 'Europe/Vienna',
      username: 'ada-1',
    };
    for (const [field, value] of Object.entries(expected)) assert.equal(answer.at(`data.${field}`), value);
    assert.deepEqual([answer.at('data.role'), answer.at('data.plan')], ['USER', 'STAR']);
    const cleared = (await patch({ name: null, bio: '' })).assertOk(200);
    assert.deepEqual([cleared.at('data.name'), cleared.at('data.bio')], [null, null]);
    assert.equal(cleared.at('data.username'), 'ada-1');
    (await patch({})).assertOk(200);
    // The legacy name is Asia/Calcutta.
    assert.equal(
      (await patch({ timezone: 'asia/KOLKATA' })).assertOk(200).at('data.timezone'),
      'Asia/Kolkata',
    );
  });

  const wrong: [body: object, field: string][] = [
    [{ name: 'x'.repeat(121) }, 'name'],
    [{ name: 5 }, 'name'],
    [{ bio: 'x'.repeat(1001) }, 'bio'],
    [{ locale: 'english please' }, 'locale'],
    [{ locale: null }, 'locale'],
    [{ timezone: 'Mars/Olympus' }, 'timezone'],
    [{ timezone: '+02:00' }, 'timezone'],
    [{ timezone: 'T10:00[Europe/Berlin]' }, 'timezone'],
    [{ username: 'a' }, 'username'],
    [{ username: 'ada lovelace' }, 'username'],
    [{ username: 'Supp0rt' }, 'username'],
  ];
  for (const [body, field] of wrong) {
    test(`${JSON.stringify(body).slice(0, 40)} is 400 for ${field}`, async () => {
      (await patch(body)).assertError('BAD_REQUEST', field);
    });
  }

  test('a taken username is a conflict', async () => {
    const other = await app.createAccount();
    (await patch({ username: other.id.replace('usr_', 'u') })).assertOk(200);
    await app.container.sql`update account set username = 'taken' where id = ${other.id}`;
    (await patch({ username: 'Taken' })).assertError('CONFLICT', 'username');
  });

  test('a reserved name that the operator assigned stays', async () => {
    await app.container.sql`update account set username = 'news-team' where id = ${account.id}`;
    (await patch({ username: 'press' })).assertError('BAD_REQUEST', 'username');
    await app.container.sql`update account set username = 'press' where id = ${account.id}`;
    (await patch({ username: 'press', name: 'The press' })).assertOk(200);
  });

  test('a test key only reads: changes of the account need a live key', async () => {
    const sandbox = (await app.createKey({ account, mode: 'test' })).key;
    const testImage = { url: `${sink.url}/me` };
    const before = (await app.request('GET', '/me', { key })).at('data.name');
    for (const [method, path, body] of [
      ['PATCH', '/me', { name: 'Of a test' }],
      ['PUT', '/me/avatar', testImage],
      ['DELETE', '/me/avatar', undefined],
      ['PUT', '/me/embed-allowlist', { mode: 'OPEN', domains: [] }],
    ] as const) {
      (await app.request(method, path, { key: sandbox, body })).assertError('PERMISSION_DENIED');
      if (method !== 'DELETE') (await app.request('GET', path, { key: sandbox })).assertOk(200);
    }
    assert.equal((await app.request('GET', '/me', { key })).at('data.name'), before);
  });

  test('a READ_ONLY key only reads', async () => {
    const reader = (await app.createKey({ account, scope: 'READ_ONLY' })).key;
    (await patch({ name: 'x' }, reader)).assertError('INSUFFICIENT_SCOPE');
    for (const path of ['/me', '/me/avatar', '/me/embed-allowlist']) {
      (await app.request('GET', path, { key: reader })).assertOk(200);
    }
  });
});

/** Creates an image with a red left half and metadata that must not be published. */
function testImage(format: 'png' | 'jpeg' | 'webp', width = 80, height = 60): Promise<Buffer> {
  const image = sharp({ create: { width, height, channels: 3, background: 'red' } });
  return image
    .withExif({ IFD0: { Copyright: 'secret-place' } })
    .toFormat(format)
    .toBuffer();
}

/** A multipart body with a text field and a file. */
function multipart(bytes: Buffer, field: string, type: string): Buffer {
  const part = (header: string) => `--limit\r\nContent-Disposition: form-data; ${header}\r\n`;
  const file = `${part(`name="${field}"; filename="me.png"`)}Content-Type: ${type}\r\n\r\n`;
  return Buffer.concat([
    Buffer.from(`${part('name="comment"')}\r\nbeside\r\n${file}`),
    bytes,
    Buffer.from('\r\n--limit--\r\n'),
  ]);
}

function upload(bytes: Buffer, options: { field?: string; type?: string; by?: string } = {}) {
  return app.request('PUT', '/me/avatar', {
    key: options.by ?? key,
    body: multipart(bytes, options.field ?? 'file', options.type ?? 'image/png'),
    headers: { 'content-type': 'multipart/form-data; boundary=limit' },
  });
}

const served = async (url: string) => request(url.replace('http://marquee.test', app.url));

describe('/me/avatar', () => {
  for (const format of ['png', 'jpeg', 'webp'] as const) {
    test(`a ${format} is re-encoded to a square WebP`, async () => {
      const sent = await testImage(format);
      const answer = (await upload(sent, { type: 'text/html' })).assertOk(200);
      const url = answer.string('data.avatarUrl');
      assert.match(url, /^http:\/\/marquee\.test\/avatars\/ava_[0-9a-z]{26}\.webp$/);
      assert.deepEqual((await app.request('GET', '/me/avatar', { key })).at('data'), answer.at('data'));
      assert.equal((await app.request('GET', '/me', { key })).at('data.avatarUrl'), url);
      const got = await served(url);
      assert.equal(got.statusCode, 200);
      assert.equal(got.headers['content-type'], 'image/webp');
      assert.equal(got.headers['x-content-type-options'], 'nosniff');
      assert.match(String(got.headers['cache-control']), /^public, max-age=300\b/);
      const bytes = Buffer.from(await got.body.arrayBuffer());
      const { format: made, width, height, exif } = await sharp(bytes).metadata();
      assert.deepEqual([made, width, height, exif], ['webp', 512, 512, undefined]);
      assert.equal(bytes.includes('secret-place'), false);
    });
  }

  test('a new avatar has a new URL, and the old one is 404', async () => {
    const first = (await upload(await testImage('png'))).string('data.avatarUrl');
    const second = (await upload(await testImage('png'))).string('data.avatarUrl');
    assert.notEqual(first, second);
    assert.deepEqual([(await served(first)).statusCode, (await served(second)).statusCode], [404, 200]);
  });

  const refused: [name: string, bytes: () => Promise<Buffer> | Buffer][] = [
    ['a page', () => Buffer.from('<html><script>alert(1)</script>')],
    ['an SVG', () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')],
    [
      'a GIF',
      async () =>
        sharp(await testImage('png'))
          .gif()
          .toBuffer(),
    ],
    ['half a PNG', async () => (await testImage('png')).subarray(0, 60)],
    ['the first bytes of a PNG before a page', () => Buffer.from('\x89PNG\r\n\x1a\n<html>', 'latin1')],
    ['a PNG of 50 million pixels', () => testImage('png', 10_000, 5_000)],
    ['nothing', () => Buffer.alloc(0)],
  ];
  for (const [name, bytes] of refused) {
    test(`${name} is rejected as an image`, async () => {
      (await upload(await bytes())).assertError('BAD_REQUEST', 'file');
    });
  }

  test('the limit is 5 MB, and a wrong or missing field is named', async () => {
    (await upload(Buffer.alloc(5_242_881))).assertError('PAYLOAD_TOO_LARGE', 'file');
    (await upload(Buffer.alloc(5_242_880))).assertError('BAD_REQUEST', 'file');
    (await upload(await testImage('png'), { field: 'picture' })).assertError('BAD_REQUEST', 'file');
    (await app.request('PUT', '/me/avatar', { key, body: {} })).assertError('BAD_REQUEST', 'file');
    (await app.request('PUT', '/me/avatar', { key })).assertError('BAD_REQUEST', 'file');
  });

  test('a broken multipart body is 400, another type 415, and other endpoints accept no multipart', async () => {
    const put = (type: string, body: string, method = 'PUT', path = '/me/avatar') =>
      app.request(method, path, { key, body, headers: { 'content-type': type } });
    (await put('multipart/form-data; boundary=x', '--x\r\nbroken')).assertError('BAD_REQUEST', 'file');
    (await put('multipart/form-data; boundary=x', '')).assertError('BAD_REQUEST', 'file');
    (await put('multipart/form-data', '--x--')).assertError('BAD_REQUEST', 'file');
    (await put('image/png', 'x')).assertError('UNSUPPORTED_MEDIA_TYPE', 'Content-Type');
    const elsewhere = await put('multipart/form-data; boundary=x', '--x--\r\n', 'PATCH', '/me');
    elsewhere.assertError('UNSUPPORTED_MEDIA_TYPE', 'Content-Type');
  });

  test('a key without write access is rejected before the file is read', async () => {
    const reader = (await app.createKey({ account, scope: 'READ_ONLY' })).key;
    (await upload(await testImage('png'), { by: reader })).assertError('INSUFFICIENT_SCOPE');
  });

  test('an avatar URL is fetched once, through redirects', async () => {
    const bytes = await testImage('jpeg');
    sink.reply = ({ path }) =>
      path === '/me' ? { status: 302, headers: { location: '/real' } } : { body: bytes };
    const answer = await app.request('PUT', '/me/avatar', { key, body: { url: `${sink.url}/me` } });
    assert.equal((await served(answer.assertOk(200).string('data.avatarUrl'))).statusCode, 200);
    assert.deepEqual(
      sink.requests.map(({ path }) => path),
      ['/me', '/real'],
    );
  });

  test('a private, missing, endless, oversized or invalid image URL is 400 for url', async () => {
    const put = (url: string) => app.request('PUT', '/me/avatar', { key, body: { url } });
    for (const url of [
      'http://example.com/x.png',
      'https://10.0.0.1/x.png',
      'https://x.internal/',
      'x',
      '',
    ]) {
      (await put(url)).assertError('BAD_REQUEST', 'url');
    }
    sink.reply = () => ({ status: 404 });
    (await put(`${sink.url}/`)).assertError('BAD_REQUEST', 'url');
    sink.reply = () => ({ fault: 'endless' });
    (await put(`${sink.url}/`)).assertError('BAD_REQUEST', 'url');
    sink.reply = () => ({ body: Buffer.alloc(5_242_881) });
    (await put(`${sink.url}/`)).assertError('BAD_REQUEST', 'url');
    sink.reply = () => ({ body: '<svg/>' });
    (await put(`${sink.url}/`)).assertError('BAD_REQUEST', 'url');
    sink.reply = ({ path }) => ({ status: 302, headers: { location: `${path}a` } });
    (await put(`${sink.url}/`)).assertError('BAD_REQUEST', 'url');
    sink.reply = () => ({ status: 302, headers: { location: 'https://169.254.169.254/latest' } });
    (await put(`${sink.url}/`)).assertError('BAD_REQUEST', 'url');
  });

  test('an avatar is removed once', async () => {
    const url = (await upload(await testImage('png'))).string('data.avatarUrl');
    const gone = (await app.request('DELETE', '/me/avatar', { key })).assertOk(200);
    assert.deepEqual(gone.at('data'), { id: account.id, deleted: true });
    assert.equal((await served(url)).statusCode, 404);
    assert.deepEqual((await app.request('GET', '/me/avatar', { key })).at('data'), {
      avatarUrl: null,
      updatedAt: null,
    });
    (await app.request('DELETE', '/me/avatar', { key })).assertError('NOT_FOUND');
    assert.equal((await served('http://marquee.test/avatars/x.webp')).statusCode, 404);
  });
});

describe('/me/embed-allowlist', () => {
  const put = (body: unknown) => app.request('PUT', '/me/embed-allowlist', { key, body });
  const ancestors = async (id: string) => {
    const { headers, body } = await request(`${app.url}/embed/${id}`);
    await body.dump();
    return /frame-ancestors ([^;]*)/.exec(String(headers['content-security-policy']))?.[1];
  };

  test('every site may embed the player until the list is set', async () => {
    const answer = (await app.request('GET', '/me/embed-allowlist', { key })).assertOk(200);
    assert.deepEqual([answer.at('data.domains'), answer.at('data.mode')], [[], 'OPEN']);
    assert.ok(Date.parse(answer.string('data.updatedAt')) > 0);
  });

  test('the list controls who may embed a stream', async () => {
    const made = await app.request('POST', '/streams', { key, body: { title: 'x', visibility: 'PUBLIC' } });
    const id = made.string('data.id');
    assert.equal(await ancestors(id), '*');
    const set = (await put({ domains: ['*.Example.com', 'bücher.example', '*.example.com'] })).assertOk(200);
    assert.deepEqual(set.at('data.domains'), ['*.example.com', 'xn--bcher-kva.example']);
    assert.equal(set.at('data.mode'), 'ALLOWLIST');
    assert.deepEqual((await app.request('GET', '/me/embed-allowlist', { key })).at('data'), set.at('data'));
    const other = await app.request('POST', '/streams', { key, body: { title: 'y', visibility: 'PUBLIC' } });
    const own = 'http://marquee.test:*';
    const allowed = `http://*.example.com:* http://xn--bcher-kva.example:* ${own}`;
    assert.equal(await ancestors(other.string('data.id')), allowed);
    await put({ domains: [], mode: 'ALLOWLIST' });
    const third = await app.request('POST', '/streams', { key, body: { title: 'z', visibility: 'PUBLIC' } });
    assert.equal(await ancestors(third.string('data.id')), own);
    await put({ domains: ['example.com'], mode: 'OPEN' });
  });

  const wrong: [body: object, field: string][] = [
    [{}, 'domains'],
    [{ domains: 'example.com' }, 'domains'],
    [{ domains: ['ok.com', 'https://x.com'] }, 'domains.1'],
    [{ domains: ["x.com; script-src 'none'"] }, 'domains.0'],
    [{ domains: ['*'] }, 'domains.0'],
    [{ domains: Array.from({ length: 101 }, (_, n) => `${n}.com`) }, 'domains'],
    [{ domains: [], mode: 'CLOSED' }, 'mode'],
  ];
  for (const [body, field] of wrong) {
    test(`${JSON.stringify(body).slice(0, 50)} is 400 for ${field}`, async () => {
      (await put(body)).assertError('BAD_REQUEST', field);
    });
  }
});
