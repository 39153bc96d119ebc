import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { waitFor } from '../test/harness/wait-for.ts';
import {
  type OutageNodes,
  type OutageStream,
  poll,
  pollSegments,
  startOutageNodes,
} from '../test/live/outage-nodes.ts';

let nodes: OutageNodes;
let streams: [OutageStream, OutageStream];
before(async () => {
  nodes = await startOutageNodes();
  streams = [await nodes.onAir('PUBLIC'), await nodes.onAir('PRIVATE')];
});
after(() => nodes?.close());

const create = () =>
  fetch(`${nodes.node.api}/streams`, {
    method: 'POST',
    headers: { authorization: 'Bearer pk_0123456789abcdef0123456789abcdef01234567' },
  });
/** Broadcasts have the encoder connections that they began with. */
const isUndisturbed = async () => {
  for (const { id, encoder } of streams) {
    const { hasSignal, isLive } = await nodes.partner.stream(id);
    assert.deepEqual([hasSignal, isLive], [true, true]);
    process.kill(encoder.pid, 0);
  }
  return true;
};

test('broadcasts continue for encoders and viewers while the database is stopped, and the same after it is back', async () => {
  await nodes.database.stop();
  assert.deepEqual(await pollSegments(nodes.node.url, streams, 3), [200]);
  const refused = await create();
  assert.equal(refused.status, 503);
  await nodes.database.start();
  await waitFor(isUndisturbed, { timeoutMs: 10_000 });
  assert.deepEqual(await pollSegments(nodes.node.url, streams, 1), [200]);
});

test('broadcasts continue for encoders and viewers while the database is frozen', async () => {
  await nodes.database.freeze();
  try {
    assert.deepEqual(await pollSegments(nodes.node.url, streams, 3), [200]);
  } finally {
    await nodes.database.resume();
  }
  await waitFor(isUndisturbed, { timeoutMs: 10_000 });
});

test('a node that is cut off from the database learns of a stop from the media node', async () => {
  const viewerNode = await nodes.startViewerNode();
  assert.deepEqual(await pollSegments(viewerNode.url, streams, 1), [200]);
  await viewerNode.cutOff();
  assert.deepEqual(await pollSegments(viewerNode.url, streams, 2), [200]);
  for (const stream of streams) {
    await nodes.partner.stop(stream.id);
    await waitFor(async () => (await poll(viewerNode.url, stream)).statuses.join() === '404,404', {
      message: 'the stopped broadcast ends for its viewers',
    });
  }
});
