import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { ingestSession, streamEvents } from '../../../../test/harness/factories.ts';

let app: TestApp;
let key: string;

before(async () => {
  app = await startTestApp();
  ({ key } = await app.createKey());
});
after(() => app.close());

async function createStream(body: object = {}, by = key): Promise<string> {
  const created = await app.request('POST', '/streams', { key: by, body: { title: 'A stream', ...body } });
  return created.assertOk(201).string('data.id');
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const ID = /^str_[0-9a-hjkmnp-tv-z]{26}$/;

describe('POST /streams', () => {
  test('201 returns the whole resource with its defaults and the stream key', async () => {
    const created = await app.request('POST', '/streams', { key, body: { title: 'First' } });
    created.assertOk(201).assertRateLimited(true);
    const id = created.string('data.id');
    const streamKey = created.string('data.streamKey');
    const createdAt = created.string('data.createdAt');
    assert.match(id, ID);
    assert.match(streamKey, /^[\w-]{43}$/);
    assert.match(createdAt, ISO);
    assert.deepEqual(created.json, {
      success: true,
      data: {
        id,
        streamId: id,
        title: 'First',
        description: null,
        visibility: 'PUBLIC',
        tierIds: [],
        hasSignal: false,
        isLive: false,
        status: 'IDLE',
        enabled: true,
        streamKey,
        ingest: { rtmpUrl: 'rtmp://marquee.test:1935/live', rtmpsUrl: null, whipUrl: null },
        playbackUrl: `http://marquee.test/live/${id}/master.m3u8`,
        whepUrl: null,
        previewUrl: null,
        embedUrl: `http://marquee.test/embed/${id}`,
        latencyMode: 'STANDARD',
        record: false,
        recordVisibility: 'PRIVATE',
        reconnectWindowSec: 120,
        dvrWindowSec: 0,
        autoStart: false,
        autoStopAfterSec: null,
        maxDurationSec: null,
        chatEnabled: true,
        chatMode: 'OPEN',
        slowModeSec: 0,
        bannedWords: [],
        scheduledStartAt: null,
        restreamIds: [],
        currentSessionId: null,
        startedAt: null,
        endedAt: null,
        lastSignalAt: null,
        viewerCount: 0,
        peakViewers: 0,
        health: null,
        metadata: {},
        externalId: null,
        takedown: null,
        thumbnailUrl: null,
        createdAt,
        updatedAt: createdAt,
        mode: 'live',
      },
    });
  });

  test('every setting is stored as it was sent', async () => {
    const settings = {
      title: `${'🎬'.repeat(199)}x`,
      description: 'Line one\nline two',
      visibility: 'UNLISTED',
      enabled: false,
      latencyMode: 'LOW',
      record: true,
      recordVisibility: 'PUBLIC',
      reconnectWindowSec: 0,
      dvrWindowSec: 14_400,
      autoStart: true,
      autoStopAfterSec: 30,
      maxDurationSec: 60,
      chatEnabled: false,
      chatMode: 'FOLLOWERS',
      slowModeSec: 5,
      bannedWords: ['spam'],
      scheduledStartAt: '2026-12-24T18:00:00+01:00',
      metadata: { 'a key\nof two lines': 'value', constructor: 'a name like another' },
      externalId: 'ext-1',
    };
    const created = await app.request('POST', '/streams', { key, body: settings });
    const id = created.assertOk(201).string('data.id');
    const read = await app.request('GET', `/streams/${id}`, { key });
    for (const [name, value] of Object.entries({
      ...settings,
      scheduledStartAt: '2026-12-24T17:00:00.000Z',
    })) {
      assert.deepEqual(read.at(`data.${name}`), value, name);
    }
    assert.equal(read.at('data.status'), 'DISABLED');
    const scheduledStartAt = '0001-01-01T00:00:00.000Z';
    const ancient = await app.request('PATCH', `/streams/${id}`, { key, body: { scheduledStartAt } });
    assert.equal(ancient.assertOk(200).at('data.scheduledStartAt'), scheduledStartAt);
  });

  test('unknown fields are ignored, and the last of duplicate names counts', async () => {
    const body = '{"title":"one","id":"str_mine","isLive":true,"nonsense":{"a":[1]},"title":"two"}';
    const created = await app.request('POST', '/streams', { key, body });
    assert.match(created.assertOk(201).string('data.id'), ID);
    assert.equal(created.at('data.title'), 'two');
    assert.equal(created.at('data.isLive'), false);
    assert.equal(created.at('data.nonsense'), undefined);
  });

  const refused: [name: string, body: unknown, field: string][] = [
    ['no body', undefined, 'body'],
    ['an array', [], 'body'],
    ['null', null, 'body'],
    ['a string', '"title"', 'body'],
    ['no title', {}, 'title'],
    ['an empty title', { title: '' }, 'title'],
    ['a blank title', { title: ' \t' }, 'title'],
    ['201 characters of title', { title: 'x'.repeat(201) }, 'title'],
    ['a null title', { title: null }, 'title'],
    ['a number as title', { title: 100 }, 'title'],
    ['an unknown visibility', { title: 'x', visibility: 'public' }, 'visibility'],
    ['a null visibility', { title: 'x', visibility: null }, 'visibility'],
    ['5001 characters of description', { title: 'x', description: 'x'.repeat(5001) }, 'description'],
    ['a negative window', { title: 'x', reconnectWindowSec: -1 }, 'reconnectWindowSec'],
    ['more than four hours back', { title: 'x', dvrWindowSec: 14_401 }, 'dvrWindowSec'],
    ['a window over 1800', { title: 'x', reconnectWindowSec: 1801 }, 'reconnectWindowSec'],
    ['half a second of window', { title: 'x', reconnectWindowSec: 1.5 }, 'reconnectWindowSec'],
    ['a number in quotes', { title: 'x', reconnectWindowSec: '100' }, 'reconnectWindowSec'],
    ['a boolean in quotes', { title: 'x', record: 'true' }, 'record'],
    ['one for true', { title: 'x', autoStart: 1 }, 'autoStart'],
    ['no auto-stop time', { title: 'x', autoStopAfterSec: 0 }, 'autoStopAfterSec'],
    ['13 hours', { title: 'x', maxDurationSec: 46_800 }, 'maxDurationSec'],
    ['a date without a time', { title: 'x', scheduledStartAt: '2026-12-24' }, 'scheduledStartAt'],
    ['30 February', { title: 'x', scheduledStartAt: '2026-02-30T00:00:00Z' }, 'scheduledStartAt'],
    ['a leap second', { title: 'x', scheduledStartAt: '2016-12-31T23:59:60Z' }, 'scheduledStartAt'],
    ['the year 0', { title: 'x', scheduledStartAt: '0000-01-01T00:00:00Z' }, 'scheduledStartAt'],
    ['a number as metadata value', { title: 'x', metadata: { x: 5 } }, 'metadata.x'],
    ['an object as metadata value', { title: 'x', metadata: { x: { y: '' } } }, 'metadata.x'],
    ['501 characters of metadata', { title: 'x', metadata: { a: '', x: 'v'.repeat(501) } }, 'metadata.x'],
    ['a list as metadata', { title: 'x', metadata: [] }, 'metadata'],
    [
      '21 metadata keys',
      { title: 'x', metadata: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`k${i}`, ''])) },
      'metadata',
    ],
    [
      '41 characters of metadata key',
      { title: 'x', metadata: { ['k'.repeat(41)]: '' } },
      `metadata.${'k'.repeat(41)}`,
    ],
    ['256 characters of externalId', { title: 'x', externalId: 'x'.repeat(256) }, 'externalId'],
    ['NUL in a text', { title: 'a\0b' }, 'title'],
    ['a lone surrogate', '{"title":"\\ud800"}', 'title'],
    ['NUL in a metadata key', { title: 'x', metadata: { 'a\0': '' } }, 'metadata'],
  ];
  for (const [name, body, field] of refused) {
    test(`400 for ${name}, with field ${field.slice(0, 30)}`, async () => {
      const before = await count();
      (await app.request('POST', '/streams', { key, body })).assertError('BAD_REQUEST', field);
      assert.equal(await count(), before);
    });
  }

  async function count(): Promise<number> {
    const rows = await app.container.sql<{ count: number }[]>`select count(*)::int from stream`;
    return rows[0]?.count ?? -1;
  }
});

