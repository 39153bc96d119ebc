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

const STREAM_KEY = 'secret-stream-key-1234';
const HERE = 'rtmp://live.example.com/app';
const ELSEWHERE = 'rtmp://other.example.net/app';

interface Target extends Run {
  path: string;
  targetId: string;
  patch(body: object): ReturnType<Run['call']>;
}

/** Creates a restream with one target of these fields. */
async function withTarget(fields: object = {}): Promise<Target> {
  const targets = [
    { url: HERE, streamKey: STREAM_KEY, ...fields },
    { url: HERE, streamKey: 'b' },
  ];
  const one = await runs.run({ startMode: 'WITH_SIGNAL', targets });
  const targetId = one.targets[0] ?? '';
  const path = `/restreams/${one.restreamId}/targets/${targetId}`;
  return { ...one, targetId, path, patch: (body) => one.call('PATCH', path, body) };
}

/** Returns the URL and the key that the target is pushed with. */
async function pushOf(one: Target) {
  await one.connect();
  const push = (await runs.wanted(one)).find(({ targetId }) => targetId === one.targetId);
  return [push?.url, push?.streamKey];
}

/** Returns the changes of the target in `restream.updated` events. */
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

describe('two concurrent changes', () => {
  /**
   * Sends concurrent changes: all read the target before one is written, and the first one is written first.
   */
  function atOnce({ restreamId, patch }: Target, bodies: readonly object[]) {
    return withLockContention(
      app.container.sql,
      (tx) => tx`select from restream where id = ${restreamId} for update`,
      bodies.map((body) => () => patch(body)),
    );
  }

  test('two concurrent changes do not undo each other and retain omitted fields', async () => {
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

  test('a new key applies to the current URL of the target', async () => {
    const one = await withTarget();
    const answers = await atOnce(one, [
      { url: ELSEWHERE, streamKey: 'the-key-of-elsewhere' },
      { streamKey: 'another-one' },
    ]);
    for (const answer of answers) answer.assertOk(200);
    assert.deepEqual(await pushOf(one), [ELSEWHERE, 'another-one']);
  });

  test('a concurrent change does not send the key of the other one to another server', async () => {
    const one = await withTarget();
    const answers = await atOnce(one, [
      { url: ELSEWHERE, streamKey: 'the-key-of-elsewhere' },
      { url: 'rtmp://live.example.com/app2' },
    ]);
    answers[0]?.assertOk(200);
    answers[1]?.assertError('BAD_REQUEST', 'streamKey');
    assert.deepEqual(await pushOf(one), [ELSEWHERE, 'the-key-of-elsewhere']);
  });

  test('a concurrent change does not send a passphrase to another server', async () => {
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

  test('the form of a key is checked against the current platform', async () => {
    const one = await withTarget();
    const twitch = { platform: 'TWITCH', streamKey: 'live_123456789_abcDEF123' };
    const [first, second] = await atOnce(one, [twitch, { streamKey: 'no-key-of-theirs' }]);
    first?.assertOk(200);
    second?.assertError('BAD_REQUEST', 'streamKey');
    assert.deepEqual(await pushOf(one), ['rtmps://live.twitch.tv/app', twitch.streamKey]);
  });
});

describe('a stream key that cannot be decrypted', () => {
  const spoil = ({ targetId }: Target) =>
    app.container.sql`update restream_target set stream_key = decode('00', 'hex') where id = ${targetId}`;

  test('an undecryptable stream key can be replaced as the error message describes', async () => {
    const one = await withTarget();
    await spoil(one);
    await one.connect();
    await runs.wanted(one);
    const failed = await one.call('GET', `/restreams/${one.restreamId}`);
    assert.match(failed.string('data.targets.0.errorMessage'), /Enter it again/);
    (await one.patch({ streamKey: 'a-new-stream-key' })).assertOk(200);
    assert.deepEqual(await pushOf(one), [HERE, 'a-new-stream-key']);
  });

  test('an undecryptable key blocks no other change and is not sent to another server', async () => {
    const one = await withTarget({ url: 'rtmp://live.twitch.tv/app' });
    await spoil(one);
    assert.equal((await one.patch({ name: 'Mine' })).assertOk(200).string('data.name'), 'Mine');
    (await one.patch({ enabled: false })).assertOk(200);
    (await one.patch({ url: 'rtmp://live.twitch.tv/app?a=b' })).assertOk(200);
    (await one.patch({ platform: 'TWITCH', url: 'rtmp://live.twitch.tv/app' })).assertOk(200);
    (await one.patch({ platform: 'CUSTOM', url: ELSEWHERE })).assertError('BAD_REQUEST', 'streamKey');
    (await one.patch({ streamKey: null })).assertError('BAD_REQUEST', 'streamKey');
  });

  test('a readable key must have the form of the new platform or be sent again', async () => {
    const one = await withTarget({ url: 'rtmp://live.twitch.tv/app' });
    const twitch = { platform: 'TWITCH', url: 'rtmp://live.twitch.tv/app' };
    (await one.patch(twitch)).assertError('BAD_REQUEST', 'streamKey');
    (await one.patch({ streamKey: 'live_123456789_abcDEF123' })).assertOk(200);
    (await one.patch(twitch)).assertOk(200);
  });
});

describe('a change of a target counts as a change of its restream', () => {
  const SRT = { url: 'srt://live.example.com:9000' };
  const updatedAt = async (one: Target) =>
    (await one.call('GET', `/restreams/${one.restreamId}`)).string('data.updatedAt');

  test('written secrets are reported without their values', async () => {
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

  test('a passphrase removed with its SRT URL is reported', async () => {
    const one = await withTarget({ ...SRT, passphrase: 'the-first-passphrase' });
    (await one.patch({ url: 'rtmp://live.example.com:9000/app' })).assertOk(200);
    const [change] = await changesOf(one);
    assert.deepEqual(change?.hasPassphrase, { from: true, to: false });
  });

  test('updatedAt of the restream is the time of the last change', async () => {
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
