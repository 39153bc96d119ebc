import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { TestClock } from '../../../../../test/harness/clock.ts';
import { createTestDatabase, type TestDatabase } from '../../../../../test/harness/database.ts';
import { insertAccount, type TestAccount } from '../../../../../test/harness/factories.ts';
import { insertReadyVideo, insertVideo, videoEvents } from '../../../../../test/harness/videos.ts';
import { waitFor } from '../../../../../test/harness/wait-for.ts';
import { createCatalogue } from '../../../../events/catalogue.ts';
import { type AppendEvent, createEvents, type Events } from '../../../../events/index.ts';
import { PLANS } from '../../../../kernel/plans.ts';
import type { Tx } from '../../../../platform/db/index.ts';
import { createLogger } from '../../../../platform/logger.ts';
import type { VideoLinks } from '../../../audience/playback/index.ts';
import { videoEvents as definitions } from '../events.ts';
import type { VideoRow } from '../repository.ts';
import * as repository from '../repository.ts';
import * as transitions from '../transitions.ts';
import { createVideoIntake, type VideoIntake } from './service.ts';

const clock = new TestClock('2026-11-20T09:00:00.000Z');
let database: TestDatabase;
let account: TestAccount;
let events: Events;
let intake: VideoIntake;
/** Calls to the processing, recorded. */
let asked: string[] = [];

const links: VideoLinks = {
  playbackUrl: ({ id, isPlayable }) => (isPlayable ? `https://example.com/${id}/master.m3u8` : null),
  embedUrl: ({ id }) => `https://example.com/embed/${id}`,
  thumbnailUrl: ({ imageFolder }) => imageFolder,
  previewUrl: () => null,
  storyboardUrl: () => null,
  captionUrl: (_video, file) => file,
};

before(async () => {
  database = await createTestDatabase();
  account = await insertAccount(database.db);
  events = createEvents({
    db: database.db,
    catalogue: createCatalogue(definitions),
    livemode: true,
    clock,
    bus: { publish: () => {} },
    consumers: [],
    log: createLogger('silent'),
    strict: true,
  });
  intake = createVideoIntake({
    clock,
    trash: { makeRoom: async () => false },
    facts: { append: async () => {} },
    processing: {
      start: async (_tx, { id, revision }) => void asked.push(`start ${id} ${revision}`),
      cancel: async (_tx, id) => void asked.push(`cancel ${id}`),
      discard: async (_tx, { video_id: id }) => void asked.push(`discard ${id}`),
    },
  });
});
after(() => database.close());
beforeEach(() => {
  asked = [];
});

const inTx = <T>(work: (tx: Tx, append: AppendEvent) => Promise<T>) => events.transaction(work);
const eventsOf = (id: string) => videoEvents(database.db, id);
const rowOf = (id: string) => inTx((tx) => repository.lockAnyVideo(tx, id));
const of = (videoId: string) => ({ workspaceId: account.live, videoId });
const original = { key: 'w/x/v/y/original/z', sizeBytes: 5000 };

/** Runs a step of `transitions` under the lock of the row. */
async function step(
  id: string,
  work: (at: { tx: Tx; append: AppendEvent; row: VideoRow; now: Date }) => Promise<VideoRow | null>,
): Promise<VideoRow | null> {
  return inTx(async (tx, append) => {
    const row = await repository.lockAnyVideo(tx, id);
    assert.ok(row !== undefined);
    return work({ tx, append, row, now: clock.now() });
  });
}

