import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { openTail, type TailClient } from '../../../../test/harness/tail.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { type Runs, restreamRuns } from '../../../../test/restream/runs.ts';

const clock = new TestClock();
let app: TestApp;
let runs: Runs;
before(async () => {
  app = await startTestApp({ clock });
  runs = restreamRuns(app, clock);
});
after(() => app.close());

const run: Runs['run'] = (...given) => runs.run(...given);
const port = () => runs.port();
const wanted: Runs['wanted'] = (...given) => runs.wanted(...given);
const say: Runs['say'] = (...given) => runs.say(...given);

test('from signal to stop, a restream pushes its targets, shows their state and emits events', async () => {
  const one = await run();
  assert.deepEqual(await wanted(one), []);
  await one.connect();
  assert.deepEqual(await wanted(one), [], 'a preview is not sent on');
  await one.call('POST', `/streams/${one.streamId}/start`);
  const pushes = await wanted(one);
  assert.deepEqual(
    pushes.map(({ streamKey, url, streamId }) => [streamKey, url, streamId]),
    [1, 2].map((n) => [`stream-key-${n}`, 'rtmp://live.example.com/app', one.streamId]),
  );
  assert.equal(await one.status(), 'STARTING');
  await say(one, 0, 'CONNECTING');
  await say(one, 0, 'BROADCASTING');
  assert.equal(await one.status(), 'DEGRADED');
  await say(one, 1, 'BROADCASTING');
  assert.equal(await one.status(), 'ACTIVE');
  await port().wanted('node-1', new Map([[one.targets[0] ?? '', 2500.4]]));
  const shown = await one.call('GET', `/restreams/${one.restreamId}`);
  assert.equal(shown.at('data.targets.0.bitrateKbps'), 2500);
  assert.equal(shown.string('data.targets.0.connectedAt'), clock.now().toISOString());
  const failure = { severity: 'NORMAL', message: 'It is gone.', retryCount: 1, retryInMs: 1000 } as const;
  await say(one, 1, 'ERRORED', failure);
  const failed = await one.call('GET', `/restreams/${one.restreamId}`);
  assert.equal(failed.string('data.targets.1.errorMessage'), 'It is gone.');
  assert.equal(Date.parse(failed.string('data.targets.1.nextRetryAt')), clock.ms() + 1000);
  await say(one, 1, 'ERRORED', { ...failure, retryCount: 2 });
  await say(one, 1, 'BROADCASTING', { retryCount: 2 });
  const again = await one.call('GET', `/restreams/${one.restreamId}`);
  assert.equal(again.at('data.targets.1.errorMessage'), null);
  assert.equal(again.string('data.targets.1.lastFailureMessage'), 'It is gone.');
  await one.call('POST', `/streams/${one.streamId}/stop`);
  assert.deepEqual(await wanted(one), []);
  assert.equal(await one.status(), 'IDLE');
  assert.deepEqual(await one.types(), [
    'restream.created',
    'restream.started',
    'restream.target.connected',
    'restream.target.connected',
    'restream.target.disconnected',
    'restream.target.connected',
    'restream.target.disconnected',
    'restream.target.disconnected',
    'restream.stopped',
  ]);
});

