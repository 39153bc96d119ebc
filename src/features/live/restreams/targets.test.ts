import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { withLockContention } from '../../../../test/harness/with-lock-contention.ts';
import { type Run, type Runs, restreamRuns } from '../../../../test/restream/runs.ts';

const clock = new TestClock();
let app: TestApp;
let runs: Runs;
before(async () => {
  app = await startTestApp({ clock });
  runs = restreamRuns(app, clock);
});
after(() => app.close());

const KEPT = 'secret-stream-key-1234';
const HERE = 'rtmp://live.example.com/app';
const ELSEWHERE = 'rtmp://other.example.net/app';

interface Target extends Run {
  path: string;
  targetId: string;
  patch(body: object): ReturnType<Run['call']>;
}

/** The first target of a restream, with these fields. */
async function withTarget(fields: object = {}): Promise<Target> {
  const targets = [
    { url: HERE, streamKey: KEPT, ...fields },
    { url: HERE, streamKey: 'b' },
  ];
  const one = await runs.run({ startMode: 'WITH_SIGNAL', targets });
  const targetId = one.targets[0] ?? '';
  const path = `/restreams/${one.restreamId}/targets/${targetId}`;
  return { ...one, targetId, path, patch: (body) => one.call('PATCH', path, body) };
}

/** Where it is sent, and with what. */
async function pushOf(one: Target) {
  await one.connect();
  const push = (await runs.wanted(one)).find(({ targetId }) => targetId === one.targetId);
  return [push?.url, push?.streamKey];
}

/** What `restream.updated` has said of the target. */
async function changesOf({ account, targetId }: Target): Promise<Record<string, unknown>[]> {
  const rows = await app.container.db
    .selectFrom('event')
    .select('body')
    .where('workspace_id', '=', account.live)
    .where('type', '=', 'restream.updated')
    .orderBy('seq')
    .execute();
  return rows.map(({ body }) => {
    const changes: [string, unknown][] = Object.entries(JSON.parse(String(body)).data.changes);
    return Object.fromEntries(
      changes.map(([field, change]) => [field.replace(`targets.${targetId}.`, ''), change]),
    );
  });
}

describe('of two changes at once', () => {
  /** Both have read the target before either is written; the first one is written first. */
  function atOnce({ restreamId, patch }: Target, bodies: readonly object[]) {
    return withLockContention(
      app.container.sql,
      (tx) => tx`select from restream where id = ${restreamId} for update`,
      bodies.map((body) => () => patch(body)),
    );
  }

  test('neither undoes the other, and both keep what they do not name', async () => {
    const one = await withTarget();
    const answers = await atOnce(one, [
      { url: ELSEWHERE, streamKey: 'the-key-of-elsewhere' },
      { name: 'Mine', enabled: true },
    ]);
    for (const answer of answers) answer.assertOk(200);
    assert.deepEqual(await pushOf(one), [ELSEWHERE, 'the-key-of-elsewhere']);
    assert.equal(answers[1]?.string('data.url'), ELSEWHERE);
    assert.equal(answers[1]?.string('data.name'), 'Mine');
  });

  test('a new key goes where the target is by then', async () => {
    const one = await withTarget();
    const answers = await atOnce(one, [
      { url: ELSEWHERE, streamKey: 'the-key-of-elsewhere' },
      { streamKey: 'another-one' },
    ]);
    for (const answer of answers) answer.assertOk(200);
    assert.deepEqual(await pushOf(one), [ELSEWHERE, 'another-one']);
  });

  test('the second does not send the key of the first to another server', async () => {
    const one = await withTarget();
    const answers = await atOnce(one, [
      { url: ELSEWHERE, streamKey: 'the-key-of-elsewhere' },
      { url: 'rtmp://live.example.com/app2' },
    ]);
    answers[0]?.assertOk(200);
    answers[1]?.assertError('BAD_REQUEST', 'streamKey');
    assert.deepEqual(await pushOf(one), [ELSEWHERE, 'the-key-of-elsewhere']);
  });

  test('nor a passphrase', async () => {
    const url = 'srt://live.example.com:9000';
    const one = await withTarget({ url, passphrase: 'the-first-passphrase' });
    const there = 'srt://other.example.net:9000';
    const answers = await atOnce(one, [
      { url: there, streamKey: 'its-key', passphrase: 'the-second-passphrase' },
      { url: `${url}?latency=500`, streamKey: 'a-key' },
    ]);
    answers[0]?.assertOk(200);
    answers[1]?.assertError('BAD_REQUEST', 'passphrase');
    assert.deepEqual(await pushOf(one), [there, 'its-key']);
  });

  test('the form of a key is that of the platform by then', async () => {
    const one = await withTarget();
    const twitch = { platform: 'TWITCH', streamKey: 'live_123456789_abcDEF123' };
    const [first, second] = await atOnce(one, [twitch, { streamKey: 'no-key-of-theirs' }]);
    first?.assertOk(200);
    second?.assertError('BAD_REQUEST', 'streamKey');
    assert.deepEqual(await pushOf(one), ['rtmps://live.twitch.tv/app', twitch.streamKey]);
  });
});

