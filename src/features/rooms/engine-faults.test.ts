import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fastify } from 'fastify';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { TestClock } from '../../../test/harness/clock.ts';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { connectRoom, createRoom, mintToken } from '../../../test/rooms/client.ts';
import { routeUpgrades } from '../../http/web-socket.ts';
import type { EngineParticipant, RoomEngine, RoomEngineEvent } from '../../media/contract/index.ts';
import { createRoomAdmission } from './admission.service.ts';
import { roomGatewayPage } from './gateway.pages.ts';
import { createRoomModeration } from './moderation.service.ts';
import { createRoomRelay } from './relay.ts';
import { createRoomTokens } from './tokens.ts';

/** Creates an engine that records its calls and fails on request. */
function createFakeEngine() {
  const calls: string[] = [];
  const people: EngineParticipant[] = [];
  const listeners: ((event: RoomEngineEvent) => void)[] = [];
  const state = {
    isDown: false,
    calls,
    /** Participants that the engine reports. */
    people,
    tell(event: RoomEngineEvent) {
      for (const listener of listeners) listener(event);
    },
  };
  const note = async (text: string) => {
    if (state.isDown) throw new Error('the engine is down');
    calls.push(text);
  };
  const engine: RoomEngine = {
    name: 'janus',
    caps: { maxParticipants: 10, recording: false, serverMute: true, multiNode: false, bridges: false },
    createRoom: async () => ({ ref: await note('create').then(() => 'ref') }),
    endRoom: (ref) => note(`end ${ref}`),
    async connect(_ref, { identity }) {
      await note(`connect ${identity}`);
      return {
        signal: ({ op }) => (op === 'hang' ? new Promise(() => {}) : note(`signal ${String(op)}`)),
        close: () => note(`close ${identity}`),
      };
    },
    listParticipants: async () => {
      await note('list');
      return state.people;
    },
    removeParticipant: (_ref, identity) => note(`remove ${identity}`),
    setMuted: (_ref, identity, kind, muted) => note(`mute ${identity} ${kind} ${muted}`),
    onEvent: (listener) => listeners.push(listener),
    health: async () => ({ ok: !state.isDown, detail: null }),
    close: async () => {},
  };
  return { engine, state };
}

const { engine, state } = createFakeEngine();
const { calls } = state;
const gateway = fastify();
const clock = new TestClock('2026-11-20T09:00:00.000Z');
let app: TestApp;
let key: string;
let port: number;
before(async () => {
  app = await startTestApp({ clock });
  ({ key } = await app.createKey());
  const deps = { ...app.container, engineMax: () => engine.caps.maxParticipants };
  routeUpgrades(gateway);
  roomGatewayPage({
    ...deps,
    engine,
    entrance: createRoomAdmission(deps),
    moderation: createRoomModeration(deps),
    tokens: createRoomTokens(deps),
    relay: createRoomRelay(deps),
    isOwnOrigin: () => true,
    iceServers: () => [],
  })(gateway);
  await gateway.listen({ port: 0, host: '127.0.0.1' });
  const address = gateway.server.address();
  port = typeof address === 'object' ? (address?.port ?? 0) : 0;
});
after(async () => {
  await gateway.close();
  await app.close();
});

const called = (text: string, times = 1) =>
  waitFor(() => calls.filter((call) => call === text).length >= times, {
    message: () => `${text} in ${calls.join(', ')}`,
  });

const join = async (id: string, identity: string) =>
  connectRoom({ port }, id, [await mintToken(app, key, id, { identity })]);