test('the tail of the stream sends every change of its restreams and resumes after each', async () => {
  const one = await run();
  const { key: reader } = await app.createKey({ account: one.account, scope: 'READ_ONLY' });
  const follow = (after?: string) =>
    openTail(`${app.url}/api/v1/streams/${one.streamId}/tail`, {
      key: reader,
      ...(after === undefined ? {} : { after }),
    });
  const tail = await follow();
  await tail.waitFor('restream');
  const [now] = tail.data('restream');
  assert.deepEqual([Object(now?.restream).status, Object(now?.restream).targets.length], ['IDLE', 2]);
  const place = tail.lastId();
  await one.connect();
  await one.call('POST', `/streams/${one.streamId}/start`);
  await say(one, 0, 'CONNECTING');
  await say(one, 0, 'BROADCASTING');
  const states = (client: TailClient) =>
    client
      .data('restream_target')
      .map(({ restreamStatus, target }) => [restreamStatus, Object(target).status]);
  await tail.waitFor('restream_target', 2);
  assert.deepEqual(states(tail), [
    ['STARTING', 'CONNECTING'],
    ['DEGRADED', 'BROADCASTING'],
  ]);
  assert.equal(Object(tail.data('restream').at(-1)?.restream).status, 'STARTING');
  assert.doesNotMatch(JSON.stringify(tail.messages), /stream-key-/, 'no key is shown');
  await tail.close();
  const failure = { severity: 'FATAL', message: 'The key is refused.', retryCount: 3 } as const;
  await say(one, 0, 'ERRORED', failure);
  const path = `/restreams/${one.restreamId}`;
  await one.call('POST', `${path}/targets/${one.targets[0]}/retry`);
  await one.call('POST', `${path}/stop`);
  await one.call('DELETE', path);
  const resumed = await follow(place);
  await waitFor(() => resumed.data('restream').at(-1)?.deleted);
  assert.deepEqual(resumed.data('resync'), []);
  assert.deepEqual(states(resumed), [
    ['STARTING', 'CONNECTING'],
    ['DEGRADED', 'BROADCASTING'],
    ['STARTING', 'ERRORED'],
  ]);
  assert.deepEqual(
    resumed.data('restream').map(({ restream, deleted }) => [Object(restream).status, deleted]),
    [
      ['STARTING', false],
      ['STARTING', false],
      ['STOPPED', false],
      ['STOPPED', true],
    ],
  );
  await resumed.close();
  const { key: other } = await app.createKey({
    account: one.account,
    scope: 'STANDARD',
    permissions: ['streams:read'],
  });
  const partial = await openTail(`${app.url}/api/v1/streams/${one.streamId}/tail`, { key: other });
  await partial.waitFor('viewers');
  assert.match(partial.lastId(), /^\d+-\d+$/, 'only the log that the key may read');
  await partial.close();
});

test('a FATAL target waits for a change or a retry, and people are notified', async () => {
  const one = await run({ startMode: 'WITH_SIGNAL' });
  await one.connect();
  const wrong = { severity: 'FATAL', message: 'The key is refused.', retryCount: 3 } as const;
  await say(one, 0, 'ERRORED', { severity: 'NORMAL', message: 'Refused.', retryCount: 1 });
  await say(one, 0, 'ERRORED', { severity: 'NORMAL', message: 'Refused.', retryCount: 2 });
  await say(one, 0, 'ERRORED', wrong);
  assert.equal((await wanted(one)).length, 1);
  await say(one, 1, 'ERRORED', wrong);
  assert.equal(await one.status(), 'FAILED');
  assert.deepEqual(await wanted(one), []);
  const path = `/restreams/${one.restreamId}/targets`;
  const retried = (await one.call('POST', `${path}/${one.targets[0]}/retry`)).assertOk(200);
  assert.equal(retried.string('data.status'), 'IDLE');
  assert.equal((await wanted(one)).length, 1);
  const body = { streamKey: 'another-stream-key' };
  (await one.call('PATCH', `${path}/${one.targets[1]}`, body)).assertOk(200);
  const pushes = await wanted(one);
  assert.deepEqual(
    pushes.map(({ streamKey }) => streamKey),
    ['stream-key-1', 'another-stream-key'],
  );
  const types = (await one.types()).filter((type) => type.startsWith('restream.target'));
  assert.deepEqual(
    types,
    Array.from({ length: 3 }, () => 'restream.target.failed'),
  );
  const notices = await one.call('GET', '/notifications');
  assert.equal(notices.list('data').length, 2);
  assert.match(notices.string('data.0.body'), /The key is refused/);
  // The next signal retries all targets.
  await say(one, 0, 'ERRORED', wrong);
  await one.call('POST', `/restreams/${one.restreamId}/stop`);
  await one.call('POST', `/restreams/${one.restreamId}/start`);
  assert.equal((await wanted(one)).length, 2);
});

test('a broadcasting target that becomes FATAL emits disconnected and failed', async () => {
  const one = await run({ startMode: 'WITH_SIGNAL' });
  await one.connect();
  await say(one, 0, 'BROADCASTING');
  const { length } = await one.types();
  await say(one, 0, 'ERRORED', { severity: 'FATAL', message: 'The codec is not taken.', retryCount: 1 });
  const rows = await app.container.db
    .selectFrom('event')
    .select('body')
    .where('workspace_id', '=', one.account.live)
    .where('type', 'like', 'restream.%')
    .orderBy('seq')
    .execute();
  const told = rows.slice(length).map(({ body }) => JSON.parse(String(body)));
  const failure = {
    ...{ restreamId: one.restreamId, targetId: one.targets[0], platform: 'CUSTOM' },
    ...{ severity: 'FATAL', errorMessage: 'The codec is not taken.', retryCount: 1 },
  };
  assert.deepEqual(
    told.map(({ type, data }) => [type, data]),
    [
      ['restream.target.disconnected', { ...failure, sequence: length + 1 }],
      ['restream.target.failed', { ...failure, sequence: length + 2 }],
    ],
  );
});

