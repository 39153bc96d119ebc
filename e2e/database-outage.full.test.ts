import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../test/harness/wait-for.ts';
import {
  type OutageNodes,
  type OutageStream,
  pollSegments,
  startOutageNodes,
} from '../test/live/outage-nodes.ts';

/** Longer than the time after which a silent media node counts as lost, and than that of restricted media. */
const OUTAGE_SEGMENTS = 25;
let nodes: OutageNodes;
let streams: [OutageStream, OutageStream];
before(async () => {
  nodes = await startOutageNodes();
  streams = [await nodes.onAir('PUBLIC'), await nodes.onAir('PRIVATE')];
});
after(() => nodes?.close());

const sessionsOf = async ({ id }: OutageStream) => {
  const { data } = await nodes.partner.call('GET', `/streams/${id}/sessions`);
  assert.ok(Array.isArray(data));
  return data.length;
};
/** Each stream has one session, and the encoder connection that it began with. */
const isUndisturbed = async () => {
  for (const stream of streams) {
    const { hasSignal, isLive } = await nodes.partner.stream(stream.id);
    assert.deepEqual([hasSignal, isLive, await sessionsOf(stream)], [true, true, 1]);
    process.kill(stream.encoder.pid, 0);
  }
  return true;
};

for (const [name, begin, end] of [
  ['stopped', () => nodes.database.stop(), () => nodes.database.start()],
  ['frozen', () => nodes.database.freeze(), () => nodes.database.resume()],
] as const) {
  test(`broadcasts outlast a database that is ${name} for most of a minute`, async () => {
    await begin();
    try {
      assert.deepEqual(await pollSegments(nodes.node.url, streams, OUTAGE_SEGMENTS), [200]);
    } finally {
      await end();
    }
    await waitFor(isUndisturbed, { timeoutMs: 10_000 });
    // Longer than the sweep needs to find a media node that it takes for lost.
    await sleep(25_000);
    await isUndisturbed();
    assert.deepEqual(await pollSegments(nodes.node.url, streams, 1), [200]);
  });
}
