import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { startTestDns, type TestDns } from '../../../../test/harness/dns.ts';
import type { TestAccount } from '../../../../test/harness/factories.ts';
import type { TestResponse } from '../../../../test/harness/response.ts';

const NOW = '2026-11-20T09:00:00.000Z';
const MINUTE = 60_000;
const DAY = 86_400_000;
const clock = new TestClock(NOW);
let app: TestApp;
let dns: TestDns;
let account: TestAccount;
let key: string;
let sandbox: string;

before(async () => {
  dns = await startTestDns();
  app = await startTestApp({
    clock,
    env: {
      DNS_SERVERS: dns.address,
      PUBLIC_URL: 'https://video.example.net',
      PLATFORM_HOSTS: 'studio.example.net',
    },
  });
  account = await app.createAccount();
  ({ key } = await app.createKey({ account }));
  sandbox = (await app.createKey({ account, mode: 'test' })).key;
});
after(async () => {
  await app.close();
  await dns.close();
});
beforeEach(() => {
  clock.set(NOW);
  dns.fault = 'none';
});

let count = 0;
const newDomain = () => `shop${++count}.example.com`;
const declare = (body: unknown, by = key) =>
  app.request('POST', '/me/integration-domains', { key: by, body });
const get = (id: string, by = key) => app.request('GET', `/me/integration-domains/${id}`, { key: by });
/** Uses another key each time: a key checks a domain once in ten seconds. */
const verify = async (id: string) => {
  const fresh = await app.createKey({ account });
  return app.request('POST', `/me/integration-domains/${id}/verify`, { key: fresh.key });
};
const proof = (answer: TestResponse) => answer.string('data.records.0.value');
const publish = (answer: TestResponse, ...values: (string | string[])[]) =>
  dns.txt.set(answer.string('data.records.0.name'), values);

interface Event {
  type: string;
  data: Record<string, unknown>;
}
const eventsAbout = async (domainId: string): Promise<Event[]> => {
  const rows = await app.container.sql<{ body: Event }[]>`
    select body::json as body from event where body::json->'data'->>'domainId' = ${domainId}
    order by (body::json->'data'->>'sequence')::int`;
  return rows.map((row) => row.body);
};

