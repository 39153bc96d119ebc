import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { decodeJwt, jwtVerify } from 'jose';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { connectRoom, createRoom, joinRoom, type RoomClient } from '../../../test/rooms/client.ts';
import { type LivekitStub, type StubPerson, startLivekitStub } from '../../../test/rooms/livekit-stub.ts';
import { ROOM_RECORDER_TOPIC } from './recorder.ts';

let stub: LivekitStub;
let first: TestApp;
let second: TestApp;
let key: string;
before(async () => {
  stub = await startLivekitStub();
  const options = { env: { ...stub.env, TRUST_PROXY: '1' }, rooms: { name: 'livekit', lack: null } as const };
  first = await startTestApp(options);
  second = await startTestApp({ ...options, beside: first });
  ({ key } = await first.createKey({ account: await first.createAccount({ plan: 'PRO' }) }));
});
after(async () => {
  await second.close();
  await first.close();
  stub.close();
});

const called = (call: string) =>
  waitFor(() => stub.calls.includes(call), { message: () => `${call} in ${stub.calls.join(', ')}` });

/** Requests a token as the browser does. */
async function tokenFor(client: RoomClient): Promise<string> {
  client.send({ type: 'signal', data: { op: 'hello' } });
  const { data } = await client.next('signal', ({ data }) => Object(data).op === 'token');
  assert.equal(Object(data).url, stub.env.LIVEKIT_URL);
  return String(Object(data).token);
}

/** Simulates the arrival of the token's holder at LiveKit. */
function come(roomId: string, token: string): void {
  const { sub = '', attributes } = decodeJwt<{ attributes: Record<string, string> }>(token);
  stub.people.set(roomId, [...(stub.people.get(roomId) ?? []), { identity: sub, attributes }]);
}

async function post(app: TestApp, { body, authorization }: { body: string; authorization?: string }) {
  const headers = {
    'content-type': 'application/webhook+json',
    ...(authorization === undefined ? {} : { authorization }),
  };
  return fetch(`${app.url}/rtc/livekit/webhook`, { method: 'POST', headers, body });
}

test('only the gateway issues tokens, short-lived and with the permissions of the participant', async () => {
  const id = await createRoom(first, key, { maxParticipants: 3, recordEnabled: true });
  const ada = await joinRoom(first, key, id, { identity: 'ada', role: 'HOST' });
  assert.equal(ada.welcome.engine, 'livekit');
  assert.equal(ada.welcome.canRecord, false);
  const secret = Buffer.from(stub.env.LIVEKIT_API_SECRET);
  const read = async (client: RoomClient) => (await jwtVerify(await tokenFor(client), secret)).payload;
  const { sub, iss, exp = 0, nbf = 0, video } = await read(ada);
  assert.deepEqual([sub, iss], ['ada', stub.env.LIVEKIT_API_KEY]);
  assert.ok(exp - nbf <= 60);
  const all = ['microphone', 'camera', 'screen_share', 'screen_share_audio'];
  const rights = { roomJoin: true, room: id, canSubscribe: true, canPublishData: false };
  assert.deepEqual(video, { ...rights, canPublish: true, canPublishSources: all });
  const long = '𝄞'.repeat(64);
  const viewer = await joinRoom(first, key, id, { identity: long, role: 'VIEWER' });
  const { sub: digest, attributes, video: few } = await read(viewer);
  assert.match(String(digest), /^sha256:.{43}$/);
  assert.equal(Object(attributes).identity, long);
  assert.deepEqual(few, { ...rights, canPublish: false, canPublishSources: [] });
  const permissions = { canScreenShare: false };
  const eve = await joinRoom(second, key, id, { identity: 'eve', permissions });
  assert.deepEqual(Object((await read(eve)).video).canPublishSources, all.slice(0, 2));
  eve.send({ type: 'signal', data: { op: 'publish' } });
  assert.equal((await eve.next('error')).code, 'BAD_SIGNAL');

  const page = await fetch(`${first.url}/r/${id}`, { headers: { host: 'marquee.test' } });
  const policy = page.headers.get('content-security-policy') ?? '';
  const { host } = new URL(stub.env.LIVEKIT_URL);
  assert.ok(policy.includes(`connect-src 'self' ws://${host} http://${host};`), policy);
  const refused = await first.request('POST', `/rooms/${id}/recording/start`, { key });
  refused.assertError('CONFLICT');
  assert.match(refused.string('error.message'), /LiveKit.*requires Janus/);
  // Simulates the report of a media role, sent every second, that it can record.
  first.container.bus.publish(ROOM_RECORDER_TOPIC);
  const shown = async () => (await first.request('GET', `/rooms/${id}`, { key })).assertOk(200);
  assert.equal((await shown()).at('data.canRecord'), true);
  (await first.request('POST', `/rooms/${id}/recording/start`, { key })).assertOk(200);
  assert.equal((await ada.next('recording')).on, true);
  (await first.request('POST', `/rooms/${id}/end`, { key })).assertOk(200);
  assert.deepEqual([await ada.end(), await eve.end()], [4410, 4410]);
  await called(`DeleteRoom ${id}`);
});

