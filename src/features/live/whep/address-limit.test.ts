import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { ingestSession } from '../../../../test/harness/factories.ts';
import { type SdpAnswer, sdpCaller } from '../../../../test/harness/sdp-request.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';

const clock = new TestClock();
const NODE = 'node_whep';
const SEATS = 3;
let app: TestApp;
let id: string;
before(async () => {
  const env = { WHEP_MAX_VIEWERS_PER_ADDRESS: String(SEATS), TRUST_PROXY: '1' };
  app = await startTestApp({ clock, env });
  const { key } = await app.createKey();
  const made = await app.request('POST', '/streams', { key, body: { title: 'By WebRTC' } });
  id = made.assertOk(201).string('data.id');
  await app.container.signals.publishStarted(ingestSession(id));
  (await app.request('POST', `/streams/${id}/start`, { key })).assertOk(200);
});
after(() => app.close());

const call = sdpCaller(() => app);

/** Sends concurrent offers of viewers; this test acts as the media node. */
async function watch(count: number, ip: string): Promise<SdpAnswer[]> {
  const { port } = app.container.whep;
  port.isThere();
  const headers = { 'content-type': 'application/sdp', 'x-forwarded-for': ip };
  let left = count;
  const asked = Array.from({ length: count }, () =>
    call('POST', `/whep/${id}`, headers, 'v=0\r\n').finally(() => {
      left -= 1;
    }),
  );
  await waitFor(async () => {
    for (const { sessionId } of await port.take(NODE, [id])) await port.answered(sessionId, 'v=0\r\n');
    return left === 0;
  });
  return Promise.all(asked);
}

const statuses = (answers: readonly SdpAnswer[]) => answers.map(({ status }) => status).sort();

test('one IP address gets its maximum of concurrent viewers', async () => {
  const [first, ...others] = (await watch(SEATS + 3, '203.0.113.7')).sort((a, b) => a.status - b.status);
  assert.deepEqual(statuses(others), [...Array(SEATS - 1).fill(201), 429, 429, 429]);
  const refused = others.at(-1);
  assert.equal(refused?.error.code, 'RATE_LIMITED');
  assert.ok(Number(refused?.headers.get('retry-after')) > 0);
  assert.deepEqual(statuses(await watch(1, '203.0.113.8')), [201], 'others are not counted with it');

  const session = first?.headers.get('location') ?? '';
  assert.equal((await call('DELETE', session, {})).status, 200);
  assert.deepEqual(statuses(await watch(2, '203.0.113.7')), [201, 429]);

  // They are neither admitted nor served any longer.
  clock.advance(30_000);
  assert.deepEqual(statuses(await watch(1, '203.0.113.7')), [201]);
});

test('an IPv6 network counts as one address', async () => {
  const answers = [
    ...(await watch(2, '2a00:1450:4001:81a::1')),
    ...(await watch(2, '2a00:1450:4001:81a:ffff::2')),
    ...(await watch(1, '2a00:1450:4001:81b::1')),
  ];
  assert.deepEqual(statuses(answers), [201, 201, 201, 201, 429]);
});
