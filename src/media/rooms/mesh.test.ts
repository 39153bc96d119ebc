import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidSignalError, type RoomPeer, type Signal } from './engine.ts';
import { createMeshEngine, type SignalRelay } from './mesh.ts';

const ROOM = { roomId: 'room_1', maxParticipants: 4 };
const all = { canPublish: true, canSubscribe: true, canPublishData: true, canScreenShare: true };
const peer = (identity: string, more: Partial<RoomPeer> = {}): RoomPeer => ({
  ...{ identity, name: null, role: 'SPEAKER', permissions: all },
  ...more,
});

/** Creates two nodes that relay to each other. */
function twoNodes() {
  const listeners: Parameters<SignalRelay['subscribe']>[0][] = [];
  const relayTo = (other: number): SignalRelay => ({
    send: (...signal) => listeners[other]?.(...signal),
    subscribe: (listener) => listeners.push(listener),
  });
  return [createMeshEngine({ relay: relayTo(1) }), createMeshEngine({ relay: relayTo(0) })] as const;
}

const HEAD = 'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n';
/** Builds an offer in the form that the platform writes. */
const offer = (...lines: string[]) => ({
  type: 'offer',
  sdp: `${HEAD}m=audio 9 UDP 111\r\nc=IN IP4 0.0.0.0\r\n${lines.map((line) => `a=${line}\r\n`).join('')}m=application 9 UDP 1\r\nc=IN IP4 0.0.0.0\r\n`,
});

test('a signal reaches its recipient, on the same node and on another one, and names its sender', async () => {
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
  await assert.rejects(ada.signal({ candidate: null }), InvalidSignalError);
});

test('signals reach the newer connection of an identity, and the end of the older one leaves it open', async () => {
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

test('a participant without publish permission can only offer to receive', async () => {
  const [engine] = twoNodes();
  const { ref } = await engine.createRoom(ROOM);
  const got: Signal[] = [];
  await engine.connect(ref, peer('ada'), (signal) => got.push(signal));
  const permissions = { ...all, canPublish: false };
  const viewer = await engine.connect(ref, peer('eve', { role: 'VIEWER', permissions }), () => {});
  await viewer.signal({ to: 'ada', description: offer('recvonly') });
  const refused: unknown[] = [
    ...[['sendrecv'], ['sendonly'], ['mid:0'], ['recvonly', 'sendrecv'], ['recvonly', 'SendRecv']].map(
      (lines) => offer(...lines),
    ),
    offer('x:\u2028a=recvonly', 'sendonly'),
    { type: 'offer', sdp: offer('bundle-only', 'sendonly').sdp.replace('audio 9', 'audio 0') },
    { type: 'offer', sdp: offer('recvonly').sdp.replaceAll('\r\n', '\r') },
    { type: 'offer', sdp: [offer('sendrecv').sdp] },
    { type: ['offer'], sdp: offer('recvonly').sdp },
    [offer('sendrecv')],
    offer('sendrecv').sdp,
    { type: 'offer', sdp: HEAD + 'm=audio 9 UDP 111\r\na=inactive\r\n'.repeat(13) },
  ];
  for (const description of refused) {
    await assert.rejects(
      viewer.signal({ to: 'ada', description }),
      InvalidSignalError,
      JSON.stringify(description),
    );
  }
  assert.equal(got.length, 1);
  await viewer.signal({
    to: 'ada',
    description: offer('mid:0', 'sendrecv:x', 'recvonly', 'x:y\u2028a=sendrecv'),
  });
  assert.deepEqual(
    got[1]?.description,
    offer('recvonly', 'mid:0', 'x:y\u2028a=sendrecv'),
    'one direction, and nothing that a browser could take for one',
  );
});