test('a mute revokes the source, also from a participant who joins with an earlier token', async () => {
  const id = await createRoom(first, key);
  const bob = await joinRoom(second, key, id, { identity: 'bob' });
  const token = await tokenFor(bob);
  const mute = (body: object) => first.request('POST', `/rooms/${id}/participants/bob/mute`, { key, body });
  (await mute({ kind: 'VIDEO' })).assertOk(200);
  await called(`UpdateParticipant ${id} bob`);
  const sourcesOf = () => Object(stub.said(`UpdateParticipant ${id} bob`)?.permission).canPublishSources;
  assert.deepEqual(sourcesOf(), ['MICROPHONE', 'SCREEN_SHARE', 'SCREEN_SHARE_AUDIO']);
  stub.calls.length = 0;
  come(id, token);
  const joined = { event: 'participant_joined', room: { name: id }, participant: { identity: 'bob' } };
  assert.equal((await post(first, await stub.message(joined))).status, 204);
  await called(`UpdateParticipant ${id} bob`);
  assert.deepEqual(decodeJwt(await tokenFor(bob)).attributes, {
    ...Object(decodeJwt(token).attributes),
    muted: 'VIDEO',
  });
  (await mute({ kind: 'VIDEO', muted: false })).assertOk(200);
  await waitFor(() => sourcesOf().length === 4);
  await bob.close();
});

test('an earlier token gets the rights of the seat, and tracks under a false name are removed', async () => {
  const id = await createRoom(first, key);
  const bob = await joinRoom(first, key, id, { identity: 'bob' });
  const token = await tokenFor(bob);
  const says = async (event: string) => {
    const message = { event, room: { name: id }, participant: { identity: 'bob' } };
    assert.equal((await post(first, await stub.message(message))).status, 204);
  };
  const rightsOf = () => Object(stub.said(`UpdateParticipant ${id} bob`)?.permission);

  // Another connection of the same seat, which is now muted.
  const again = connectRoom(first, id, [String(bob.welcome.resumeToken)]);
  await again.next('welcome');
  const mute = { key, body: { kind: 'AUDIO' } };
  (await first.request('POST', `/rooms/${id}/participants/bob/mute`, mute)).assertOk(200);
  await called(`UpdateParticipant ${id} bob`);
  stub.calls.length = 0;
  come(id, token);
  await says('participant_joined');
  await called(`UpdateParticipant ${id} bob`);
  assert.deepEqual(rightsOf().canPublishSources, ['CAMERA', 'SCREEN_SHARE']);

  // Simulates a newer stay with another role.
  stub.people.delete(id);
  const viewer = await joinRoom(first, key, id, { identity: 'bob', role: 'VIEWER' });
  const { sub, attributes } = decodeJwt(await tokenFor(viewer));
  const permission = { canPublish: true, canSubscribe: true, canPublishSources: ['CAMERA'] };
  const him: StubPerson = { identity: String(sub), attributes: Object(attributes), permission };
  stub.people.set(id, [him]);
  stub.calls.length = 0;
  await says('participant_joined');
  await called(`UpdateParticipant ${id} bob`);
  assert.equal(rightsOf().canPublish ?? false, false);

  him.permission = { canPublish: false, canSubscribe: true };
  him.tracks = [{ sid: 'TR_1', type: 'VIDEO', source: 'MICROPHONE' }];
  await says('track_published');
  await called(`RemoveParticipant ${id} bob`);
  await viewer.close();
});

