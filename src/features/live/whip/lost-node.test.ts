import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { sdpCaller } from '../../../../test/harness/sdp-request.ts';
import { publishTo } from '../../../../test/harness/whip-node.ts';

const clock = new TestClock();
let app: TestApp;
let streamKey: string;
before(async () => {
  app = await startTestApp({ clock });
  const { key } = await app.createKey();
  const made = await app.request('POST', '/streams', { key, body: { title: 'By WebRTC' } });
  streamKey = made.assertOk(201).string('data.streamKey');
});
after(() => app.close());

const call = sdpCaller(() => app);

/** @returns the URL of the session. */
async function publish(nodeId: string): Promise<string> {
  const { status, session } = await publishTo(app, { nodeId, streamKey });
  assert.equal(status, 201);
  return session;
}

test('a publish is deleted when its media node does not return, and not before', async () => {
  const { whip, signals } = app.container;
  const kept = await publish('node_there');
  const [early, late] = [await publish('node_gone'), await publish('node_gone')];
  const end = async (session: string) => (await call('DELETE', session, {})).status;
  await signals.heartbeat('node_gone', []);
  for (let second = 1; second <= 70; second += 1) {
    clock.advance(1000);
    await signals.heartbeat('node_there', []);
    assert.equal((await whip.port.carried('node_there')).size, 1);
    if (second !== 50) continue;
    await whip.sweep();
    assert.equal(await end(early), 200);
  }
  await whip.sweep();
  assert.equal(await end(late), 404);
  assert.equal(await end(kept), 200);
});