describe('declaring a domain', () => {
  test('a live domain waits for verification and lists its records', async () => {
    const made = (await declare({ domain: 'Bücher.Example.' })).assertOk(201);
    const token = made.string('data.token');
    assert.match(token, /^[0-9A-Za-z]{32}$/);
    const domain = 'xn--bcher-kva.example';
    const expected = {
      id: made.string('data.id'),
      domain,
      includeSubdomains: false,
      status: 'PENDING',
      method: null,
      token,
      records: [
        { type: 'TXT', name: `_svc-verify.${domain}`, value: `svc-domain-verify=${token}`, verified: false },
      ],
      wellKnown: {
        url: `https://${domain}/.well-known/svc-domain-verification.txt`,
        body: `svc-domain-verify=${token}`,
      },
      lastCheckedAt: null,
      lastError: null,
      verifiedAt: null,
      expiresAt: new Date(Date.parse(NOW) + 7 * DAY).toISOString(),
      createdAt: NOW,
      mode: 'live',
    };
    assert.match(expected.id, /^dom_/);
    assert.deepEqual(made.at('data'), expected);
    assert.deepEqual((await get(expected.id)).assertOk(200).at('data'), expected);
    const list = (await app.request('GET', '/me/integration-domains?limit=1', { key })).assertOk(200);
    assert.deepEqual(list.at('data.0'), expected);
  });

  const wrong: [body: object, field: string][] = [
    [{}, 'domain'],
    [{ domain: '' }, 'domain'],
    [{ domain: 7 }, 'domain'],
    [{ domain: 'https://example.com' }, 'domain'],
    [{ domain: 'co.uk' }, 'domain'],
    [{ domain: '127.0.0.1' }, 'domain'],
    [{ domain: 'localhost' }, 'domain'],
    [{ domain: 'video.example.net' }, 'domain'],
    [{ domain: 'studio.example.net' }, 'domain'],
    [{ domain: 'a.example.com', includeSubdomains: 'yes' }, 'includeSubdomains'],
    [{ domain: 'a.example.com', method: 'EMAIL' }, 'method'],
    [{ domain: 'a.example.com', method: 'WELL_KNOWN', includeSubdomains: true }, 'method'],
  ];
  for (const [body, field] of wrong) {
    test(`${JSON.stringify(body)} is 400 for ${field}`, async () => {
      (await declare(body)).assertError('BAD_REQUEST', field);
    });
  }

  test('declaring a domain twice is a conflict; the other mode and another account have separate tokens', async () => {
    const domain = newDomain();
    const first = await declare({ domain });
    (await declare({ domain: domain.toUpperCase() })).assertError('CONFLICT', 'domain');
    const foreign = (await app.createKey()).key;
    const tokens = [first, await declare({ domain }, sandbox), await declare({ domain }, foreign)];
    assert.equal(new Set(tokens.map((answer) => answer.assertOk(201).string('data.token'))).size, 3);
  });

  test('domain routes need domains:write, even to read', async () => {
    const lacking = (await app.createKey({ account, scope: 'STANDARD', permissions: ['videos:write'] })).key;
    (await declare({ domain: newDomain() }, lacking)).assertError('PERMISSION_DENIED');
    const looks = await app.request('GET', '/me/integration-domains', { key: lacking });
    looks.assertError('PERMISSION_DENIED');
    const holding = (await app.createKey({ account, scope: 'STANDARD', permissions: ['domains:write'] })).key;
    (await declare({ domain: newDomain() }, holding)).assertOk(201);
    const reader = (await app.createKey({ account, scope: 'READ_ONLY' })).key;
    (await declare({ domain: newDomain() }, reader)).assertError('INSUFFICIENT_SCOPE');
  });

  test("another account's domain and an unknown one get the same 404", async () => {
    const { id } = Object((await declare({ domain: newDomain() })).at('data'));
    for (const by of [sandbox, (await app.createKey()).key]) {
      assert.equal((await get(id, by)).text, (await get('dom_none', by)).text);
      const path = `/me/integration-domains/${id}`;
      (await app.request('DELETE', path, { key: by })).assertError('NOT_FOUND');
      (await app.request('POST', `${path}/verify`, { key: by })).assertError('NOT_FOUND');
    }
    (await get(id)).assertOk(200);
  });

  test('deleting a domain ends its token', async () => {
    const domain = newDomain();
    const first = await declare({ domain });
    const id = first.string('data.id');
    const gone = await app.request('DELETE', `/me/integration-domains/${id}`, { key });
    assert.deepEqual(gone.assertOk(200).at('data'), { id, deleted: true });
    (await get(id)).assertError('NOT_FOUND');
    assert.notEqual((await declare({ domain })).string('data.token'), first.string('data.token'));
  });
});

describe('the TXT record', () => {
  test('a TXT record is found among others, and in several strings', async () => {
    const made = await declare({ domain: newDomain(), includeSubdomains: true });
    const id = made.string('data.id');
    const missing = (await verify(id)).assertOk(200);
    assert.equal(missing.at('data.status'), 'PENDING');
    assert.match(missing.string('data.lastError'), /^dns: no TXT record at _svc-verify\.shop/);
    assert.equal(missing.at('data.lastCheckedAt'), NOW);
    const value = proof(made);
    publish(made, 'v=spf1 -all', `${value} `, value.toUpperCase(), `"${value}"`);
    assert.match((await verify(id)).string('data.lastError'), /has the value/);
    publish(made, 'v=spf1 -all', [value.slice(0, 20), value.slice(20)]);
    const found = (await verify(id)).assertOk(200);
    assert.equal(found.at('data.status'), 'VERIFIED');
    assert.equal(found.at('data.method'), 'DNS_TXT');
    assert.equal(found.at('data.records.0.verified'), true);
    assert.deepEqual([found.at('data.verifiedAt'), found.at('data.expiresAt')], [NOW, null]);
    assert.equal(found.at('data.lastError'), null);
  });

  test('another account’s value verifies nothing', async () => {
    const domain = newDomain();
    const made = await declare({ domain });
    const foreign = await declare({ domain }, (await app.createKey()).key);
    publish(made, proof(foreign));
    assert.equal((await verify(made.string('data.id'))).at('data.status'), 'PENDING');
    publish(made, proof(foreign), proof(made));
    assert.equal((await verify(made.string('data.id'))).at('data.status'), 'VERIFIED');
  });

  test('a failing name server is reported in lastError and verifies nothing', async () => {
    const made = await declare({ domain: newDomain() });
    publish(made, proof(made));
    dns.fault = 'servfail';
    const answer = (await verify(made.string('data.id'))).assertOk(200);
    assert.match(answer.string('data.lastError'), /dns: ESERVFAIL/);
    assert.equal(answer.at('data.status'), 'PENDING');
  });

  test('a key checks once in ten seconds', async () => {
    const id = (await declare({ domain: newDomain() })).string('data.id');
    const path = `/me/integration-domains/${id}/verify`;
    (await app.request('POST', path, { key })).assertOk(200);
    const refused = (await app.request('POST', path, { key })).assertError('RATE_LIMITED');
    const wait = Number(refused.headers['retry-after']);
    assert.ok(wait >= 1 && wait <= 10, `Retry-After: ${wait}`);
    const other = (await declare({ domain: newDomain() })).string('data.id');
    (await app.request('POST', `/me/integration-domains/${other}/verify`, { key })).assertOk(200);
  });
});

