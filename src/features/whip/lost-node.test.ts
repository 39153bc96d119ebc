import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { TestClock } from '../../../test/harness/clock.ts';
import { sdpCaller } from '../../../test/harness/sdp-request.ts';
import { until } from '../../../test/harness/wait.ts';

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

/** Somebody who publishes by a media node that is this test. @returns the address of the session. */
async function publish(nodeId: string): Promise<string> {
  const { port } = app.container.whip;
  port.isThere();
  const headers = { 'content-type': 'application/sdp', authorization: `Bearer ${streamKey}` };
  const publishing = call('POST', '/whip', headers, 'v=0\r\n');
  const [offered] = await until(async () => {
    const taken = await port.take(nodeId);
    return taken.length > 0 && taken;
  });
  await port.answered(offered?.sessionId ?? '', 'v=0\r\n');
  const { status, headers: answered } = await publishing;
  assert.equal(status, 201);
  return answered.get('location') ?? '';
}

test('a publish is forgotten when its media node does not come back, and not before', async () => {
  const { whip } = app.container;
  const kept = await publish('node_there');
  const [early, late] = [await publish('node_gone'), await publish('node_gone')];
  const end = async (session: string) => (await call('DELETE', session, {})).status;
  for (let second = 1; second <= 70; second += 1) {
    clock.advance(1000);
    assert.equal((await whip.port.carried('node_there')).size, 1);
    if (second !== 50) continue;
    await whip.sweep();
    assert.equal(await end(early), 200);
  }
  await whip.sweep();
  assert.equal(await end(late), 404);
  assert.equal(await end(kept), 200);
});
