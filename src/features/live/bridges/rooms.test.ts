import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { ingestSession, insertAccount } from '../../../../test/harness/factories.ts';
import type { BridgeReport } from '../../../media/contract/index.ts';

let app: TestApp;
before(async () => {
  // Janus does not run: these tests only use the capabilities of the engine.
  app = await startTestApp({ rooms: { name: 'janus', lack: null } });
});
after(() => app.close());

interface Owner {
  key: string;
  streamId: string;
}

async function owner(): Promise<Owner> {
  const account = await insertAccount(app.container.db, { plan: 'VIP' });
  const { key } = await app.createKey({ account });
  const made = await app.request('POST', '/streams', { key, body: { title: 'Friday' } });
  return { key, streamId: made.assertOk(201).string('data.id') };
}

const get = ({ key }: Owner, id: string) => app.request('GET', `/bridges/${id}`, { key });
const port = () => app.container.bridgeRuns.port;
const wantedBy = (nodeId: string) => port().wanted(nodeId, true);
const say = (bridgeId: string, status: BridgeReport['status'], more: Partial<BridgeReport> = {}) => {
  const plain = { endReason: null, message: null, retryCount: 0, retryInMs: null };
  return port().report('node-1', { bridgeId, status, ...plain, ...more });
};

describe('bridges of rooms', () => {
  const room = async ({ key }: Owner, body: object = {}) =>
    (await app.request('POST', '/rooms', { key, body: { name: 'Class', ...body } }))
      .assertOk(201)
      .string('data.id');
  const send = (mine: Owner, body: object) => app.request('POST', '/bridges', { key: mine.key, body });
  const out = (mine: Owner, sourceId: string, more: object = {}) =>
    send(mine, { type: 'ROOM_TO_STREAM', sourceId, targetId: mine.streamId, ...more });
  const into = (mine: Owner, targetId: string, more: object = {}) =>
    send(mine, { type: 'STREAM_TO_ROOM', sourceId: mine.streamId, targetId, ...more });

  test('a room is bridged to a stream until the bridge ends, and shows the ID of that stream', async () => {
    const mine = await owner();
    const roomId = await room(mine);
    const streamOf = async () =>
      (await app.request('GET', `/rooms/${roomId}`, { key: mine.key })).at('data.streamId');
    assert.equal(await streamOf(), null);
    const made = (await out(mine, roomId)).assertOk(201);
    const id = made.string('data.id');
    assert.deepEqual(
      [made.at('data.sourceId'), made.at('data.sourceUrl'), made.at('data.layout')],
      [roomId, null, 'GRID'],
    );
    assert.equal(await streamOf(), mine.streamId);
    assert.ok(
      !(await port().wanted('node-2', false)).some(({ bridgeId }) => bridgeId === id),
      'without an engine',
    );
    const wanted = (await port().wanted('node-1', true)).find(({ bridgeId }) => bridgeId === id);
    assert.deepEqual(wanted, {
      ...{ type: 'ROOM_TO_STREAM', bridgeId: id, streamId: mine.streamId, roomId },
      ...{ layout: 'GRID', autoRestart: false },
    });
    await say(id, 'ACTIVE');
    assert.deepEqual(await port().viewRoom(roomId), { name: 'Class', people: [] });
    (await app.request('POST', `/rooms/${roomId}/end`, { key: mine.key })).assertOk(200);
    assert.equal(await port().viewRoom(roomId), null);
    await app.container.bridgeRuns.sweep();
    const ended = await get(mine, id);
    assert.deepEqual([ended.at('data.status'), ended.at('data.endReason')], ['STOPPED', 'SOURCE_ENDED']);
    assert.equal(await streamOf(), null);
    (await out(mine, roomId)).assertError('CONFLICT', 'sourceId');
  });

  test('a stream that plays in a room takes a seat but is not a person', async () => {
    const mine = await owner();
    const roomId = await room(mine, { maxParticipants: 1 });
    const id = (await into(mine, roomId)).assertOk(201).string('data.id');
    await wantedBy('node-1');
    await say(id, 'CONNECTING');
    const muted = { audio: false, video: false };
    assert.deepEqual(await port().seat(id), { identity: id, maxParticipants: 1, muted });
    const list = await app.request('GET', `/rooms/${roomId}/participants`, { key: mine.key });
    const guest = ['name', 'role', 'bridgeId', 'state'].map((field) => list.at(`data.0.${field}`));
    assert.deepEqual(guest, ['Friday', 'SPEAKER', id, 'ACTIVE']);
    const seen = await app.request('GET', `/rooms/${roomId}`, { key: mine.key });
    assert.deepEqual([seen.at('data.participantCount'), seen.at('data.status')], [1, 'CREATED']);
    // Another stream finds no free seat.
    const made = await app.request('POST', '/streams', { key: mine.key, body: { title: 'Second' } });
    const second = { ...mine, streamId: made.string('data.id') };
    const late = (await into(second, roomId)).assertOk(201).string('data.id');
    await wantedBy('node-1');
    assert.match(String(await port().seat(late)), /The room is full/);
    // The node that plays the bridge gets the mute of a host, and the participant is removed with the bridge.
    const mute = { kind: 'VIDEO' };
    const at = `/rooms/${roomId}/participants/${id}`;
    (await app.request('POST', `${at}/mute`, { key: mine.key, body: mute })).assertOk(200);
    assert.deepEqual(await port().seat(id), {
      identity: id,
      maxParticipants: 1,
      muted: { audio: false, video: true },
    });
    await say(id, 'PENDING', { message: 'The stream has no signal.', retryCount: 1, retryInMs: 1000 });
    await app.container.bridgeRuns.sweep();
    assert.equal(typeof (await port().seat(late)), 'object');
    // A host removes the participant permanently.
    await say(late, 'ACTIVE');
    const kick = await app.request('DELETE', `/rooms/${roomId}/participants/${late}`, { key: mine.key });
    kick.assertOk(200);
    assert.match(String(await port().seat(late)), /A host removed/);
    await app.container.bridgeRuns.sweep();
    assert.equal((await get(mine, late)).at('data.endReason'), 'REMOVED');
  });

  test('a stream is played in a room by the node of the machine that it is published to', async () => {
    const mine = await owner();
    const id = (await into(mine, await room(mine))).assertOk(201).string('data.id');
    const machine = ['node-1', 'node-2'];
    const isWantedBy = async (nodeId: string) =>
      (await port().wanted(nodeId, true, machine)).some(({ bridgeId }) => bridgeId === id);
    assert.ok((await wantedBy('node-1')).some(({ bridgeId }) => bridgeId === id));
    await app.container.signals.publishStarted(ingestSession(mine.streamId, { nodeId: 'node-2' }));
    assert.deepEqual([await isWantedBy('node-1'), await isWantedBy('node-2')], [false, true]);
    assert.equal((await get(mine, id)).at('data.status'), 'PENDING');
  });

  test('invalid input gets an error with the field at fault', async () => {
    const mine = await owner();
    const other = await owner();
    const [roomId, foreign, over] = [await room(mine), await room(other), await room(mine)];
    (await app.request('POST', `/rooms/${over}/end`, { key: mine.key })).assertOk(200);
    (await out(mine, foreign)).assertError('BAD_REQUEST', 'sourceId');
    (await out(mine, roomId, { targetId: other.streamId })).assertError('BAD_REQUEST', 'targetId');
    (await out(mine, over)).assertError('CONFLICT', 'sourceId');
    (await into(mine, foreign)).assertError('BAD_REQUEST', 'targetId');
    (await into(mine, over)).assertError('CONFLICT', 'targetId');
    (await into(mine, roomId, { sourceId: other.streamId })).assertError('BAD_REQUEST', 'sourceId');
    (await into(mine, roomId, { layout: 'GRID' })).assertError('BAD_REQUEST', 'layout');
    (await out(mine, roomId, { sourceUrl: '' })).assertError('BAD_REQUEST', 'sourceUrl');
    (await out(mine, '')).assertError('BAD_REQUEST', 'sourceId');
    (await into(mine, roomId)).assertOk(201);
    (await into(mine, roomId)).assertError('CONFLICT', 'targetId');
    // The room would show itself.
    (await out(mine, roomId)).assertError('CONFLICT', 'targetId');
    (await out(other, foreign)).assertOk(201);
    (await out(other, foreign)).assertError('CONFLICT', 'targetId');
    const busy = await owner();
    await app.container.signals.publishStarted(ingestSession(busy.streamId));
    (await out(busy, await room(busy))).assertError('CONFLICT', 'targetId');
  });
});
