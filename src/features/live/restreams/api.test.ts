import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { startTestDns } from '../../../../test/harness/dns.ts';
import { insertAccount, type TestAccount } from '../../../../test/harness/factories.ts';

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.close());

const CUSTOM = { url: 'rtmp://live.example.com/app', streamKey: 'secret-stream-key-1234' };

interface Owner {
  key: string;
  account: TestAccount;
  streamId: string;
}

async function owner(plan: 'FREE' | 'STAR' | 'VIP' = 'VIP'): Promise<Owner> {
  const account = await insertAccount(app.container.db, { plan });
  const { key } = await app.createKey({ account });
  const created = await app.request('POST', '/streams', { key, body: { title: 'Friday' } });
  return { key, account, streamId: created.string('data.id') };
}

const post = (key: string, path: string, body: object = {}, headers: Record<string, string> = {}) =>
  app.request('POST', path, { key, body, headers });
const restream = async ({ key, streamId }: Owner, more: object = {}) =>
  (await post(key, '/restreams', { streamId, ...more })).assertOk(201);

async function emittedEvents({ account }: Owner): Promise<{ type: string; data: Record<string, unknown> }[]> {
  const rows = await app.container.db
    .selectFrom('event')
    .select(['type', 'body'])
    .where('workspace_id', '=', account.live)
    .orderBy('seq')
    .execute();
  return rows
    .filter(({ type }) => type.startsWith('restream.'))
    .map(({ type, body }) => ({ type, data: JSON.parse(String(body)).data }));
}

