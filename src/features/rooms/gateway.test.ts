import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { OWN_ORIGIN } from '../../../test/auth/browser.ts';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { runTask } from '../../../test/harness/modules.ts';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { connectRoom, createRoom, joinRoom, mintToken, type RoomClient } from '../../../test/rooms/client.ts';
import { writeSdp } from '../../media/protocols/sdp/write.ts';

let app: TestApp;
let key: string;
before(async () => {
  app = await startTestApp();
  ({ key } = await app.createKey());
});
after(() => app.close());

const call = async (method: string, path: string, body?: object) =>
  (await app.request(method, path, body === undefined ? { key } : { key, body })).assertOk(200);
const room = async (id: string) => Object((await call('GET', `/rooms/${id}`)).at('data'));
const people = async (id: string, query = '') =>
  (await call('GET', `/rooms/${id}/participants?order=asc${query}`)).list('data').map(Object);
const of = (identity: string) => (message: Record<string, unknown>) =>
  Object(message.participant ?? message).identity === identity;
const eventsOf = async (id: string) =>
  (await call('GET', '/me/events?type=room.*&limit=100'))
    .list('data')
    .map(Object)
    .filter(({ data }) => data.roomId === id)
    .sort((a, b) => a.data.sequence - b.data.sequence);

test("two people meet, talk, see each other's state and leave, and the events report it", async () => {
  const id = await createRoom(app, key);
  const ada = await joinRoom(app, key, id, { identity: 'ada', name: 'Ада Лавлейс', role: 'HOST' });
  const { resumeToken, self, ...welcome } = ada.welcome;
  assert.ok(typeof resumeToken === 'string');
  const view = {
    ...{ identity: 'ada', name: 'Ада Лавлейс', role: 'HOST', audio: false, video: false, screen: false },
    ...{ hand: false, bridgeId: null, joinedAt: Object(self).joinedAt },
  };
  assert.deepEqual(welcome, {
    type: 'welcome',
    room: { id, name: 'Class', maxParticipants: 4 },
    participants: [view],
    engine: 'mesh',
    iceServers: [],
    recording: false,
    broadcast: false,
    canRecord: false,
    muted: [],
  });
  const all = { canPublish: true, canSubscribe: true, canPublishData: true, canScreenShare: true };
  assert.deepEqual(self, { ...view, permissions: all });
  const ali = await joinRoom(app, key, id, { identity: 'علي', name: '阿里 👩‍🏫' });
  await ada.next('joined', of('علي'));
  assert.equal((await room(id)).participantCount, 2);
  ali.send({ type: 'state', audio: true, video: true, screen: false });
  const updated = await ada.next('updated', of('علي'));
  assert.equal(Object(updated.participant).audio, true);
  ali.send({ type: 'hand', raised: true });
  assert.equal((await ada.next('hand')).raised, true);
  ada.send({ type: 'chat', text: 'שלום\nеще' });
  for (const one of [ada, ali]) {
    const { at, ...chat } = await one.next('chat');
    assert.deepEqual(chat, { type: 'chat', identity: 'ada', name: 'Ада Лавлейс', text: 'שלום\nеще' });
  }
  ada.send({ type: 'signal', data: { to: 'علي', description: { type: 'offer', sdp: 'v=0' } } });
  assert.deepEqual((await ali.next('signal')).data, {
    from: 'ada',
    description: { type: 'offer', sdp: writeSdp({ attributes: [], media: [] }) },
  });
  ada.send({ type: 'ping' });
  await ada.next('pong');
  const tracks = (await people(id)).find(({ identity }) => identity === 'علي').tracks;
  assert.deepEqual(
    tracks.map((track: object) => Object(track).source),
    ['MICROPHONE', 'CAMERA'],
  );
  ali.send({ type: 'leave' });
  assert.equal(await ali.end(), 1000);
  assert.equal((await ada.next('left', of('علي'))).reason, 'CLIENT');
  (await app.request('POST', `/rooms/${id}/end`, { key })).assertOk(200);
  assert.equal((await ada.next('ended')).reason, 'CALL');
  assert.equal(await ada.end(), 4410);
  const told = await eventsOf(id);
  assert.deepEqual(
    told.map(({ type, data }) => [type, data.identity ?? null, data.reason]),
    [
      ['room.created', null, null],
      ['room.started', null, null],
      ['room.participant_joined', 'ada', null],
      ['room.participant_joined', 'علي', null],
      ['room.participant_left', 'علي', 'CLIENT'],
      ['room.participant_left', 'ada', 'ROOM_ENDED'],
      ['room.ended', null, 'CALL'],
    ],
  );
  assert.equal(told.at(-1)?.data.peakParticipants, 2);
});