describe('a stream key that cannot be read any more', () => {
  const spoil = ({ targetId }: Target) =>
    app.container.sql`update restream_target set stream_key = decode('00', 'hex') where id = ${targetId}`;

  test('is replaced as it says', async () => {
    const one = await withTarget();
    await spoil(one);
    await one.connect();
    await runs.wanted(one);
    const failed = await one.call('GET', `/restreams/${one.restreamId}`);
    assert.match(failed.string('data.targets.0.errorMessage'), /Give it again/);
    (await one.patch({ streamKey: 'a-new-stream-key' })).assertOk(200);
    assert.deepEqual(await pushOf(one), [HERE, 'a-new-stream-key']);
  });

  test('hinders no other change, and is a key that goes to no other server', async () => {
    const one = await withTarget({ url: 'rtmp://live.twitch.tv/app' });
    await spoil(one);
    assert.equal((await one.patch({ name: 'Mine' })).assertOk(200).string('data.name'), 'Mine');
    (await one.patch({ enabled: false })).assertOk(200);
    (await one.patch({ url: 'rtmp://live.twitch.tv/app?a=b' })).assertOk(200);
    (await one.patch({ platform: 'TWITCH', url: 'rtmp://live.twitch.tv/app' })).assertOk(200);
    (await one.patch({ platform: 'CUSTOM', url: ELSEWHERE })).assertError('BAD_REQUEST', 'streamKey');
    (await one.patch({ streamKey: null })).assertError('BAD_REQUEST', 'streamKey');
  });

  test('one that can be read has the form of another platform, or is given again', async () => {
    const one = await withTarget({ url: 'rtmp://live.twitch.tv/app' });
    const twitch = { platform: 'TWITCH', url: 'rtmp://live.twitch.tv/app' };
    (await one.patch(twitch)).assertError('BAD_REQUEST', 'streamKey');
    (await one.patch({ streamKey: 'live_123456789_abcDEF123' })).assertOk(200);
    (await one.patch(twitch)).assertOk(200);
  });
});

describe('a change of a target is one of its restream', () => {
  const SRT = { url: 'srt://live.example.com:9000' };
  const updatedAt = async (one: Target) =>
    (await one.call('GET', `/restreams/${one.restreamId}`)).string('data.updatedAt');

  test('secrets that are written are told, and never what they are', async () => {
    const one = await withTarget(SRT);
    for (const body of [
      { passphrase: 'the-first-passphrase' },
      { passphrase: 'the-second-passphrase' },
      { passphrase: null },
      { passphrase: null },
      { streamKey: 'another-secret-key-1234' },
      { streamKey: 'short' },
      { streamKey: 'brief' },
      { streamKey: null },
      { streamKey: null },
    ]) {
      (await one.patch(body)).assertOk(200);
    }
    const changes = await changesOf(one);
    assert.deepEqual(changes, [
      { hasPassphrase: { from: false, to: true } },
      { hasPassphrase: { from: true, to: true } },
      { hasPassphrase: { from: true, to: false } },
      { streamKey: { from: '***1234', to: '***1234' } },
      { streamKeyLast4: { from: '1234', to: null }, streamKey: { from: '***1234', to: '***' } },
      { streamKey: { from: '***', to: '***' } },
      { streamKey: { from: '***', to: null } },
    ]);
    assert.doesNotMatch(JSON.stringify(changes), /passphrase"|secret|short|brief/);
  });

  test('a passphrase that goes with its SRT address is told too', async () => {
    const one = await withTarget({ ...SRT, passphrase: 'the-first-passphrase' });
    (await one.patch({ url: 'rtmp://live.example.com:9000/app' })).assertOk(200);
    const [change] = await changesOf(one);
    assert.deepEqual(change?.hasPassphrase, { from: true, to: false });
  });

  test('its updatedAt is the time of the last one', async () => {
    const one = await withTarget();
    const made = await updatedAt(one);
    clock.advance(1000);
    (await one.call('POST', `${one.path}/retry`)).assertOk(200);
    (await one.patch({ name: 'live.example.com' })).assertOk(200);
    assert.equal(await updatedAt(one), made, 'nothing was changed');
    (await one.patch({ name: 'Mine' })).assertOk(200);
    assert.equal(await updatedAt(one), clock.now().toISOString());
    clock.advance(1000);
    (await one.call('DELETE', one.path)).assertOk(200);
    assert.equal(await updatedAt(one), clock.now().toISOString());
  });
});
