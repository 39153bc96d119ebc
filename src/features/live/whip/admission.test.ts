import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { ingestSession } from '../../../../test/harness/factories.ts';
import { sdpCaller } from '../../../../test/harness/sdp-request.ts';
import { publishTo } from '../../../../test/harness/whip-node.ts';

const NODE = 'node';
let app: TestApp;
let key: string;
before(async () => {
  app = await startTestApp();
  ({ key } = await app.createKey());
});
after(() => app.close());

const call = sdpCaller(() => app);

async function createStream(by = key) {
  const made = await app.request('POST', '/streams', { key: by, body: { title: 'By WebRTC' } });
  const streamKey = made.assertOk(201).string('data.streamKey');
  const id = made.string('data.id');
  return {
    id,
    path: `/streams/${id}`,
    streamKey,
    publish: () => publishTo(app, { nodeId: NODE, streamKey }),
  };
}

const rotate = (path: string) => app.request('POST', `${path}/rotate-key`, { key });
const ENDS: Readonly<Record<string, (path: string, id: string) => Promise<unknown>>> = {
  'another key': rotate,
  'a stream that is disabled': (path) => app.request('PATCH', path, { key, body: { enabled: false } }),
  'a stream that is deleted': (path) => app.request('DELETE', path, { key }),
  'a stream that is taken down': (_path, id) =>
    app.container.streamTakedowns.takeDown(id, 'It is not theirs.'),
};
for (const [what, end] of Object.entries(ENDS)) {
  test(`${what} ends connections that have not published`, async () => {
    const [stream, other] = [await createStream(), await createStream()];
    const sessions = [await stream.publish(), await stream.publish(), await other.publish()];
    assert.equal((await app.container.whip.port.carried(NODE)).size, 3);
    await end(stream.path, stream.id);
    assert.equal((await app.container.whip.port.carried(NODE)).size, 1);
    const seen = await Promise.all(sessions.map(({ session }) => call('GET', session, {})));
    assert.deepEqual(
      seen.map(({ status }) => status),
      [404, 404, 204],
    );
    assert.equal((await call('DELETE', sessions[2]?.session ?? '', {})).status, 200);
  });
}

test('a key that changes between the offer and the first frame is rejected', async () => {
  const { signals, events } = app.container;
  const { id, path, streamKey } = await createStream();
  const asked = { key: streamKey, app: 'live', ip: '127.0.0.1', protocol: 'rtmp' } as const;
  const grants = [await signals.authorise(asked), await signals.admitEncoder(id)];
  await rotate(path);
  for (const grant of grants) {
    assert.ok(grant !== null && typeof grant !== 'string');
    await assert.rejects(signals.publishStarted(ingestSession(id, { grant })), /its key was changed/);
    const refusal = await events.transaction((tx, append) => signals.admitOffer({ tx, append }, grant));
    assert.equal(refusal?.code, 'UNAUTHORIZED');
  }
  const fresh = await signals.admitEncoder(id);
  assert.ok(typeof fresh !== 'string');
  await signals.publishStarted(ingestSession(id, { grant: fresh }));
  assert.equal((await app.request('GET', path, { key })).at('data.hasSignal'), true);
});

test('pending publishes by WHIP never exceed the encoders of the plan', async () => {
  const { signals } = app.container;
  const { key: mine } = await app.createKey({ account: await app.createAccount({ plan: 'FREE' }) });
  const [first, second, third] = [
    await createStream(mine),
    await createStream(mine),
    await createStream(mine),
  ];
  const waiting = [await first.publish(), await second.publish()];
  const refused = async () => {
    const headers = { 'content-type': 'application/sdp', authorization: `Bearer ${third.streamKey}` };
    const { status, error } = await call('POST', '/whip', headers, 'v=0\r\n');
    assert.deepEqual([status, error.code], [403, 'QUOTA_EXCEEDED']);
    assert.match(String(error.message), /The plan limit of concurrent encoders is reached/);
  };
  await refused();
  const shown = await app.request('GET', third.path, { key: mine });
  assert.deepEqual(shown.at('data.health.issues'), ['ENCODERS_OVER_PLAN']);
  // A takeover, and the publish of a waiting encoder, do not count as further encoders.
  waiting.push(await second.publish());
  await signals.publishStarted(ingestSession(first.id, { protocol: 'whip' }));
  await refused();
  assert.deepEqual(
    waiting.map(({ status }) => status),
    [201, 201, 201],
  );
  for (const { session } of waiting.slice(1)) await call('DELETE', session, {});
  assert.equal((await third.publish()).status, 201);
  // It takes no slot of a publishing encoder.
  await signals.publishStarted(ingestSession(second.id));
});