describe('admission', () => {
  const refused = async (roomId: string, tokens: string[]) => {
    const client = connectRoom(app, roomId, tokens);
    const code = await client.end();
    assert.ok(client.closed?.reason, 'words');
    assert.deepEqual(client.messages, []);
    return code;
  };

  test('a missing, malformed or foreign token and one of an ended or deleted room are rejected', async () => {
    const [id, other] = [await createRoom(app, key), await createRoom(app, key)];
    const token = await mintToken(app, key, id, { identity: 'ada' });
    assert.equal(await refused(id, []), 4401);
    assert.equal(
      await refused(id, ['garbage', `${token}x`, token.replace(/^./, 'A'), 'x'.repeat(5000)]),
      4401,
    );
    assert.equal(await refused(other, [token]), 4401);
    assert.equal(await refused('room_01kafe3n4pfx2v9yq6m8d7t5zr', [token]), 4401);
    await call('POST', `/rooms/${id}/end`);
    assert.equal(await refused(id, [token]), 4410);
    await call('DELETE', `/rooms/${id}`);
    assert.equal(await refused(id, [token]), 4404);
  });

  test('an unknown room URL, or a request without WebSocket, gets the usual response', async () => {
    const plain = await fetch(`${app.url}/rtc/rooms/room_x`);
    assert.equal(plain.status, 400);
    assert.match(await plain.text(), /requires a WebSocket connection/);
    const client = connectRoom(app, '../nothing/here', ['x']);
    assert.equal(await client.end(), 1006);
  });

  test('a viewer cannot send or moderate', async () => {
    const id = await createRoom(app, key);
    const host = await joinRoom(app, key, id, { identity: 'host', role: 'HOST' });
    const who = { identity: 'eve', role: 'VIEWER', permissions: { canPublish: true, canPublishData: false } };
    const eve = await joinRoom(app, key, id, who);
    eve.send({ type: 'state', audio: true, video: true, screen: true });
    eve.send({ type: 'chat', text: 'hello' });
    assert.equal((await eve.next('error')).code, 'PERMISSION_DENIED');
    for (const action of ['kick', 'mute', 'end', 'admit', 'deny', 'record']) {
      eve.send({ type: 'moderate', action, identity: 'host', kind: 'AUDIO' });
      assert.equal((await eve.next('error')).code, 'PERMISSION_DENIED');
    }
    const sdp = 'v=0\r\nm=video 9 UDP/TLS 96\r\na=sendonly\r\n';
    eve.send({ type: 'signal', data: { to: 'host', description: { type: 'offer', sdp } } });
    assert.equal((await eve.next('error')).code, 'BAD_SIGNAL');
    const [, view] = await people(id);
    assert.deepEqual([view.identity, view.tracks], ['eve', []]);
    await Promise.all([host.close(), eve.close()]);
  });

  test('20 concurrent joins get exactly the available seats', async () => {
    const id = await createRoom(app, key, { maxParticipants: 3 });
    const tokens = await Promise.all(
      Array.from({ length: 20 }, (_, n) => mintToken(app, key, id, { identity: `p${n}` })),
    );
    const clients = tokens.map((token) => connectRoom(app, id, [token]));
    const isIn = ({ messages }: RoomClient) => messages.some(({ type }) => type === 'welcome');
    await waitFor(() => clients.every((client) => isIn(client) || client.closed !== null));
    assert.equal(clients.filter(isIn).length, 3);
    assert.ok(clients.every((client) => isIn(client) || client.closed?.code === 4409));
    assert.equal((await room(id)).participantCount, 3);
    clients.filter(isIn)[0]?.send({ type: 'leave' });
    await waitFor(async () => (await room(id)).participantCount === 2);
    const late = await joinRoom(app, key, id, { identity: 'late' });
    await Promise.all(
      [late, ...clients.filter((one) => one.closed === null)].map((client) => client.close()),
    );
  });
});