describe('received files', () => {
  test('a video is created, received once, and its processing is started once', async () => {
    const input = { title: 'A file', source: 'UPLOAD', uploadId: 'upl_1', metadata: { a: '1' } } as const;
    const { id } = await inTx((tx, append) => intake.create(tx, append, account.live, input));
    const created = await rowOf(id);
    assert.equal(created?.visibility, 'PUBLIC');
    assert.deepEqual(created?.metadata, { a: '1' });
    const receive = () => inTx((tx, append) => intake.received(tx, append, of(id), original));
    assert.deepEqual((await Promise.all([receive(), receive(), receive()])).sort(), [false, false, true]);
    const row = await rowOf(id);
    assert.equal(row?.status, 'QUEUED');
    assert.equal(row?.original_key, original.key);
    assert.equal(row?.size_bytes, 5000);
    assert.deepEqual(asked, [`start ${id} 0`]);
    const [, completed, ...more] = await eventsOf(id);
    assert.equal(completed?.type, 'video.upload.completed');
    assert.deepEqual(completed?.data, { videoId: id, uploadId: 'upl_1', sizeBytes: 5000, sequence: 2 });
    assert.deepEqual(more, []);
  });

  test('an import and a recording emit no upload event', async () => {
    for (const input of [
      { title: 'Imported', source: 'IMPORT', importId: 'imp_1' },
      {
        title: 'Recorded',
        source: 'RECORDING',
        streamId: 'str_1',
        sessionId: 'ses_1',
        visibility: 'PRIVATE',
      },
    ] as const) {
      const { id } = await inTx((tx, append) => intake.create(tx, append, account.live, input));
      assert.equal(await inTx((tx, append) => intake.received(tx, append, of(id), original)), true);
      assert.deepEqual(
        (await eventsOf(id)).map(({ type }) => type),
        ['video.created'],
      );
    }
  });

  test('a failed transaction leaves nothing', async () => {
    let id = '';
    const work = inTx(async (tx, append) => {
      ({ id } = await intake.create(tx, append, account.live, { title: 'A', source: 'UPLOAD' }));
      throw new Error('no');
    });
    await assert.rejects(work, /no/);
    assert.equal(await rowOf(id), undefined);
    assert.deepEqual(await eventsOf(id), []);
  });

  test('an upload attaches only to a waiting video of its own workspace', async () => {
    const id = await insertVideo(database.db, account.live);
    await inTx((tx) => intake.attach(tx, account.live, id, 'upl_2'));
    assert.equal((await rowOf(id))?.upload_id, 'upl_2');
    await assert.rejects(
      inTx((tx) => intake.attach(tx, account.test, id, 'upl_3')),
      { code: 'NOT_FOUND' },
    );
    const busy = await insertVideo(database.db, account.live, { status: 'QUEUED' });
    await assert.rejects(
      inTx((tx) => intake.attach(tx, account.live, busy, 'upl_3')),
      { code: 'CONFLICT', field: 'videoId' },
    );
  });

  test('a deleted or missing video accepts no file', async () => {
    const id = await insertVideo(database.db, account.live, { deleted_at: clock.now() });
    for (const gone of [id, 'vid_none']) {
      assert.equal(await inTx((tx, append) => intake.received(tx, append, of(gone), original)), false);
      const failure = { code: 'UPLOAD_EXPIRED', message: 'Late.' } as const;
      assert.equal(await inTx((tx, append) => intake.fail(tx, append, of(gone), failure)), false);
    }
    assert.deepEqual(asked, []);
    assert.deepEqual(await eventsOf(id), []);
  });
});

describe('a missing or invalid file', () => {
  const failure = { code: 'CHECKSUM_MISMATCH', message: 'Another sum.' } as const;

  for (const [status, jobs] of [
    ['UPLOADING', false],
    ['QUEUED', true],
    ['PROCESSING', true],
  ] as const) {
    test(`${status}: FAILED with one event${jobs ? ', and processing is canceled' : ''}`, async () => {
      const id = await insertVideo(database.db, account.live, { status, attempt: jobs ? 1 : 0 });
      const fail = () => inTx((tx, append) => intake.fail(tx, append, of(id), failure));
      assert.deepEqual([await fail(), await fail()], [true, false]);
      const row = await rowOf(id);
      assert.deepEqual(
        [row?.status, row?.error_code, row?.error_message],
        ['FAILED', ...Object.values(failure)],
      );
      assert.deepEqual(asked, jobs ? [`cancel ${id}`] : []);
      const failedAt = clock.now().toISOString();
      assert.deepEqual(
        (await eventsOf(id)).map(({ type, data }) => [type, data]),
        [
          [
            'video.processing.failed',
            { videoId: id, error: { ...failure }, attempt: jobs ? 1 : 0, failedAt, sequence: 1 },
          ],
        ],
      );
    });
  }

  test('a ready video stays ready', async () => {
    const id = await insertReadyVideo(database.db, account.live);
    assert.equal(await inTx((tx, append) => intake.fail(tx, append, of(id), failure)), false);
    assert.equal((await rowOf(id))?.status, 'READY');
  });
});

