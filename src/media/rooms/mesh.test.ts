import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BadSignal, type RoomPeer, type Signal } from './engine.ts';
import { createMeshEngine, type SignalRelay } from './mesh.ts';

const ROOM = { roomId: 'room_1', maxParticipants: 4 };
const all = { canPublish: true, canSubscribe: true, canPublishData: true, canScreenShare: true };
const peer = (identity: string, more: Partial<RoomPeer> = {}): RoomPeer => ({
  ...{ identity, name: null, role: 'SPEAKER', permissions: all },
  ...more,
});

/** Two nodes that hand on to each other. */
function twoNodes() {
  const listeners: Parameters<SignalRelay['subscribe']>[0][] = [];
  const relayTo = (other: number): SignalRelay => ({
    send: (...signal) => listeners[other]?.(...signal),
    subscribe: (listener) => listeners.push(listener),
  });
  return [createMeshEngine({ relay: relayTo(1) }), createMeshEngine({ relay: relayTo(0) })] as const;
}

const offer = (direction: string) => ({
  type: 'offer',
  sdp: `v=0\r\nm=audio 9 UDP 111\r\na=${direction}\r\nm=application 9 UDP 1\r\n`,
});

test('a signal reaches the one it names, on its node and on another one, and says from whom', async () => {
  const [here, there] = twoNodes();
  const { ref } = await here.createRoom(ROOM);
  assert.equal((await there.createRoom(ROOM)).ref, ref);
  const got: Record<string, Signal[]> = { ada: [], 'Jürgen 🎧': [], علي: [] };
  const into = (name: string) => (signal: Signal) => got[name]?.push(signal);
  const ada = await here.connect(ref, peer('ada'), into('ada'));
  await here.connect(ref, peer('Jürgen 🎧'), into('Jürgen 🎧'));
  const ali = await there.connect(ref, peer('علي'), into('علي'));
  await ada.signal({ to: 'Jürgen 🎧', candidate: { candidate: 'c1' }, from: 'somebody else' });
  await ada.signal({ to: 'علي', description: offer('sendrecv') });
  await ali.signal({ to: 'ada', candidate: null });
  await ada.signal({ to: 'nobody', candidate: null });
  assert.deepEqual(got, {
    ada: [{ candidate: null, from: 'علي' }],
    'Jürgen 🎧': [{ candidate: { candidate: 'c1' }, from: 'ada' }],
    علي: [{ description: offer('sendrecv'), from: 'ada' }],
  });
  await assert.rejects(ada.signal({ candidate: null }), BadSignal);
});

test('the newer connection of an identity has its signals; the older one ends without taking it along', async () => {
  const [engine] = twoNodes();
  const { ref } = await engine.createRoom(ROOM);
  const got: string[] = [];
  const older = await engine.connect(ref, peer('ada'), () => got.push('older'));
  await engine.connect(ref, peer('ada'), () => got.push('newer'));
  const bob = await engine.connect(ref, peer('bob'), () => got.push('bob'));
  await older.close();
  await older.signal({ to: 'bob' });
  await bob.signal({ to: 'ada' });
  assert.deepEqual(got, ['newer']);
  await engine.removeParticipant(ref, 'ada');
  assert.deepEqual(await engine.listParticipants(ref), [{ identity: 'bob', tracks: [] }]);
  await engine.endRoom(ref);
  await bob.signal({ to: 'bob' });
  assert.deepEqual([got, await engine.listParticipants(ref)], [['newer'], []]);
});

test('who may not publish can only offer to receive', async () => {
  const [engine] = twoNodes();
  const { ref } = await engine.createRoom(ROOM);
  const got: Signal[] = [];
  await engine.connect(ref, peer('ada'), (signal) => got.push(signal));
  const permissions = { ...all, canPublish: false };
  const viewer = await engine.connect(ref, peer('eve', { role: 'VIEWER', permissions }), () => {});
  await viewer.signal({ to: 'ada', description: offer('recvonly') });
  for (const direction of ['sendrecv', 'sendonly', 'mid:0']) {
    await assert.rejects(viewer.signal({ to: 'ada', description: offer(direction) }), BadSignal);
  }
  assert.equal(got.length, 1);
});
