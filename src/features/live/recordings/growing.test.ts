import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import type { TestAccount } from '../../../../test/harness/factories.ts';
import { jobWorker } from '../../../../test/harness/modules.ts';
import { createEncoderStream } from '../../../../test/streams/encoder-stream.ts';
import { newId } from '../../../kernel/ids.ts';
import { PLANS } from '../../../kernel/plans.ts';
import type { RecordingPort } from '../../../media/contract/index.ts';

const MB = 2 ** 20;
const HOUR_MS = 3_600_000;
const clock = new TestClock('2026-11-20T09:00:00.000Z');
let app: TestApp;
let port: RecordingPort;
before(async () => {
  app = await startTestApp({ clock });
  ({ port } = app.container.recordings);
});
after(() => app.close());

const usedOf = async ({ live }: TestAccount) => {
  const query = app.container.db.selectFrom('workspace').select('storage_bytes').where('id', '=', live);
  return (await query.executeTakeFirstOrThrow()).storage_bytes;
};

/** Starts a recorded broadcast of an account whose plan has `left` bytes of storage left. */
async function broadcast(left = PLANS.FREE.storageBytes) {
  const account = await app.createAccount({ plan: 'FREE' });
  const { key } = await app.createKey({ account });
  const used = PLANS.FREE.storageBytes - left;
  await app.container.sql`update workspace set storage_bytes = ${used} where id = ${account.live}`;
  const stream = await createEncoderStream(app, key, { title: 'A long night', record: true });
  const publish = await stream.connect();
  const { nodeId, sessionId: publishId } = publish;
  await stream.act('start');
  const sessionId = (await stream.sessions()).string('data.0.id');
  return {
    account,
    stream,
    publish,
    sessionId,
    used,
    heartbeat: () => app.container.signals.heartbeat(nodeId, [publishId]),
    /** Returns the recordings that the node should write, after it reports the size of its current part. */
    async sync(partId: string | null = null, bytes = 0) {
      const all = await port.wanted(nodeId, new Map(partId === null ? [] : [[partId, bytes]]));
      return all.filter(({ recordingId }) => recordingId.startsWith(sessionId));
    },
    async part(recordingId: string) {
      const part = { id: newId('rec'), recordingId };
      const storeKey = await port.opened(nodeId, part, true);
      assert.ok(storeKey);
      return {
        id: part.id,
        close: async (content: string) =>
          port.closed(part.id, await app.container.store.put(storeKey, content, 'video/mp4')),
      };
    },
    videos: async () => (await app.request('GET', '/videos', { key })).assertOk(200).list('data').map(Object),
  };
}

const assemble = (recordingId: string) =>
  jobWorker(app.container, 'video.recording').run({
    id: newId('rec'),
    payload: { recordingId },
    attempt: 1,
    isLast: true,
    lost: 0,
    signal: new AbortController().signal,
    confirm: async () => {},
  });

describe('a growing recording', () => {
  test('a recording reserves storage before it is written, and finally uses its actual size', async () => {
    const { account, sync, part, sessionId, stream } = await broadcast();
    const { id, close } = await part(sessionId);
    await sync(id, 0);
    const first = await usedOf(account);
    assert.ok(first >= 8 * MB);
    await sync(id, 100 * MB);
    assert.ok((await usedOf(account)) >= 108 * MB, 'ahead of the file');
    await stream.act('stop');
    await close('media');
    assert.equal(await usedOf(account), 5);
    await assemble(sessionId);
    assert.equal(await usedOf(account), 5, 'the video has it now, and it counts once');
  });

  test('a recording ends when the plan has no storage left, and the session shows the reason', async () => {
    const { account, publish, sync, part, sessionId, stream, used } = await broadcast(20 * MB);
    const { id, close } = await part(sessionId);
    const isRefused = async (bytes: number) => (await sync(id, bytes)).map((one) => one.isRefused);
    assert.deepEqual(await isRefused(0), [false], 'less than a step is left');
    assert.deepEqual(await isRefused(10 * MB), [false]);
    assert.deepEqual(await isRefused(13 * MB), [true]);
    assert.ok((await usedOf(account)) <= PLANS.FREE.storageBytes);
    assert.equal((await stream.sessions()).at('data.0.error'), 'QUOTA_EXCEEDED');
    // Another fault of the same session does not replace the first one, and does not resume the recording.
    await app.container.signals.publishRejected(publish, 'BITRATE_OVER_PLAN');
    assert.equal((await stream.sessions()).at('data.0.error'), 'QUOTA_EXCEEDED');
    assert.deepEqual(await isRefused(13 * MB), [true]);
    await close('what was recorded until then');
    await stream.act('stop');
    await assemble(sessionId);
    assert.equal((await usedOf(account)) - used, 28);
    assert.equal((await stream.sessions()).at('data.0.error'), 'QUOTA_EXCEEDED');
    assert.equal(typeof (await stream.sessions()).at('data.0.recordingVideoId'), 'string');
  });
});

