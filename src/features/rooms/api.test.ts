import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { TestClock } from '../../../test/harness/clock.ts';
import { runTask } from '../../../test/harness/modules.ts';

const NOW = '2026-11-20T09:00:00.000Z';
const clock = new TestClock(NOW);
let app: TestApp;
let key: string;
before(async () => {
  app = await startTestApp({ clock });
  ({ key } = await app.createKey());
});
after(() => app.close());

const call = (method: string, path: string, body?: object, by = key) =>
  app.request(method, path, body === undefined ? { key: by } : { key: by, body });
const create = async (body: object = {}, by = key) =>
  (await call('POST', '/rooms', { name: 'Class', ...body }, by)).assertOk(201).string('data.id');
const events = async (by = key) =>
  (await call('GET', '/me/events?type=room.*', undefined, by))
    .assertOk(200)
    .list('data')
    .map(Object)
    // Events of the same moment have no order.
    .sort((a, b) => b.data.sequence - a.data.sequence);

describe('a room', () => {
  test('a room is created with defaults, read, changed and ended, and gets 404 after deletion', async () => {
    const { key: own } = await app.createKey();
    const made = (await call('POST', '/rooms', { name: 'Αίθουσα ٣ 🎓' }, own)).assertOk(201);
    const id = made.string('data.id');
    const shape = {
      id,
      name: 'Αίθουσα ٣ 🎓',
      description: null,
      status: 'CREATED',
      maxParticipants: 4,
      emptyTimeoutSec: 300,
      departureTimeoutSec: 20,
      maxDurationSec: null,
      autoEndWhenAloneSec: null,
      scheduledStartAt: null,
      expiresAt: null,
      recordEnabled: false,
      recordLayout: 'GRID',
      waitingRoom: false,
      permissionsDefault: {
        canPublish: true,
        canSubscribe: true,
        canPublishData: true,
        canScreenShare: true,
      },
      serverUrl: `ws://marquee.test/rtc/rooms/${id}`,
      joinUrl: `http://marquee.test/r/${id}`,
      participantCount: 0,
      canRecord: false,
      recording: false,
      streamId: null,
      bookingId: null,
      recordingVideoIds: [],
      metadata: {},
      startedAt: null,
      endedAt: null,
      endReason: null,
      createdAt: NOW,
      updatedAt: NOW,
      mode: 'live',
    };
    assert.deepEqual(made.at('data'), shape);
    assert.deepEqual((await call('GET', `/rooms/${id}`, undefined, own)).assertOk(200).at('data'), shape);
    const change = {
      description: 'Each week',
      maxParticipants: 3,
      expiresAt: '2026-11-21T10:00:00+01:00',
      permissionsDefault: { canScreenShare: false },
      metadata: { season: '2' },
    };
    const changed = (await call('PATCH', `/rooms/${id}`, change, own)).assertOk(200);
    assert.deepEqual(changed.at('data'), {
      ...shape,
      ...change,
      expiresAt: '2026-11-21T09:00:00.000Z',
      permissionsDefault: { ...shape.permissionsDefault, canScreenShare: false },
    });
    for (let n = 0; n < 2; n++) {
      const ended = (await call('POST', `/rooms/${id}/end`, undefined, own)).assertOk(200);
      assert.deepEqual(
        ['status', 'endReason', 'endedAt'].map((field) => ended.at(`data.${field}`)),
        ['ENDED', 'CALL', NOW],
      );
    }
    (await call('PATCH', `/rooms/${id}`, { name: 'x' }, own)).assertError('CONFLICT');
    (await call('POST', `/rooms/${id}/tokens`, { identity: 'ada' }, own)).assertError('CONFLICT');
    const gone = (await call('DELETE', `/rooms/${id}`, undefined, own)).assertOk(200);
    assert.deepEqual(gone.at('data'), { id, deleted: true });
    for (const path of ['', '/participants']) {
      (await call('GET', `/rooms/${id}${path}`, undefined, own)).assertError('NOT_FOUND');
    }
    assert.deepEqual(
      (await events(own)).map(({ type, data }) => [type, data.sequence, data.reason]),
      [
        ['room.deleted', 3, 'CALL'],
        ['room.ended', 2, 'CALL'],
        ['room.created', 1, null],
      ],
    );
  });

  test('one Idempotency-Key creates a single room', async () => {
    const body = { name: 'Once' };
    const headers = { 'idempotency-key': 'room-of-monday' };
    const first = (await app.request('POST', '/rooms', { key, body, headers })).assertOk(201);
    const again = (await app.request('POST', '/rooms', { key, body, headers })).assertOk(201);
    assert.equal(again.headers['x-svc-idempotent-replay'], 'true');
    assert.equal(again.text, first.text);
    const other = { ...body, waitingRoom: true };
    (await app.request('POST', '/rooms', { key, body: other, headers })).assertError(
      'IDEMPOTENCY_KEY_REUSE',
      'Idempotency-Key',
    );
  });

  test('rooms are listed by state and page', async () => {
    const { key: own } = await app.createKey();
    const ids = [await create({}, own), await create({}, own), await create({}, own)];
    (await call('POST', `/rooms/${ids[1]}/end`, undefined, own)).assertOk(200);
    const list = async (query: string) =>
      (await call('GET', `/rooms?${query}`, undefined, own)).assertOk(200).list('data').map(Object);
    assert.deepEqual(
      (await list('status=CREATED,ACTIVE')).map(({ id }) => id),
      [ids[2], ids[0]],
    );
    assert.deepEqual(
      (await list('status=ENDED&order=asc')).map(({ id }) => id),
      [ids[1]],
    );
    assert.deepEqual(
      (await list('limit=2')).map(({ id }) => id),
      [ids[2], ids[1]],
    );
    (await call('GET', '/rooms?status=OPEN', undefined, own)).assertError('BAD_REQUEST', 'status');
  });

  test('invalid input is rejected with its field', async () => {
    const cases: [object, string][] = [
      [{ name: '' }, 'name'],
      [{ name: 'x'.repeat(121) }, 'name'],
      [{ name: '   ' }, 'name'],
      [{ name: 'two\nlines' }, 'name'],
      [{ name: 'turned \u202e round' }, 'name'],
      [{ maxParticipants: 0 }, 'maxParticipants'],
      [{ maxParticipants: '3' }, 'maxParticipants'],
      [{ maxParticipants: 5 }, 'maxParticipants'],
      [{ departureTimeoutSec: 301 }, 'departureTimeoutSec'],
      [{ emptyTimeoutSec: -1 }, 'emptyTimeoutSec'],
      [{ maxDurationSec: 59 }, 'maxDurationSec'],
      [{ autoEndWhenAloneSec: 9 }, 'autoEndWhenAloneSec'],
      [{ expiresAt: NOW }, 'expiresAt'],
      [{ expiresAt: 'tomorrow' }, 'expiresAt'],
      [{ scheduledStartAt: '2026-02-30T00:00:00Z' }, 'scheduledStartAt'],
      [{ permissionsDefault: { canPublish: 'yes' } }, 'permissionsDefault.canPublish'],
      [{ metadata: { x: 1 } }, 'metadata.x'],
      [{ recordLayout: 'MOSAIC' }, 'recordLayout'],
    ];
    const id = await create();
    for (const [body, field] of cases) {
      (await call('POST', '/rooms', { name: 'Class', ...body })).assertError('BAD_REQUEST', field);
      (await call('PATCH', `/rooms/${id}`, body)).assertError('BAD_REQUEST', field);
    }
    (await call('POST', '/rooms', {})).assertError('BAD_REQUEST', 'name');
  });

  test('a room accepts no more people than the plan', async () => {
    const { key: own } = await app.createKey({ account: await app.createAccount({ plan: 'FREE' }) });
    const answer = await call('POST', '/rooms', { name: 'x', maxParticipants: 11 }, own);
    assert.match(answer.assertError('QUOTA_EXCEEDED').string('error.message'), /Limit of 10 participants/);
    const quota = (await call('GET', '/quota/ROOM_PARTICIPANTS', undefined, own)).assertOk(200);
    assert.deepEqual([quota.at('data.limit'), quota.at('data.used')], [10, 0]);
  });

  test('a room ends when it expires, even if it was never joined', async () => {
    const { key: own } = await app.createKey();
    const id = await create({ expiresAt: '2026-11-20T09:00:10Z' }, own);
    await runTask(app.container, 'rooms');
    assert.equal((await call('GET', `/rooms/${id}`, undefined, own)).at('data.status'), 'CREATED');
    clock.advance(10_000);
    (await call('POST', `/rooms/${id}/tokens`, { identity: 'ada' }, own)).assertError('CONFLICT');
    await runTask(app.container, 'rooms');
    const room = (await call('GET', `/rooms/${id}`, undefined, own)).assertOk(200);
    assert.deepEqual([room.at('data.status'), room.at('data.endReason')], ['ENDED', 'EXPIRED']);
    const [{ type, data }] = await events(own);
    assert.deepEqual(
      [type, data.reason, data.startedAt, data.durationSec],
      ['room.ended', 'EXPIRED', null, null],
    );
  });

  test('an empty room cannot be recorded, and a mesh returns the reason', async () => {
    const id = await create({ recordEnabled: true });
    const answer = await call('POST', `/rooms/${id}/recording/start`);
    assert.match(answer.assertError('CONFLICT').string('error.message'), /The room is empty/);
    const bad = await call('POST', `/rooms/${id}/recording/start`, { layout: 'MOSAIC' });
    bad.assertError('BAD_REQUEST', 'layout');
    (await call('POST', `/rooms/${id}/recording/stop`)).assertOk(200);
    const changed = await call('PATCH', `/rooms/${id}`, { recordLayout: 'SPEAKER' });
    assert.equal(changed.assertOk(200).at('data.recordLayout'), 'SPEAKER');
  });
});