test('people are notified when the engine fails and recovers, and are reconnected to it', async () => {
  const id = await createRoom(app, key);
  const ada = await join(id, 'ada');
  assert.equal((await ada.next('welcome')).engine, 'janus');
  await called('connect ada');
  ada.send({ type: 'signal', data: { op: 'hello' } });
  await called('signal hello');
  state.isDown = true;
  state.tell({ type: 'down' });
  assert.equal((await ada.next('engine')).state, 'down');
  const bob = await join(id, 'bob');
  await bob.next('welcome');
  assert.equal((await bob.next('engine')).state, 'down', 'who comes meanwhile is in the room, and knows');
  state.isDown = false;
  state.tell({ type: 'up' });
  for (const one of [ada, bob]) assert.equal((await one.next('engine')).state, 'up');
  await called('connect ada', 2);
  await called('connect bob');
  state.tell({ type: 'left', ref: 'ref', identity: 'ada' });
  await called('connect ada', 3);
  assert.equal((await ada.next('engine')).state, 'up');
  const mute = { key, body: { kind: 'VIDEO' } };
  (await app.request('POST', `/rooms/${id}/participants/bob/mute`, mute)).assertOk(200);
  await called('mute bob VIDEO true');
  state.tell({ type: 'ended', ref: 'ref' });
  await called('connect bob', 2);
  await called('mute bob VIDEO true', 2);
  bob.send({ type: 'state', audio: true, video: false, screen: false });
  await ada.next('updated');
  state.tell({ type: 'tracks', ref: 'ref', identity: 'bob', tracks: [] });
  const { participant } = await ada.next('updated');
  assert.equal(Object(participant).audio, false, 'what the engine does not have, nobody hears');
  (await app.request('POST', `/rooms/${id}/end`, { key })).assertOk(200);
  assert.deepEqual([await ada.end(), await bob.end()], [4410, 4410]);
  await called('end ref');
});

test('the check every 30 seconds finds lost events of the engine', async () => {
  const id = await createRoom(app, key);
  const [cy, dan] = [await join(id, 'cy'), await join(id, 'dan')];
  await Promise.all([cy.next('welcome'), dan.next('welcome'), called('connect cy'), called('connect dan')]);
  dan.send({ type: 'state', audio: true, video: true, screen: false });
  await cy.next('updated');
  // The engine has lost one participant, misses a track of another, and still has one who left.
  const camera = { kind: 'VIDEO' as const, muted: false };
  state.people.push({ identity: 'dan', tracks: [camera] }, { identity: 'ghost', tracks: [camera] });
  assert.equal(calls.includes('list'), false);
  clock.advance(30_000);
  await Promise.all([called('remove ghost'), called('connect cy', 2)]);
  const { participant } = await cy.next('updated');
  const { identity, audio, video } = Object(participant);
  assert.deepEqual([identity, audio, video], ['dan', false, true]);
  assert.equal(calls.filter((call) => call === 'connect dan').length, 1, 'who is there stays connected');
  (await app.request('POST', `/rooms/${id}/end`, { key })).assertOk(200);
  await Promise.all([cy.end(), dan.end()]);
});

test('the engine releases a participant whose seat is only reserved', async () => {
  const id = await createRoom(app, key);
  const [hal, ida] = [await join(id, 'hal'), await join(id, 'ida')];
  await Promise.all([hal.next('welcome'), ida.next('welcome'), called('connect hal'), called('connect ida')]);
  hal.cut();
  await called('close hal');
  const isAway = async () => {
    const rows = await app.container.sql`
      select from room_participant where room_id = ${id} and disconnected_since is not null`;
    return rows.length === 1;
  };
  await waitFor(isAway, { message: 'the seat of hal is kept' });
  state.people.splice(
    0,
    state.people.length,
    { identity: 'hal', tracks: [] },
    { identity: 'ida', tracks: [] },
  );
  state.tell({ type: 'joined', ref: 'ref', roomId: id, identity: 'ida' });
  state.tell({ type: 'joined', ref: 'ref', roomId: id, identity: 'hal' });
  await called('remove hal');
  clock.advance(30_000);
  await called('remove hal', 2);
  assert.equal(calls.includes('remove ida'), false, 'who is there stays');
  await ida.close();
});

test('a mute does not wait for queued signals', async () => {
  const id = await createRoom(app, key);
  const gil = await join(id, 'gil');
  await gil.next('welcome');
  await called('connect gil');
  gil.send({ type: 'signal', data: { op: 'hang' } });
  gil.send({ type: 'signal', data: { op: 'late' } });
  const mute = { key, body: { kind: 'AUDIO' } };
  (await app.request('POST', `/rooms/${id}/participants/gil/mute`, mute)).assertOk(200);
  await called('mute gil AUDIO true');
  assert.equal(calls.includes('signal late'), false);
  await gil.close();
});

test('a participant who sends leave and disconnects before it is processed has left', async () => {
  const id = await createRoom(app, key, { departureTimeoutSec: 300 });
  const [eve, fay] = [await join(id, 'eve'), await join(id, 'fay')];
  await Promise.all([eve.next('welcome'), fay.next('welcome')]);
  for (const raised of [true, false, true, false, true]) fay.send({ type: 'hand', raised });
  fay.send({ type: 'leave' });
  await fay.close();
  assert.equal((await eve.next('left')).reason, 'CLIENT');
  await eve.close();
});