describe('a seat', () => {
  test('a seat is reserved for a lost connection without a message to the others, and resumed', async () => {
    const id = await createRoom(app, key);
    const ada = await joinRoom(app, key, id, { identity: 'ada' });
    const bob = await joinRoom(app, key, id, { identity: 'bob' });
    bob.send({ type: 'state', audio: true, video: false, screen: false });
    await ada.next('updated', of('bob'));
    bob.cut();
    const { resumeToken } = bob.welcome;
    await waitFor(
      async () =>
        (
          await app.container.sql`
      select 1 from room_participant where room_id = ${id} and disconnected_since is not null`
        ).length === 1,
    );
    const again = connectRoom(app, id, [String(resumeToken)]);
    const { self } = await again.next('welcome');
    assert.deepEqual([Object(self).audio, Object(self).joinedAt], [true, Object(bob.welcome.self).joinedAt]);
    assert.deepEqual(
      (await people(id)).map(({ identity, state }) => [identity, state]),
      [
        ['ada', 'ACTIVE'],
        ['bob', 'ACTIVE'],
      ],
    );
    again.send({ type: 'chat', text: 'back' });
    await ada.next('chat');
    assert.deepEqual(
      ada.messages.filter(({ type }) => type === 'left' || type === 'joined').map(({ type }) => type),
      ['joined'],
    );
    await Promise.all([ada.close(), again.close()]);
  });

  test('a reserved seat is released in the end, and resuming is then rejected', async () => {
    const id = await createRoom(app, key, { departureTimeoutSec: 0 });
    const ada = await joinRoom(app, key, id, { identity: 'ada' });
    const bob = await joinRoom(app, key, id, { identity: 'bob' });
    bob.cut();
    await waitFor(async () => {
      await runTask(app.container, 'rooms');
      return (await room(id)).participantCount === 1;
    });
    assert.equal((await ada.next('left', of('bob'))).reason, 'TIMEOUT');
    const again = connectRoom(app, id, [String(bob.welcome.resumeToken)]);
    assert.equal(await again.end(), 4401);
    await ada.close();
    await waitFor(async () => {
      await runTask(app.container, 'rooms');
      return (await room(id)).status === 'CREATED';
    });
    const told = await eventsOf(id);
    assert.equal(told.at(-1)?.type, 'room.idle');
    const back = await joinRoom(app, key, id, { identity: 'ada' });
    assert.equal((await room(id)).status, 'ACTIVE');
    await back.close();
  });

  test('a seat belongs to the newer connection of an identity', async () => {
    const id = await createRoom(app, key, { maxParticipants: 2 });
    const host = await joinRoom(app, key, id, { identity: 'host', role: 'HOST' });
    const older = await joinRoom(app, key, id, { identity: 'ada' });
    const newer = await joinRoom(app, key, id, { identity: 'ada' });
    assert.equal(await older.end(), 4411);
    assert.equal((await host.next('left', of('ada'))).reason, 'DUPLICATE_IDENTITY');
    await host.next('joined', of('ada'));
    assert.deepEqual(
      (await people(id)).map(({ identity, state, leaveReason }) => [identity, state, leaveReason]),
      [
        ['host', 'ACTIVE', null],
        ['ada', 'LEFT', 'DUPLICATE_IDENTITY'],
        ['ada', 'ACTIVE', null],
      ],
    );
    await Promise.all([host.close(), newer.close()]);
  });
});