describe('POST /restreams', () => {
  test('201 returns the whole resource with its defaults and only the end of the keys', async () => {
    const mine = await owner();
    const youtube = { platform: 'YOUTUBE', streamKey: 'abcd-efgh-ijkl-mnop-qrst' };
    const made = await restream(mine, { targets: [CUSTOM, youtube] });
    const targets = [0, 1].map((index) => made.string(`data.targets.${index}.id`));
    const idle = {
      enabled: true,
      status: 'IDLE',
      errorSeverity: null,
      errorMessage: null,
      retryCount: 0,
      nextRetryAt: null,
      connectedAt: null,
      bitrateKbps: null,
      lastFailureAt: null,
      lastFailureMessage: null,
    };
    assert.deepEqual(made.at('data'), {
      id: made.string('data.id'),
      name: 'Friday',
      streamId: mine.streamId,
      enabled: true,
      status: 'IDLE',
      startMode: 'WITH_BROADCAST',
      targets: [
        {
          id: targets[0],
          name: 'live.example.com',
          platform: 'CUSTOM',
          url: CUSTOM.url,
          streamKeyLast4: '1234',
          hasPassphrase: false,
          ...idle,
        },
        {
          id: targets[1],
          name: 'YouTube',
          platform: 'YOUTUBE',
          url: 'rtmps://a.rtmps.youtube.com/live2',
          streamKeyLast4: 'qrst',
          hasPassphrase: false,
          ...idle,
        },
      ],
      startedAt: null,
      stoppedAt: null,
      createdAt: made.string('data.createdAt'),
      updatedAt: made.string('data.createdAt'),
      mode: 'live',
    });
    const stream = await app.request('GET', `/streams/${mine.streamId}`, { key: mine.key });
    assert.deepEqual(stream.at('data.restreamIds'), [made.string('data.id')]);
    const rows = await app.container.sql`select * from restream_target`;
    assert.ok(!JSON.stringify([rows, await emittedEvents(mine)]).includes('secret-stream-key'));
    assert.deepEqual(
      (await emittedEvents(mine)).map(({ type }) => type),
      ['restream.created'],
    );
  });

  for (const [what, body, field] of [
    ['no stream', {}, 'streamId'],
    ['an unknown start mode', { startMode: 'SOON' }, 'startMode'],
    ['an empty name', { name: ' ' }, 'name'],
    ['a second target without address', { targets: [CUSTOM, { streamKey: 'a' }] }, 'targets.1.url'],
    ['a target without key', { targets: [{ url: CUSTOM.url }] }, 'targets.0.streamKey'],
    ['an unknown platform', { targets: [{ ...CUSTOM, platform: 'MYSPACE' }] }, 'targets.0.platform'],
    ['too many targets', { targets: Array.from({ length: 101 }, () => CUSTOM) }, 'targets'],
  ] as const) {
    test(`400: ${what}`, async () => {
      const { key, streamId } = await owner();
      const sent = field === 'streamId' ? body : { streamId, ...body };
      (await post(key, '/restreams', sent)).assertError('BAD_REQUEST', field);
    });
  }

  test('a stream that is deleted or of another account gets 400', async () => {
    const [mine, other] = [await owner(), await owner()];
    const steal = await post(mine.key, '/restreams', { streamId: other.streamId });
    steal.assertError('BAD_REQUEST', 'streamId');
    await app.request('DELETE', `/streams/${mine.streamId}`, { key: mine.key });
    (await post(mine.key, '/restreams', { streamId: mine.streamId })).assertError('BAD_REQUEST', 'streamId');
  });

  for (const host of [
    ...[
      '127.0.0.1',
      '0x7f.1',
      '2130706433',
      '017700000001',
      '127.1',
      '10.1.2.3',
      '172.16.0.1',
      '192.168.1.1',
    ],
    ...['169.254.169.254', '100.64.0.1', '0.0.0.0', '224.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '[fc00::1]'],
    ...[
      '[fe80::1]',
      '[64:ff9b::a00:1]',
      'localhost',
      'LOCALHOST.',
      'db.internal',
      'printer.local',
      'nas.lan',
    ],
    ...['%31%32%37.0.0.1', '127.0.0.1.', 'single'],
  ]) {
    test(`400: ${host} is not an allowed host`, async () => {
      const { key, streamId } = await owner();
      const targets = [{ url: `rtmp://${host}/app`, streamKey: 'a-stream-key' }];
      (await post(key, '/restreams', { streamId, targets })).assertError('BAD_REQUEST', 'targets.0.url');
      const srt = [{ url: `srt://${host}:9000` }];
      (await post(key, '/restreams', { streamId, targets: srt })).assertError('BAD_REQUEST', 'targets.0.url');
    });
  }

  test('one idempotency key creates a single restream', async () => {
    const { key, streamId } = await owner();
    const headers = { 'idempotency-key': 'restream-key-1' };
    const send = () => post(key, '/restreams', { streamId, targets: [CUSTOM] }, headers);
    const [one, two] = await Promise.all([send(), send()]);
    assert.equal(one.assertOk(201).string('data.id'), two.assertOk(201).string('data.id'));
    const replay = (await send()).assertOk(201);
    assert.equal(replay.headers['x-svc-idempotent-replay'], 'true');
    const other = await post(key, '/restreams', { streamId }, headers);
    other.assertError('IDEMPOTENCY_KEY_REUSE', 'Idempotency-Key');
    assert.equal((await app.request('GET', '/restreams', { key })).list('data').length, 1);
  });

  test('unresponsive name servers do not delay other requests', async () => {
    const dns = await startTestDns();
    dns.fault = 'silent';
    // Only one request with a key at a time may hold a transaction here.
    const env = { DNS_SERVERS: dns.address, DATABASE_POOL: '3' };
    const slow = await startTestApp({ env });
    try {
      const { key } = await slow.createKey();
      const create = (name: string) =>
        slow.request('POST', '/streams', {
          key,
          body: { title: name },
          headers: { 'idempotency-key': `stream-${name}` },
        });
      const streamId = (await create('one')).string('data.id');
      const body = { streamId, targets: [{ url: 'rtmp://live.example.com/app', streamKey: 'abcd' }] };
      let isOver = false;
      const waiting = slow
        .request('POST', '/restreams', { key, body, headers: { 'idempotency-key': 'restream-one' } })
        .finally(() => {
          isOver = true;
        });
      (await create('two')).assertOk(201);
      assert.equal(isOver, false);
      await waiting;
    } finally {
      await slow.close();
      await dns.close();
    }
  });

  test('a restream with more targets than the plan has left is not created', async () => {
    const mine = await owner('STAR');
    const targets = Array.from({ length: 4 }, () => CUSTOM);
    (await post(mine.key, '/restreams', { streamId: mine.streamId, targets })).assertError('QUOTA_EXCEEDED');
    assert.equal((await app.request('GET', '/restreams', { key: mine.key })).list('data').length, 0);
  });

  test('exceeding the restreams of a stream gets 409', async () => {
    const mine = await owner();
    const answers = await Promise.all(
      Array.from({ length: 22 }, () => post(mine.key, '/restreams', { streamId: mine.streamId })),
    );
    assert.equal(answers.filter(({ status }) => status === 201).length, 20);
    assert.equal(answers.filter(({ status }) => status === 409).length, 2);
  });
});

describe('permissions', () => {
  test('keys need restreams:read and restreams:write', async () => {
    const mine = await owner();
    const { account } = mine;
    const id = (await restream(mine)).string('data.id');
    const { key: reader } = await app.createKey({
      account,
      scope: 'STANDARD',
      permissions: ['restreams:read'],
    });
    (await app.request('GET', `/restreams/${id}`, { key: reader })).assertOk(200);
    (await post(reader, '/restreams', { streamId: mine.streamId })).assertError('PERMISSION_DENIED');
    (await post(reader, `/restreams/${id}/stop`)).assertError('PERMISSION_DENIED');
    const { key: other } = await app.createKey({
      account,
      scope: 'STANDARD',
      permissions: ['streams:read'],
    });
    (await app.request('GET', '/restreams', { key: other })).assertError('PERMISSION_DENIED');
    const { key: all } = await app.createKey({ account, scope: 'STANDARD', permissions: ['restreams:*'] });
    (await post(all, `/restreams/${id}/stop`)).assertOk(200);
    const { key: looking } = await app.createKey({ account, scope: 'READ_ONLY' });
    (await post(looking, `/restreams/${id}/start`)).assertError('INSUFFICIENT_SCOPE');
    (await app.request('GET', '/restreams/platforms', { key: looking })).assertOk(200);
  });

  test('lists cover one workspace, by stream and by page', async () => {
    const mine = await owner();
    const second = (await post(mine.key, '/streams', { title: 'B' })).string('data.id');
    const ids = [];
    for (const streamId of [mine.streamId, second, second]) {
      ids.unshift((await restream({ ...mine, streamId }, { targets: [CUSTOM] })).string('data.id'));
    }
    await restream(await owner());
    const idsOf = async (query: string) => {
      const page = (await app.request('GET', `/restreams${query}`, { key: mine.key })).assertOk(200);
      return page.list('data').map((_, index) => page.string(`data.${index}.id`));
    };
    assert.deepEqual(await idsOf(''), ids);
    assert.deepEqual(await idsOf(`?streamId=${second}`), ids.slice(0, 2));
    const first = (await app.request('GET', '/restreams?limit=2', { key: mine.key })).assertOk(200);
    assert.equal(first.string('data.0.targets.0.url'), CUSTOM.url);
    assert.deepEqual(await idsOf(`?limit=2&cursor=${first.string('pagination.nextCursor')}`), ids.slice(2));
  });
});

describe('targets', () => {
  test('targets are added, changed and removed, and the restream emits events', async () => {
    const mine = await owner();
    const { key } = mine;
    const id = (await restream(mine)).string('data.id');
    const added = (await post(key, `/restreams/${id}/targets`, { ...CUSTOM, name: 'Mine' })).assertOk(201);
    const targetId = added.string('data.id');
    const path = `/restreams/${id}/targets/${targetId}`;
    const patch = (body: object) => app.request('PATCH', path, { key, body });
    const off = (await patch({ enabled: false })).assertOk(200);
    assert.equal(off.string('data.status'), 'DISABLED');
    const keyed = (await patch({ streamKey: 'another-stream-key-5678' })).assertOk(200);
    assert.equal(keyed.string('data.streamKeyLast4'), '5678');
    (await patch({ url: 'rtmp://live.example.com/other' })).assertOk(200);
    (await patch({ url: 'rtmp://10.0.0.1/app', streamKey: 'a-key' })).assertError('BAD_REQUEST', 'url');
    (await patch({ platform: 'TWITCH' })).assertError('BAD_REQUEST', 'streamKey');
    (await patch({ streamKey: null })).assertError('BAD_REQUEST', 'streamKey');
    (await app.request('DELETE', path, { key })).assertOk(200);
    (await app.request('DELETE', path, { key })).assertError('NOT_FOUND');
    (await patch({ enabled: true })).assertError('NOT_FOUND');
    const changes = (await emittedEvents(mine)).flatMap(({ data }) => Object.entries(data.changes ?? {}));
    const shown = (name: string) => (name === '' ? `targets.${targetId}` : `targets.${targetId}.${name}`);
    assert.deepEqual(changes, [
      [shown(''), { from: null, to: 'Mine' }],
      [shown('enabled'), { from: true, to: false }],
      [shown('streamKeyLast4'), { from: '1234', to: '5678' }],
      [shown('streamKey'), { from: '***1234', to: '***5678' }],
      [shown('url'), { from: CUSTOM.url, to: 'rtmp://live.example.com/other' }],
      [shown(''), { from: 'Mine', to: null }],
    ]);
    assert.deepEqual(
      (await emittedEvents(mine)).map(({ data }) => data.sequence),
      [1, 2, 3, 4, 5, 6],
    );
  });

  test('a stored key is not sent to another server', async () => {
    const mine = await owner();
    const made = await restream(mine, { targets: [CUSTOM] });
    const path = `/restreams/${made.string('data.id')}/targets/${made.string('data.targets.0.id')}`;
    const move = (body: object) => app.request('PATCH', path, { key: mine.key, body });
    (await move({ url: 'rtmp://evil.example.net/app' })).assertError('BAD_REQUEST', 'streamKey');
    (await move({ url: 'rtmp://live.example.com:1936/app' })).assertError('BAD_REQUEST', 'streamKey');
    (await move({ url: 'rtmp://evil.example.net/app', streamKey: 'its-own-key' })).assertOk(200);
  });

  test('an SRT passphrase is write-only and bound to its server', async () => {
    const mine = await owner();
    const url = 'srt://live.example.com:9000?pbkeylen=32';
    const passphrase = 'a-long-passphrase';
    const made = await restream(mine, { targets: [{ url, passphrase }] });
    assert.equal(made.at('data.targets.0.hasPassphrase'), true);
    const path = `/restreams/${made.string('data.id')}/targets/${made.string('data.targets.0.id')}`;
    const patch = (body: object) => app.request('PATCH', path, { key: mine.key, body });
    const shown = (await patch({ url: 'srt://live.example.com:9000?pbkeylen=16' })).assertOk(200);
    assert.equal(shown.at('data.hasPassphrase'), true);
    assert.doesNotMatch(made.text + shown.text, /a-long-passphrase/);
    (await patch({ url: 'srt://evil.example.net:9000' })).assertError('BAD_REQUEST', 'passphrase');
    assert.equal((await patch({ passphrase: null })).assertOk(200).at('data.hasPassphrase'), false);
    for (const [body, field] of [
      [{ passphrase: 'too short' }, 'passphrase'],
      [{ passphrase: 'x'.repeat(80) }, 'passphrase'],
      [{ url: `${url}&passphrase=${passphrase}` }, 'url'],
      [{ url: 'rtmp://live.example.com/app', streamKey: 'a-key', passphrase }, 'passphrase'],
    ] as const) {
      (await patch(body)).assertError('BAD_REQUEST', field);
    }
  });
});

describe('settings and deletion', () => {
  test('PATCH changes name, start mode and enabled', async () => {
    const mine = await owner();
    const id = (await restream(mine)).string('data.id');
    const patch = (body: object) => app.request('PATCH', `/restreams/${id}`, { key: mine.key, body });
    const changed = (await patch({ name: 'All', startMode: 'MANUAL', enabled: false })).assertOk(200);
    assert.equal(changed.string('data.status'), 'STOPPED');
    (await post(mine.key, `/restreams/${id}/start`)).assertError('CONFLICT', 'enabled');
    (await patch({ enabled: 'yes' })).assertError('BAD_REQUEST', 'enabled');
    (await patch({})).assertOk(200);
    const last = (await emittedEvents(mine)).at(-1);
    assert.deepEqual(last?.data.changes, {
      name: { from: 'Friday', to: 'All' },
      enabled: { from: true, to: false },
      startMode: { from: 'WITH_BROADCAST', to: 'MANUAL' },
    });
  });

  test('DELETE removes the restream from the list of its stream, and deleting a stream deletes its restreams', async () => {
    const mine = await owner();
    const [first, second] = [await restream(mine), await restream(mine, { targets: [CUSTOM] })];
    const path = `/restreams/${first.string('data.id')}`;
    (await app.request('DELETE', path, { key: mine.key })).assertOk(200);
    (await app.request('GET', path, { key: mine.key })).assertError('NOT_FOUND');
    const stream = () => app.request('GET', `/streams/${mine.streamId}`, { key: mine.key });
    assert.deepEqual((await stream()).at('data.restreamIds'), [second.string('data.id')]);
    (await app.request('DELETE', `/streams/${mine.streamId}`, { key: mine.key })).assertOk(200);
    assert.deepEqual((await app.request('GET', '/restreams', { key: mine.key })).list('data'), []);
    const types = (await emittedEvents(mine)).map(({ type }) => type);
    assert.deepEqual(types.slice(2), ['restream.deleted', 'restream.deleted']);
  });
});