describe('tokens', () => {
  test('a token states who may join, with which role, and until when', async () => {
    const id = await create();
    const made = (
      await call('POST', `/rooms/${id}/tokens`, { identity: 'علي', name: '阿里 👩‍🏫', role: 'HOST' })
    ).assertOk(201);
    const token = made.string('data.token');
    assert.match(token, /^[\w.-]+$/, 'it travels as a sub-protocol');
    assert.deepEqual(made.at('data'), {
      token,
      url: `http://marquee.test/r/${id}#token=${token}`,
      serverUrl: `ws://marquee.test/rtc/rooms/${id}`,
      expiresAt: new Date(clock.ms() + 3_600_000).toISOString(),
      identity: 'علي',
      role: 'HOST',
    });
  });

  test('tokens are rejected for an invalid person', async () => {
    const id = await create();
    const cases: [object, string][] = [
      [{}, 'identity'],
      [{ identity: '' }, 'identity'],
      [{ identity: ' ' }, 'identity'],
      [{ identity: 'a\u0007b' }, 'identity'],
      [{ identity: 'x'.repeat(129) }, 'identity'],
      [{ identity: 'ada', name: '' }, 'name'],
      [{ identity: 'ada', name: 'x'.repeat(121) }, 'name'],
      [{ identity: 'ada', name: 'Ada\u2028Lovelace' }, 'name'],
      [{ identity: 'ada', role: 'OWNER' }, 'role'],
      [{ identity: 'ada', ttlSec: 59 }, 'ttlSec'],
      [{ identity: 'ada', ttlSec: 21_601 }, 'ttlSec'],
      [{ identity: 'ada', permissions: { canPublish: 1 } }, 'permissions.canPublish'],
    ];
    for (const [body, field] of cases) {
      (await call('POST', `/rooms/${id}/tokens`, body)).assertError('BAD_REQUEST', field);
    }
  });
});