describe('permissions', () => {
  test('401 without a key', async () => {
    for (const [method, path] of [
      ['POST', '/streams'],
      ['GET', '/streams'],
      ['GET', '/streams/str_x'],
      ['DELETE', '/streams/str_x'],
    ] as const) {
      (await app.request(method, path)).assertError('UNAUTHORIZED').assertRateLimited(false);
    }
  });

  test('READ_ONLY reads, cannot write, and sees no stream key', async () => {
    const { key: owner, account } = await app.createKey();
    const reader = (await app.createKey({ account, scope: 'READ_ONLY' })).key;
    const id = await createStream({}, owner);
    const refused = await app.request('POST', '/streams', { key: reader, body: { title: 'x' } });
    refused.assertError('INSUFFICIENT_SCOPE').assertRateLimited(true);
    const read = await app.request('GET', `/streams/${id}`, { key: reader });
    assert.equal(read.assertOk(200).at('data.streamKey'), null);
  });

  test('a permission list: streams:read reads without the key, streams:write does both', async () => {
    const { key: owner, account } = await app.createKey();
    const id = await createStream({}, owner);
    const withList = async (...permissions: string[]) =>
      (await app.createKey({ account, scope: 'STANDARD', permissions })).key;
    const reader = await withList('streams:read');
    const writer = await withList('streams:write');
    const other = await withList('videos:read');
    const get = (by: string) => app.request('GET', `/streams/${id}`, { key: by });
    assert.equal((await get(reader)).assertOk(200).at('data.streamKey'), null);
    assert.match((await get(writer)).assertOk(200).string('data.streamKey'), /^[\w-]{43}$/);
    (await get(other)).assertError('PERMISSION_DENIED');
    const create = (by: string) => app.request('POST', '/streams', { key: by, body: { title: 'x' } });
    (await create(reader)).assertError('PERMISSION_DENIED');
    (await create(writer)).assertOk(201);
  });

  const onOne: [method: string, suffix: string, body?: object][] = [
    ['GET', ''],
    ['PATCH', '', { title: 'taken over' }],
    ['DELETE', ''],
    ['POST', '/start'],
    ['POST', '/stop'],
    ['POST', '/end'],
    ['POST', '/rotate-key'],
    ['GET', '/sessions'],
  ];
  for (const [method, suffix, body] of onOne) {
    test(`${method} /streams/{id}${suffix}: a foreign ID gets the same 404 as a missing one`, async () => {
      const id = await createStream();
      const stranger = (await app.createKey()).key;
      const path = (one: string) => `/streams/${one}${suffix}`;
      const init = { key: stranger, ...(body === undefined ? {} : { body }) };
      const foreign = (await app.request(method, path(id), init)).assertError('NOT_FOUND');
      const missing = await app.request(method, path('str_01kafe3n4pfx2v9yq6m8d7t5zr'), init);
      assert.equal(foreign.text, missing.assertError('NOT_FOUND').text);
      const kept = await app.request('GET', `/streams/${id}`, { key });
      assert.equal(kept.assertOk(200).at('data.title'), 'A stream');
    });
  }

  test('the test workspace of the same account counts as foreign', async () => {
    const { key: live, account } = await app.createKey();
    const sandbox = (await app.createKey({ account, mode: 'test' })).key;
    const id = await createStream({}, live);
    (await app.request('GET', `/streams/${id}`, { key: sandbox })).assertError('NOT_FOUND');
    const own = await createStream({}, sandbox);
    const read = await app.request('GET', `/streams/${own}`, { key: sandbox });
    assert.equal(read.assertOk(200).at('data.mode'), 'test');
    assert.equal(read.headers['svc-key-mode'], 'test');
    const list = await app.request('GET', '/streams', { key: live });
    assert.deepEqual(list.list('data').length, 1);
  });

  test('malformed IDs of any length get 404', async () => {
    for (const id of ['x', '%00', '%F0%9F%8E%AC', 'x'.repeat(6000), "'%20or%201=1", '..%2f..']) {
      (await app.request('GET', `/streams/${id}`, { key })).assertError('NOT_FOUND');
    }
  });
});

