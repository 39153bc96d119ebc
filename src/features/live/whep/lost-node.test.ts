import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { ingestSession } from '../../../../test/harness/factories.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';

const clock = new TestClock();
const NODE = 'node_whep';
let app: TestApp;
before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());

/** Starts a viewer; this test acts as the media node. @returns the session. */
async function watch(): Promise<string> {
  const { key } = await app.createKey();
  const made = await app.request('POST', '/streams', { key, body: { title: 'By WebRTC' } });
  const id = made.assertOk(201).string('data.id');
  await app.container.signals.publishStarted(ingestSession(id));
  (await app.request('POST', `/streams/${id}/start`, { key })).assertOk(200);
  const { port } = app.container.whep;
  port.isThere();
  const headers = { 'content-type': 'application/sdp' };
  const playing = fetch(`${app.url}/whep/${id}`, { method: 'POST', headers, body: 'v=0\r\n' });
  const [offered] = await waitFor(async () => {
    const taken = await port.take(NODE, [id]);
    return taken.length > 0 && taken;
  });
  const sessionId = offered?.sessionId ?? '';
  await port.answered(sessionId, 'v=0\r\n');
  assert.equal((await playing).status, 201);
  return sessionId;
}

test('a viewer stays as long as the media node reports that it serves them', async () => {
  const { whep } = app.container;
  const sessionId = await watch();
  const carried = () => whep.port.carried(NODE, new Map([[sessionId, 1000]]));
  for (let second = 0; second < 30; second += 1) {
    clock.advance(1000);
    await whep.look();
    assert.ok((await carried()).has(sessionId), `after ${second + 1} s`);
  }
  // The node dies and sends no reports.
  for (let second = 0; second < 21; second += 1) {
    clock.advance(1000);
    await whep.look();
  }
  assert.equal((await carried()).size, 0);
});