test('moderation of an absent participant gets 404', async () => {
  const id = await create();
  const person = `/rooms/${id}/participants/nobody`;
  for (const verb of ['admit', 'deny']) (await call('POST', `${person}/${verb}`)).assertError('NOT_FOUND');
  (await call('POST', `${person}/mute`, { kind: 'AUDIO' })).assertError('NOT_FOUND');
  (await call('POST', `${person}/mute`, { kind: 'SMELL' })).assertError('BAD_REQUEST', 'kind');
  (await call('DELETE', person)).assertError('NOT_FOUND');
  (await call('DELETE', `/rooms/${id}/bans/nobody`)).assertError('NOT_FOUND');
});

test('reading and writing are separate permissions, and modes are separate', async () => {
  const account = await app.createAccount();
  const scoped = async (...permissions: string[]) =>
    (await app.createKey({ account, scope: 'STANDARD', permissions })).key;
  const [reader, writer, other] = [
    await scoped('rooms:read'),
    await scoped('rooms:write'),
    await scoped('videos:read'),
  ];
  const id = await create({}, writer);
  (await call('GET', `/rooms/${id}`, undefined, reader)).assertOk(200);
  (await call('POST', '/rooms', { name: 'x' }, reader)).assertError('PERMISSION_DENIED');
  (await call('POST', `/rooms/${id}/tokens`, { identity: 'ada' }, reader)).assertError('PERMISSION_DENIED');
  (await call('GET', `/rooms/${id}`, undefined, other)).assertError('PERMISSION_DENIED');
  const { key: testKey } = await app.createKey({ account, mode: 'test' });
  (await call('GET', `/rooms/${id}`, undefined, testKey)).assertError('NOT_FOUND');
  const made = (await call('POST', '/rooms', { name: 'Trial' }, testKey)).assertOk(201);
  assert.equal(made.at('data.mode'), 'test');
});