describe('PATCH /streams/{id}', () => {
  test('PATCH changes the sent fields only', async () => {
    const id = await createStream({ description: 'kept', metadata: { a: '1' }, autoStopAfterSec: 30 });
    const patch = { title: 'New', autoStopAfterSec: null, metadata: { b: '2' } };
    const changed = await app.request('PATCH', `/streams/${id}`, { key, body: patch });
    changed.assertOk(200);
    assert.equal(changed.at('data.title'), 'New');
    assert.equal(changed.at('data.description'), 'kept');
    assert.equal(changed.at('data.autoStopAfterSec'), null);
    assert.deepEqual(changed.at('data.metadata'), { b: '2' });
    assert.ok(changed.string('data.updatedAt') >= changed.string('data.createdAt'));
    assert.equal(changed.at('data.streamKey'), null);
  });

  test('read-only fields are unchanged', async () => {
    const id = await createStream();
    const body = { isLive: true, hasSignal: true, id: 'str_x', streamKey: 'k', mode: 'test', viewerCount: 9 };
    const changed = (await app.request('PATCH', `/streams/${id}`, { key, body })).assertOk(200);
    assert.deepEqual(
      ['isLive', 'hasSignal', 'id', 'mode', 'viewerCount'].map((name) => changed.at(`data.${name}`)),
      [false, false, id, 'live', 0],
    );
  });

  test('400 names the field and changes nothing', async () => {
    const id = await createStream();
    for (const [body, field] of [
      [{ title: '' }, 'title'],
      [{ description: 'new', slowModeSec: 3601 }, 'slowModeSec'],
      [{ metadata: { x: null } }, 'metadata.x'],
    ] as const) {
      (await app.request('PATCH', `/streams/${id}`, { key, body })).assertError('BAD_REQUEST', field);
    }
    assert.equal((await app.request('GET', `/streams/${id}`, { key })).at('data.description'), null);
  });

  test('a live stream cannot be disabled: 409', async () => {
    const id = await createStream();
    await app.request('POST', `/streams/${id}/start`, { key });
    const disable = () => app.request('PATCH', `/streams/${id}`, { key, body: { enabled: false } });
    (await disable()).assertError('CONFLICT', 'enabled');
    await app.request('POST', `/streams/${id}/stop`, { key });
    assert.equal((await disable()).assertOk(200).at('data.status'), 'DISABLED');
    (await app.request('POST', `/streams/${id}/start`, { key })).assertError('CONFLICT', 'enabled');
  });
});