describe('moderation', () => {
  test('a host admits, rejects, mutes and removes, and a banned identity stays out until it is unbanned', async () => {
    const id = await createRoom(app, key, { waitingRoom: true });
    const token = await mintToken(app, key, id, { identity: 'bob', name: 'Bob' });
    const bob = connectRoom(app, id, [token]);
    await bob.next('waiting');
    bob.send({ type: 'chat', text: 'let me in' });
    assert.equal((await bob.next('error')).code, 'CONFLICT');
    const host = await joinRoom(app, key, id, { identity: 'host', role: 'HOST' });
    assert.deepEqual((await host.next('waitingRoom')).people, [{ identity: 'bob', name: 'Bob' }]);
    assert.deepEqual(
      (await people(id)).map(({ identity, state }) => [identity, state]),
      [
        ['bob', 'JOINING'],
        ['host', 'ACTIVE'],
      ],
    );
    host.send({ type: 'moderate', action: 'deny', identity: 'bob' });
    assert.equal(await bob.end(), 4403);
    const again = connectRoom(app, id, [token]);
    await host.next('waitingRoom', ({ people: all }) => Array.isArray(all) && all.length === 1);
    host.send({ type: 'moderate', action: 'admit', identity: 'bob' });
    await again.next('welcome');
    await host.next('joined', of('bob'));
    again.send({ type: 'state', audio: true, video: false, screen: false });
    await host.next('updated', of('bob'));
    host.send({ type: 'moderate', action: 'mute', identity: 'bob', kind: 'AUDIO' });
    assert.deepEqual(await again.next('muted'), { type: 'muted', kind: 'AUDIO', muted: true });
    assert.equal(Object((await host.next('updated', of('bob'))).participant).audio, false);
    await call('POST', `/rooms/${id}/participants/bob/mute`, { kind: 'AUDIO', muted: false });
    assert.equal((await again.next('muted')).muted, false);
    host.send({ type: 'moderate', action: 'mute', identity: 'nobody', kind: 'AUDIO' });
    assert.equal((await host.next('error')).code, 'NOT_FOUND');
    host.send({ type: 'moderate', action: 'kick', identity: 'bob' });
    assert.equal(await again.end(), 4403);
    assert.equal((await host.next('left', of('bob'))).reason, 'KICKED');
    assert.equal(await connectRoom(app, id, [token]).end(), 4403);
    assert.equal(
      await connectRoom(app, id, [
        String(again.messages.find(({ type }) => type === 'welcome')?.resumeToken),
      ]).end(),
      4401,
    );
    const body = { identity: 'bob' };
    (await app.request('POST', `/rooms/${id}/tokens`, { key, body })).assertError('CONFLICT', 'identity');
    const gone = { id: 'bob', identity: 'bob', deleted: true };
    assert.deepEqual((await call('DELETE', `/rooms/${id}/bans/bob`)).at('data'), gone);
    const back = connectRoom(app, id, [token]);
    await back.next('waiting');
    await call('POST', `/rooms/${id}/participants/bob/admit`);
    await back.next('welcome');
    assert.deepEqual((await call('DELETE', `/rooms/${id}/participants/bob?ban=false`)).at('data'), gone);
    assert.equal(await back.end(), 4403);
    await connectRoom(app, id, [token]).next('waiting');
    host.send({ type: 'moderate', action: 'record' });
    assert.match(String((await host.next('error')).message), /recordEnabled is false/);
    host.send({ type: 'moderate', action: 'end' });
    assert.equal(await host.end(), 4410);
    assert.equal((await room(id)).endReason, 'CALL');
  });

  test('a deleted room is closed for all participants', async () => {
    const id = await createRoom(app, key);
    const ada = await joinRoom(app, key, id, { identity: 'ada' });
    await call('DELETE', `/rooms/${id}`);
    assert.equal(await ada.end(), 4410);
    (await app.request('GET', `/rooms/${id}`, { key })).assertError('NOT_FOUND');
    assert.equal((await fetch(`${app.url}/r/${id}/token`, joinPage('Ada'))).status, 404);
  });

  test('recording a mesh room returns the reason why it is impossible', async () => {
    const id = await createRoom(app, key, { recordEnabled: true });
    const ada = await joinRoom(app, key, id, { identity: 'ada' });
    const answer = await app.request('POST', `/rooms/${id}/recording/start`, { key });
    assert.match(answer.assertError('CONFLICT').string('error.message'), /without a media server/);
    await ada.close();
  });

  test('the rooms of a suspended account end', async () => {
    const other = await app.createKey();
    const id = await createRoom(app, other.key);
    const token = await mintToken(app, other.key, id, { identity: 'bob' });
    const ada = await joinRoom(app, other.key, id, { identity: 'ada' });
    await app.container.accounts.suspend(other.account.email);
    await runTask(app.container, 'rooms');
    assert.equal((await ada.next('ended')).reason, 'SUSPENDED');
    assert.equal(await ada.end(), 4410);
    assert.equal(await connectRoom(app, id, [token]).end(), 4404);
  });
});