describe('processing', () => {
  test('processing from picked to ready emits the events of each step', async () => {
    const id = await insertReadyVideo(database.db, account.live, {
      status: 'QUEUED',
      attempt: 0,
      published_at: null,
      external_id: 'ext',
    });
    assert.equal((await step(id, (at) => transitions.pick(at)))?.status, 'PROCESSING');
    assert.equal(await step(id, (at) => transitions.pick(at)), null);
    const done = await step(id, (at) => transitions.complete(at, links));
    assert.equal(done?.status, 'READY');
    assert.deepEqual(done?.published_at, clock.now());
    assert.equal(await step(id, (at) => transitions.complete(at, links)), null);
    assert.deepEqual(
      (await eventsOf(id)).map(({ type, data }) => [type, data]),
      [
        ['video.processing.started', { videoId: id, attempt: 1, sequence: 1 }],
        [
          'video.processing.completed',
          {
            videoId: id,
            title: 'A video',
            status: 'READY',
            durationSec: 60,
            width: 1920,
            height: 1080,
            renditions: ['1080p', '360p'],
            playbackUrl: `https://example.com/${id}/master.m3u8`,
            thumbnailUrl: 'r0a1',
            externalId: 'ext',
            completedAt: clock.now().toISOString(),
            sequence: 2,
          },
        ],
      ],
    );
  });

  test('becoming ready does not publish a private video', async () => {
    const id = await insertVideo(database.db, account.live, { status: 'PROCESSING', visibility: 'PRIVATE' });
    assert.equal((await step(id, (at) => transitions.complete(at, links)))?.published_at, null);
  });

  test('a retry announces its attempt, and the following pick does not announce it again', async () => {
    const id = await insertVideo(database.db, account.live, { status: 'QUEUED' });
    await step(id, (at) => transitions.pick(at));
    await step(id, (at) => transitions.fail(at, { code: 'INTERNAL', message: 'No.' }));
    const again = await step(id, (at) => transitions.retry(at));
    assert.deepEqual([again?.status, again?.revision, again?.attempt], ['QUEUED', 1, 2]);
    await step(id, (at) => transitions.pick(at));
    await step(id, (at) => transitions.fail(at, { code: 'INTERNAL', message: 'No.' }));
    assert.deepEqual(
      (await eventsOf(id)).map(({ type, data }) => [type, data.attempt, data.sequence]),
      [
        ['video.processing.started', 1, 1],
        ['video.processing.failed', 1, 2],
        ['video.processing.started', 2, 3],
        ['video.processing.failed', 2, 4],
      ],
    );
  });

  test('a deleted video no longer changes state', async () => {
    const id = await insertVideo(database.db, account.live, { status: 'QUEUED', deleted_at: clock.now() });
    assert.equal(await step(id, (at) => transitions.pick(at)), null);
    assert.deepEqual(await eventsOf(id), []);
  });
});

describe('storage left by the plan', () => {
  const LEFT = 1000;
  /** Creates an account whose plan has room for one file of `LEFT` bytes. */
  async function almostFull() {
    const { live } = await insertAccount(database.db, { plan: 'FREE' });
    const storage_bytes = PLANS.FREE.storageBytes - LEFT;
    await database.db.updateTable('workspace').set({ storage_bytes }).where('id', '=', live).execute();
    return live;
  }
  const usedOf = async (workspaceId: string) => {
    const query = database.db.selectFrom('workspace').select('storage_bytes').where('id', '=', workspaceId);
    return (await query.executeTakeFirstOrThrow()).storage_bytes;
  };
  const take = async (tx: Tx, append: AppendEvent, workspaceId: string, source: VideoRow['source']) => {
    const { id: videoId } = await intake.create(tx, append, workspaceId, { title: 'A file', source });
    await intake.hold.reserve(tx, { workspaceId, videoId }, LEFT);
    return videoId;
  };

  test('the last storage goes to one of two concurrent sources', async () => {
    const workspaceId = await almostFull();
    const holds = Promise.withResolvers<void>();
    const mayEnd = Promise.withResolvers<void>();
    const upload = inTx(async (tx, append) => {
      await take(tx, append, workspaceId, 'UPLOAD');
      holds.resolve();
      await mayEnd.promise;
    });
    await holds.promise;
    let isOver = false;
    const imported = inTx((tx, append) => take(tx, append, workspaceId, 'IMPORT')).finally(() => {
      isOver = true;
    });
    const refused = assert.rejects(imported, { code: 'QUOTA_EXCEEDED' });
    // The second transaction waits for the first; without the lock it would have ended by now.
    await waitFor(async () => isOver || (await waiting()) > 0, { timeoutMs: 60_000 });
    mayEnd.resolve();
    await upload;
    await refused;
    assert.equal(await usedOf(workspaceId), PLANS.FREE.storageBytes);
  });

  test('the received size counts in the end, and a failed video counts nothing', async () => {
    const workspaceId = await almostFull();
    const before = await usedOf(workspaceId);
    const videoId = await inTx((tx, append) => take(tx, append, workspaceId, 'UPLOAD'));
    const file = { ...original, sizeBytes: LEFT + 1 };
    await inTx((tx, append) => intake.received(tx, append, { workspaceId, videoId }, file));
    assert.equal(await usedOf(workspaceId), before + LEFT + 1);
    const failure = { code: 'CHECKSUM_MISMATCH', message: 'Another sum.' } as const;
    await inTx((tx, append) => intake.fail(tx, append, { workspaceId, videoId }, failure));
    assert.equal(await usedOf(workspaceId), before);
  });

  async function waiting(): Promise<number> {
    const [row] = await database.sql<{ count: number }[]>`
      select count(*)::integer as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    return row?.count ?? 0;
  }
});