test('a kicked participant is removed, and removed again when they return with an old token', async () => {
  const id = await createRoom(first, key);
  const ada = await joinRoom(first, key, id, { identity: 'ada', role: 'HOST' });
  const bob = await joinRoom(second, key, id, { identity: 'bob' });
  const [hers, his] = [await tokenFor(ada), await tokenFor(bob)];
  come(id, hers);
  come(id, his);
  ada.send({ type: 'moderate', action: 'kick', identity: 'bob' });
  assert.equal(await bob.end(), 4403);
  await called(`RemoveParticipant ${id} bob`);
  await waitFor(() => stub.people.get(id)?.length === 1);
  stub.calls.length = 0;
  // One of the participants that pass media to the recorder.
  const visitor = { identity: 'marquee:1' };
  stub.people.get(id)?.push(visitor);
  come(id, his);
  const elsewhere = 'room_of_somebody_else';
  for (const [name, identity] of [
    [elsewhere, 'bob'],
    [id, 'ada'],
    [id, visitor.identity],
    [id, 'bob'],
  ] as const) {
    const joined = { event: 'participant_joined', room: { name }, participant: { identity } };
    assert.equal((await post(second, await stub.message(joined))).status, 204);
  }
  await called(`RemoveParticipant ${id} bob`);
  assert.deepEqual(
    stub.people.get(id)?.map(({ identity }) => identity),
    ['ada', visitor.identity],
  );
  const engine = first.container.roomEngine();
  assert.deepEqual(
    (await engine.listParticipants(id)).map(({ identity }) => identity),
    ['ada'],
  );
  assert.ok(!stub.calls.some((call) => call.includes(elsewhere)));
  await ada.close();
});

test('a participant whose media LiveKit has lost is reconnected, and missing tracks are not shown', async () => {
  const id = await createRoom(first, key);
  const ada = await joinRoom(first, key, id, { identity: 'ada' });
  const bob = await joinRoom(second, key, id, { identity: 'bob' });
  const tell = async (event: string) => {
    const message = { event, room: { name: id }, participant: { identity: 'bob' } };
    const before = stub.looks.get(id) ?? 0;
    assert.equal((await post(first, await stub.message(message))).status, 204);
    // Both nodes have a participant in the room.
    await waitFor(() => (stub.looks.get(id) ?? 0) >= before + 2, { message: 'both nodes look' });
  };
  come(id, await tokenFor(bob));
  bob.send({ type: 'state', audio: false, video: true, screen: false });
  assert.equal(Object((await ada.next('updated')).participant).video, true);
  const [him] = stub.people.get(id) ?? [];
  assert.ok(him !== undefined);
  him.tracks = [{ sid: 'TR_1', type: 'VIDEO', source: 'CAMERA' }];
  await tell('track_published');
  him.tracks = [];
  await tell('track_unpublished');
  assert.equal(Object((await ada.next('updated')).participant).video, false);
  stub.people.delete(id);
  await tell('participant_left');
  assert.equal((await bob.next('engine')).state, 'up');
  come(id, await tokenFor(bob));
  await Promise.all([ada.close(), bob.close()]);
});

test('a message that LiveKit has not signed is rejected with the reason', async () => {
  const event = { event: 'room_finished', room: { name: 'room_none' } };
  const good = await stub.message(event);
  for (const [bad, reason] of [
    [{ body: good.body }, /no Authorization header/],
    [{ ...good, body: `${good.body} ` }, /Invalid signature/],
    [{ ...good, authorization: 'Bearer nonsense' }, /Invalid signature/],
    [await stub.message(event, 'another secret of thirty-two chars'), /Invalid signature/],
  ] as const) {
    const answer = await post(first, bad);
    assert.equal(answer.status, 401);
    assert.match(await answer.text(), reason);
  }
  assert.equal((await post(first, { ...good, body: 'x'.repeat(100_000) })).status, 413);
  assert.equal((await post(first, good)).status, 204);
});

test('people are notified when LiveKit fails and recovers, and LiveKit gets the changes it missed', async () => {
  const [id, other] = [await createRoom(first, key), await createRoom(first, key)];
  const ada = await joinRoom(first, key, id, { identity: 'ada' });
  const bob = await joinRoom(first, key, other, { identity: 'bob' });
  come(other, await tokenFor(bob));
  await tokenFor(ada);
  const begun = performance.now();
  stub.isDown = true;
  assert.equal((await ada.next('engine')).state, 'down');
  assert.ok(performance.now() - begun < 5000);
  assert.equal((await first.container.roomEngine().health()).ok, false);
  (await first.request('POST', `/rooms/${other}/end`, { key })).assertOk(200);
  assert.equal(await bob.end(), 4410);
  stub.isDown = false;
  assert.equal((await ada.next('engine')).state, 'up');
  await called(`DeleteRoom ${other}`);
  assert.deepEqual(await first.container.roomEngine().health(), { ok: true, detail: null });
  await tokenFor(ada);
  await ada.close();
});