function joinPage(name: string, cookie = ''): RequestInit {
  const headers = { 'content-type': 'application/json', origin: OWN_ORIGIN, cookie };
  return { method: 'POST', headers, body: JSON.stringify({ name }) };
}

test('a guest with the URL enters a name and waits, and a ban covers the browser', async () => {
  const id = await createRoom(app, key);
  const ask = (name: string, cookie?: string) => fetch(`${app.url}/r/${id}/token`, joinPage(name, cookie));
  const foreign = {
    ...joinPage('Eve'),
    headers: { 'content-type': 'application/json', origin: 'https://evil.example' },
  };
  assert.equal((await fetch(`${app.url}/r/${id}/token`, foreign)).status, 403);
  for (const name of ['', ' ', 'x'.repeat(81), '\u0000']) assert.equal((await ask(name)).status, 400, name);
  const answer = await ask(' 阿里  👩‍🏫 ');
  assert.equal(answer.status, 201);
  const { data } = Object(await answer.json());
  assert.deepEqual([data.name, data.role], ['阿里 👩‍🏫', 'SPEAKER']);
  const setCookie = answer.headers.get('set-cookie') ?? '';
  assert.match(setCookie, /HttpOnly; SameSite=Strict/);
  assert.equal(await connectRoom(app, id, [data.token], { origin: 'https://evil.example' }).end(), 4401);
  const guest = connectRoom(app, id, [data.token], { origin: OWN_ORIGIN });
  await guest.next('waiting');
  const cookie = setCookie.split(';')[0];
  const same = Object(await (await ask('Ali', cookie)).json()).data;
  assert.equal(same.identity, data.identity);
  await call('DELETE', `/rooms/${id}/participants/${data.identity}`);
  assert.equal(await guest.end(), 4403);
  assert.equal((await ask('Ali', cookie)).status, 409);
  const elsewhere = await createRoom(app, key);
  const fresh = await fetch(`${app.url}/r/${elsewhere}/token`, joinPage('Ali', cookie));
  assert.notEqual(Object(await fresh.json()).data.identity, data.identity);
});

describe('bad clients', () => {
  test('garbage closes the connection with a reason', async () => {
    const id = await createRoom(app, key);
    for (const text of [
      '',
      'null',
      '{"type":"dance"}',
      '{"type":"chat"}',
      '{"type":"signal","data":[]}',
      '[]',
    ]) {
      const client = await joinRoom(app, key, id, { identity: 'ada' });
      client.raw(text);
      assert.equal(await client.end(), 4400, text);
    }
    const big = await joinRoom(app, key, id, { identity: 'ada' });
    big.send({ type: 'signal', data: { to: 'x', text: 'x'.repeat(270_000) } });
    assert.equal(await big.end(), 1009);
    const fast = await joinRoom(app, key, id, { identity: 'ada' });
    for (let n = 0; n < 200; n++) fast.send({ type: 'ping' });
    assert.equal(await fast.end(), 4429);
  });
});
