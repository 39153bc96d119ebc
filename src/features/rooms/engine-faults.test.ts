import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fastify } from 'fastify';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { until } from '../../../test/harness/wait.ts';
import { connectRoom, createRoom, mintToken } from '../../../test/rooms/client.ts';
import { routeUpgrades } from '../../http/web-socket.ts';
import type { RoomEngine, RoomEngineEvent } from '../../media/contract/index.ts';
import {
  createRoomEntrance,
  createRoomModeration,
  createRoomRelay,
  createRoomTokens,
  roomGatewayPage,
} from './index.ts';

/** An engine that notes what it is asked, and fails when it is to. */
function madeUpEngine() {
  const calls: string[] = [];
  const listeners: ((event: RoomEngineEvent) => void)[] = [];
  const state = {
    isDown: false,
    calls,
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
    caps: { maxParticipants: 10, recording: false, serverMute: true, multiNode: false },
    createRoom: async () => ({ ref: await note('create').then(() => 'ref') }),
    endRoom: (ref) => note(`end ${ref}`),
    async connect(_ref, { identity }) {
      await note(`connect ${identity}`);
      return { signal: ({ op }) => note(`signal ${String(op)}`), close: () => note(`close ${identity}`) };
    },
    listParticipants: async () => [],
    removeParticipant: (_ref, identity) => note(`remove ${identity}`),
    setMuted: (_ref, identity, kind, muted) => note(`mute ${identity} ${kind} ${muted}`),
    startRecording: () => note('record'),
    stopRecording: async () => [],
    onEvent: (listener) => listeners.push(listener),
    health: async () => ({ ok: !state.isDown, detail: null }),
    close: async () => {},
  };
  return { engine, state };
}

const { engine, state } = madeUpEngine();
const { calls } = state;
const gateway = fastify();
let app: TestApp;
let key: string;
let port: number;
before(async () => {
  app = await startTestApp();
  ({ key } = await app.createKey());
  const deps = { ...app.container, engineMax: () => engine.caps.maxParticipants };
  routeUpgrades(gateway);
  roomGatewayPage({
    ...deps,
    engine,
    entrance: createRoomEntrance(deps),
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
  until(() => calls.filter((call) => call === text).length >= times, {
    message: () => `${text} in ${calls.join(', ')}`,
  });

test('people are told when the engine goes and comes, and are connected to it anew', async () => {
  const id = await createRoom(app, key);
  const join = async (identity: string) =>
    connectRoom({ port }, id, [await mintToken(app, key, id, { identity })]);
  const ada = await join('ada');
  assert.equal((await ada.next('welcome')).engine, 'janus');
  await called('connect ada');
  ada.send({ type: 'signal', data: { op: 'hello' } });
  await called('signal hello');
  state.isDown = true;
  state.tell({ type: 'down' });
  assert.equal((await ada.next('engine')).state, 'down');
  const bob = await join('bob');
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