test('outdated reports are ignored', async () => {
  const one = await run({ startMode: 'WITH_SIGNAL' });
  await one.connect();
  const [push] = await wanted(one);
  assert.ok(push !== undefined);
  const report = {
    state: 'BROADCASTING',
    severity: null,
    message: null,
    retryCount: 0,
    retryInMs: null,
  } as const;
  const { targetId, revision } = push;
  await port().report('node-1', { targetId, revision: revision - 1, ...report });
  await port().report('node-2', { targetId, revision, ...report });
  await port().report('node-1', { targetId: 'rtg_unknown', revision, ...report });
  assert.equal(await one.status(), 'STARTING');
  await one.call('PATCH', `/restreams/${one.restreamId}/targets/${targetId}`, { enabled: false });
  await port().report('node-1', { targetId, revision, ...report });
  const shown = await one.call('GET', `/restreams/${one.restreamId}`);
  assert.equal(shown.string('data.targets.0.status'), 'DISABLED');
  await one.call('POST', `/restreams/${one.restreamId}/stop`);
  await port().report('node-1', { targetId: one.targets[1] ?? '', revision, ...report });
  assert.equal(await one.status(), 'STOPPED');
});

test('only one of two nodes that assume a stream is theirs sends', async () => {
  const one = await run({ startMode: 'WITH_SIGNAL' });
  await one.connect('node-1');
  const answers = await Promise.all(['node-1', 'node-2', 'node-1'].map((node) => wanted(one, node)));
  assert.deepEqual(
    answers.map(({ length }) => length),
    [2, 0, 2],
  );
  // The encoder moves to the other node; the first is not aware of it, and its lease is valid.
  await one.connect('node-2');
  assert.equal((await wanted(one, 'node-2')).length, 0);
  assert.equal((await wanted(one, 'node-1')).length, 0, 'it lets go when it asks');
  assert.equal((await wanted(one, 'node-2')).length, 2);
  // The targets of a dead node wait until its lease expires.
  await one.connect('node-1');
  assert.equal((await wanted(one, 'node-1')).length, 0);
  clock.advance(31_000);
  assert.equal((await wanted(one, 'node-1')).length, 2);
});

test('a lost encoder retains its targets for the reconnect window', async () => {
  const one = await run({ startMode: 'WITH_SIGNAL' });
  const session = await one.connect();
  await say(one, 0, 'BROADCASTING');
  const { sessionId, streamId } = session;
  await app.container.signals.publishEnded({ sessionId, streamId, reason: 'unpublish', bytes: 1 });
  assert.equal((await wanted(one)).length, 2);
  assert.equal((await wanted(one, 'node-2')).length, 0, 'of others nobody has them');
  clock.advance(59_000);
  assert.equal((await wanted(one)).length, 2);
  clock.advance(2000);
  assert.deepEqual(await wanted(one), []);
  assert.equal(await one.status(), 'IDLE');
  await one.connect();
  assert.equal((await wanted(one)).length, 2);
});

test('a broadcast continues without its encoder and is restreamed again after the reconnect', async () => {
  const one = await run();
  const session = await one.connect();
  await one.call('POST', `/streams/${one.streamId}/start`);
  await say(one, 0, 'BROADCASTING');
  const { sessionId, streamId } = session;
  await app.container.signals.publishEnded({ sessionId, streamId, reason: 'unpublish', bytes: 1 });
  clock.advance(61_000);
  assert.deepEqual(await wanted(one), []);
  assert.equal(await one.status(), 'STARTING');
  assert.equal((await one.types()).at(-1), 'restream.target.disconnected');
  await one.connect();
  assert.equal((await wanted(one)).length, 2);
});

test('start runs a restream early, and stop lasts until the next time', async () => {
  const one = await run();
  await one.connect();
  const act = async (what: string) =>
    (await one.call('POST', `/restreams/${one.restreamId}/${what}`)).assertOk(200);
  assert.equal((await act('start')).string('data.status'), 'STARTING');
  assert.equal((await wanted(one)).length, 2);
  await act('start');
  assert.equal((await act('stop')).string('data.status'), 'IDLE');
  assert.deepEqual(await wanted(one), []);
  await act('stop');
  await one.call('POST', `/streams/${one.streamId}/start`);
  assert.equal((await wanted(one)).length, 2, 'the next broadcast is sent on');
  assert.equal((await act('stop')).string('data.status'), 'STOPPED');
  assert.deepEqual(await wanted(one), []);
  await one.call('POST', `/streams/${one.streamId}/stop`);
  assert.deepEqual(await wanted(one), []);
  await one.call('POST', `/streams/${one.streamId}/start`);
  assert.equal((await wanted(one)).length, 2);
  const [started, stopped] = ['restream.started', 'restream.stopped'];
  assert.deepEqual((await one.types()).slice(1), [started, stopped, started, stopped, started]);
});