describe('DELETE /streams/{id}', () => {
  test('DELETE gets 409 while live, and deletes permanently afterwards', async () => {
    const id = await createStream();
    await app.request('POST', `/streams/${id}/start`, { key });
    (await app.request('DELETE', `/streams/${id}`, { key })).assertError('CONFLICT');
    await app.request('POST', `/streams/${id}/stop`, { key });
    const gone = await app.request('DELETE', `/streams/${id}`, { key });
    assert.deepEqual(gone.assertOk(200).at('data'), { id, deleted: true });
    (await app.request('GET', `/streams/${id}`, { key })).assertError('NOT_FOUND');
    (await app.request('DELETE', `/streams/${id}`, { key })).assertError('NOT_FOUND');
    (await app.request('POST', `/streams/${id}/start`, { key })).assertError('NOT_FOUND');
    assert.equal(await app.container.snapshots.streams.get(id), undefined);
  });

  test('DELETE disconnects the encoder, which cannot reconnect', async () => {
    const { signals } = app.container;
    const id = await createStream();
    const streamKey = (await app.request('GET', `/streams/${id}`, { key })).string('data.streamKey');
    const session = ingestSession(id);
    await signals.publishStarted(session);
    (await app.request('DELETE', `/streams/${id}`, { key })).assertOk(200);
    assert.deepEqual(await signals.heartbeat(session.nodeId, [session.sessionId]), [session.sessionId]);
    const request = { key: streamKey, app: 'live', ip: '127.0.0.1', protocol: 'rtmp' as const };
    assert.equal(await signals.authorise(request), null);
    await assert.rejects(signals.publishStarted(ingestSession(id)));
    await signals.publishEnded({ sessionId: session.sessionId, streamId: id, reason: 'kicked', bytes: 0 });
    const types = (await streamEvents(app.container.sql, id)).map((event) => event.type);
    assert.deepEqual(types, ['stream.live', 'stream.ended']);
  });
});

describe('POST /streams/{id}/rotate-key', () => {
  test('rotating the key issues a new key, rejects the old one and disconnects its publisher', async () => {
    const { signals } = app.container;
    const created = await app.request('POST', '/streams', { key, body: { title: 'x' } });
    const id = created.string('data.id');
    const old = created.string('data.streamKey');
    const may = async (streamKey: string) =>
      (await signals.authorise({ key: streamKey, app: 'live', ip: '::1', protocol: 'rtmp' }))?.streamId;
    assert.equal(await may(old), id);
    const session = ingestSession(id);
    await signals.publishStarted(session);
    const rotated = await app.request('POST', `/streams/${id}/rotate-key`, { key });
    const fresh = rotated.assertOk(200).string('data.streamKey');
    assert.notEqual(fresh, old);
    assert.equal(await may(old), undefined);
    assert.equal(await may(fresh), id);
    assert.deepEqual(await signals.heartbeat(session.nodeId, [session.sessionId]), [session.sessionId]);
    assert.equal((await app.request('GET', `/streams/${id}`, { key })).at('data.streamKey'), fresh);
  });
});