describe('recorders', () => {
  test('recordings never exceed the concurrent broadcasts of the plan', async () => {
    const account = await app.createAccount({ plan: 'FREE' });
    const { key } = await app.createKey({ account });
    assert.deepEqual([PLANS.FREE.concurrentStreams, PLANS.FREE.encoders], [1, 2]);
    const first = await createEncoderStream(app, key, { record: true });
    const second = await createEncoderStream(app, key, { record: true, autoStart: true });
    const { nodeId } = await first.connect();
    const recorded = async () => {
      const sessions = await Promise.all([first, second].map((stream) => stream.sessions()));
      const ids = sessions.flatMap((one) => one.list('data').map((session) => Object(session).id));
      return (await port.wanted(nodeId, new Map())).filter(({ recordingId }) => ids.includes(recordingId));
    };
    assert.deepEqual(await recorded(), [], 'an encoder alone');
    await first.act('start');
    await second.connect({ nodeId });
    assert.deepEqual(await second.flags(), [true, false]);
    const refused = await app.request('POST', `/streams/${second.id}/start`, { key });
    assert.equal(refused.status, 403);
    assert.equal((await recorded()).length, 1);
    // Another encoder of the stream replaces the previous one.
    const { sessionId } = await first.connect({ nodeId });
    assert.deepEqual(
      (await recorded()).map(({ publishId }) => publishId),
      [sessionId],
    );
  });
});

describe('a broadcast longer than a video may be', () => {
  test('a broadcast longer than a video may be continues in a second video', async () => {
    const { sync, part, sessionId, stream, videos, heartbeat } = await broadcast();
    const first = await part(sessionId);
    clock.advance(11 * HOUR_MS);
    assert.deepEqual(
      (await sync()).map((one) => one.recordingId),
      [sessionId],
    );
    clock.advance(HOUR_MS - 90_000);
    const second = `${sessionId}-2`;
    assert.deepEqual(
      (await sync()).map((one) => one.recordingId),
      [second],
    );
    await heartbeat();
    await app.container.signals.sweep();
    assert.deepEqual(await stream.flags(), [true, true]);
    const next = await part(second);
    await first.close('first');
    assert.deepEqual(
      (await videos()).map(({ title }) => title),
      ['A long night'],
      'need not wait for the stop',
    );
    await assemble(sessionId);
    clock.advance(HOUR_MS);
    assert.deepEqual(
      (await sync()).map((one) => one.recordingId),
      [second],
    );
    await stream.act('stop');
    await next.close('second');
    await assemble(second);
    const made = (await videos()).sort((a, b) => String(a.title).length - String(b.title).length);
    assert.deepEqual(
      made.map(({ title, sizeBytes, status }) => [title, sizeBytes, status]),
      [
        ['A long night', 5, 'QUEUED'],
        ['A long night (2)', 6, 'QUEUED'],
      ],
    );
    assert.equal((await stream.sessions()).at('data.0.recordingVideoId'), made[0]?.id);
  });
});