describe('the worker', () => {
  const round = () => app.container.domains.checkDue();

  test('the worker checks on schedule, verifies, lapses, verifies again, and emits events', async () => {
    const made = await declare({ domain: newDomain() });
    const id = made.string('data.id');
    const status = async () => (await get(id)).at('data.status');
    await round();
    assert.equal((await get(id)).at('data.lastCheckedAt'), null);
    clock.advance(MINUTE);
    await Promise.all([round(), round()]);
    assert.equal((await get(id)).at('data.lastCheckedAt'), new Date(Date.parse(NOW) + MINUTE).toISOString());
    publish(made, proof(made));
    clock.advance(4 * MINUTE);
    await round();
    assert.equal(await status(), 'VERIFIED');
    publish(made);
    for (let day = 0; day < 4; day++) {
      assert.equal(await status(), 'VERIFIED');
      clock.advance(DAY);
      await round();
    }
    assert.equal(await status(), 'LAPSED');
    publish(made, proof(made));
    clock.advance(DAY);
    await round();
    assert.equal(await status(), 'VERIFIED');
    const told = (await eventsAbout(id)).map(({ type, data }) => [
      type,
      data.sequence,
      data.method,
      data.error === null,
    ]);
    assert.deepEqual(told, [
      ['integration_domain.verified', 1, 'DNS_TXT', true],
      ['integration_domain.lapsed', 2, 'DNS_TXT', false],
      ['integration_domain.verified', 3, 'DNS_TXT', true],
    ]);
  });

  test('a pending domain fails after seven days, and a manual check restarts it', async () => {
    const made = await declare({ domain: newDomain() });
    const id = made.string('data.id');
    clock.advance(7 * DAY);
    await round();
    const failed = await get(id);
    assert.deepEqual([failed.at('data.status'), failed.at('data.expiresAt')], ['FAILED', null]);
    clock.advance(30 * DAY);
    await round();
    assert.equal((await get(id)).at('data.lastCheckedAt'), failed.at('data.lastCheckedAt'));
    const again = await verify(id);
    assert.equal(again.at('data.status'), 'PENDING');
    assert.equal(again.at('data.expiresAt'), new Date(clock.ms() + 7 * DAY).toISOString());
    const types = (await eventsAbout(id)).map(({ type }) => type);
    assert.deepEqual(types, ['integration_domain.failed']);
  });
});

describe('test mode', () => {
  test('a test domain is verified immediately and never checked', async () => {
    for (const domain of ['localhost', 'shop.test', newDomain()]) {
      const made = (await declare({ domain }, sandbox)).assertOk(201);
      assert.deepEqual([made.at('data.status'), made.at('data.mode')], ['VERIFIED', 'test']);
      const id = made.string('data.id');
      assert.deepEqual(
        (await eventsAbout(id)).map(({ type }) => type),
        ['integration_domain.verified'],
      );
      const asked = dns.asked.length;
      clock.advance(30 * DAY);
      await app.container.domains.checkDue();
      const path = `/me/integration-domains/${id}/verify`;
      const looked = (await app.request('POST', path, { key: sandbox })).assertOk(200);
      assert.equal(looked.at('data.status'), 'VERIFIED');
      assert.ok(!dns.asked.slice(asked).includes(`_svc-verify.${domain}`));
    }
  });
});