test('a broadcast or signal that ends and begins between two sweeps is a new one', async () => {
  const one = await run();
  await one.connect();
  const restream = `/restreams/${one.restreamId}`;
  const act = async (path: string) => (await one.call('POST', path)).assertOk(200);
  await act(`/streams/${one.streamId}/start`);
  await act(`${restream}/stop`);
  assert.equal(await one.status(), 'STOPPED', 'also when nobody has looked since the start');
  await act(`/streams/${one.streamId}/stop`);
  await act(`/streams/${one.streamId}/start`);
  assert.equal(await one.status(), 'STARTING');
  assert.equal((await wanted(one)).length, 2);
  await act(`${restream}/stop`);
  await act(`${restream}/start`);
  assert.equal((await wanted(one)).length, 2);
  const two = await run({ startMode: 'WITH_SIGNAL' }, { reconnectWindowSec: 0 });
  const { sessionId, streamId } = await two.connect();
  (await two.call('POST', `/restreams/${two.restreamId}/stop`)).assertOk(200);
  await app.container.signals.publishEnded({ sessionId, streamId, reason: 'unpublish', bytes: 1 });
  await two.connect();
  assert.equal(await two.status(), 'STARTING');
});

test('a suspended account, a disabled restream and a deleted one send nothing', async () => {
  const one = await run({ startMode: 'WITH_SIGNAL' });
  await one.connect();
  assert.equal((await wanted(one)).length, 2);
  const suspend = (at: Date | null) =>
    app.container.db
      .updateTable('account')
      .set({ suspended_at: at })
      .where('id', '=', one.account.id)
      .execute();
  await suspend(clock.now());
  assert.deepEqual(await wanted(one), []);
  await suspend(null);
  assert.equal((await wanted(one)).length, 2);
  const patch = (enabled: boolean) => one.call('PATCH', `/restreams/${one.restreamId}`, { enabled });
  assert.equal((await patch(false)).string('data.status'), 'STOPPED');
  assert.deepEqual(await wanted(one), []);
  await patch(true);
  assert.equal((await wanted(one)).length, 2);
  (await one.call('DELETE', `/restreams/${one.restreamId}`)).assertOk(200);
  assert.deepEqual(await wanted(one), []);
  assert.deepEqual((await one.types()).slice(-2), ['restream.stopped', 'restream.deleted']);
});

test('the targets of a lost node become idle', async () => {
  const one = await run({ startMode: 'WITH_SIGNAL' });
  await one.connect();
  await say(one, 0, 'BROADCASTING');
  await app.container.restreamRuns.sweep();
  assert.equal(await one.status(), 'DEGRADED');
  clock.advance(31_000);
  await app.container.restreamRuns.sweep();
  assert.equal(await one.status(), 'STARTING');
  const shown = await one.call('GET', `/restreams/${one.restreamId}`);
  assert.equal(shown.string('data.targets.0.status'), 'IDLE');
});

test('a restarted node has sent nothing yet', async () => {
  const one = await run({ startMode: 'WITH_SIGNAL' });
  await one.connect();
  await say(one, 0, 'BROADCASTING');
  await port().started('node-2');
  assert.equal(await one.status(), 'DEGRADED');
  await port().started('node-1');
  assert.equal(await one.status(), 'STARTING');
  assert.equal((await one.types()).at(-1), 'restream.target.disconnected');
  assert.equal((await wanted(one)).length, 2);
});

test('an unreadable key is reported, and the other targets are still pushed', async () => {
  const one = await run({ startMode: 'WITH_SIGNAL' });
  await app.container
    .sql`update restream_target set stream_key = decode('00', 'hex') where id = ${one.targets[0] ?? ''}`;
  await one.connect();
  assert.equal((await wanted(one)).length, 1);
  const shown = await one.call('GET', `/restreams/${one.restreamId}`);
  assert.match(shown.string('data.targets.0.errorMessage'), /can no longer be decrypted/);
});
