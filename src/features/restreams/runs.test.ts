import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { TestClock } from '../../../test/harness/clock.ts';
import { ingestSession, insertAccount, type TestAccount } from '../../../test/harness/factories.ts';
import type { IngestSession, PushReport } from '../../media/contract/index.ts';

const clock = new TestClock();
let app: TestApp;
before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());

interface Run {
  account: TestAccount;
  streamId: string;
  restreamId: string;
  targets: string[];
  call(method: string, path: string, body?: object): ReturnType<TestApp['request']>;
  status(): Promise<string>;
  connect(nodeId?: string): Promise<IngestSession>;
  types(): Promise<string[]>;
}

async function run(more: object = {}, settings: object = {}): Promise<Run> {
  const account = await insertAccount(app.container.db, { plan: 'VIP' });
  const { key } = await app.createKey({ account });
  const call: Run['call'] = (method, path, body) =>
    app.request(method, path, { key, ...(body === undefined ? {} : { body }) });
  const created = await call('POST', '/streams', { title: 'A', reconnectWindowSec: 60, ...settings });
  const streamId = created.string('data.id');
  const targets = [1, 2].map((n) => ({ url: 'rtmp://live.example.com/app', streamKey: `stream-key-${n}` }));
  const made = (await call('POST', '/restreams', { streamId, targets, ...more })).assertOk(201);
  const restreamId = made.string('data.id');
  return {
    account,
    streamId,
    restreamId,
    targets: [0, 1].map((n) => made.string(`data.targets.${n}.id`)),
    call,
    status: async () => (await call('GET', `/restreams/${restreamId}`)).string('data.status'),
    async connect(nodeId = 'node-1') {
      const session = ingestSession(streamId, { nodeId, startedAt: clock.now() });
      await app.container.signals.publishStarted(session);
      return session;
    },
    async types() {
      const rows = await app.container.db
        .selectFrom('event')
        .select('type')
        .where('workspace_id', '=', account.live)
        .orderBy('seq')
        .execute();
      return rows.map(({ type }) => type).filter((type) => type.startsWith('restream.'));
    },
  };
}

const port = () => app.container.restreamRuns.port;
const wanted = async ({ targets }: Run, nodeId = 'node-1') => {
  const all = await port().wanted(nodeId, new Map());
  return all.filter(({ targetId }) => targets.includes(targetId));
};

async function say(one: Run, index: number, state: PushReport['state'], more: Partial<PushReport> = {}) {
  const targetId = one.targets[index] ?? '';
  const { revision = 0 } =
    (await wanted(one, more.message === 'by node-2' ? 'node-2' : 'node-1')).find(
      (push) => push.targetId === targetId,
    ) ?? {};
  const plain = { severity: null, message: null, retryCount: 0, retryInMs: null };
  await port().report('node-1', { targetId, revision, state, ...plain, ...more });
}

test('from the signal to the stop: what is wanted, what is shown, what is told', async () => {
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

test('FATAL waits for a change or a retry, and people are told', async () => {
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
  // The next signal is the next try of all.
  await say(one, 0, 'ERRORED', wrong);
  await one.call('POST', `/restreams/${one.restreamId}/stop`);
  await one.call('POST', `/restreams/${one.restreamId}/start`);
  assert.equal((await wanted(one)).length, 2);
});

test('reports that are out of date change nothing', async () => {
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

test('of two nodes that think the stream is theirs, one sends', async () => {
  const one = await run({ startMode: 'WITH_SIGNAL' });
  await one.connect('node-1');
  const answers = await Promise.all(['node-1', 'node-2', 'node-1'].map((node) => wanted(one, node)));
  assert.deepEqual(
    answers.map(({ length }) => length),
    [2, 0, 2],
  );
  // The encoder goes to the other node; the first has not heard of it, and its lease holds.
  await one.connect('node-2');
  assert.equal((await wanted(one, 'node-2')).length, 0);
  assert.equal((await wanted(one, 'node-1')).length, 0, 'it lets go when it asks');
  assert.equal((await wanted(one, 'node-2')).length, 2);
  // A node that dies is waited for as long as its lease.
  await one.connect('node-1');
  assert.equal((await wanted(one, 'node-1')).length, 0);
  clock.advance(31_000);
  assert.equal((await wanted(one, 'node-1')).length, 2);
});

test('a lost encoder keeps its destinations for the reconnect window', async () => {
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

test('a broadcast goes on without its encoder, and is sent on again when it is back', async () => {
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

test('start and stop: before the time, and until the next time', async () => {
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

test('a broadcast or signal that ends and begins again between two looks is another one', async () => {
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

test('a node that is gone leaves its targets at rest', async () => {
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

test('a node that starts anew has sent nothing yet', async () => {
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

test('a key that cannot be read any more is told, and the others are sent to', async () => {
  const one = await run({ startMode: 'WITH_SIGNAL' });
  await app.container
    .sql`update restream_target set stream_key = decode('00', 'hex') where id = ${one.targets[0] ?? ''}`;
  await one.connect();
  assert.equal((await wanted(one)).length, 1);
  const shown = await one.call('GET', `/restreams/${one.restreamId}`);
  assert.match(shown.string('data.targets.0.errorMessage'), /cannot be read/);
});
