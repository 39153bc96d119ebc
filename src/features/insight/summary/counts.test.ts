import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { commandLine } from '../../../../test/harness/command-line.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { insertVideo } from '../../../../test/harness/videos.ts';

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.close());

const STATUSES = ['UPLOADING', 'QUEUED', 'PROCESSING', 'READY', 'FAILED'] as const;

/** Change of the videos of a workspace; may be rolled back. */
const change = fc.record({
  act: fc.constantFrom('insert', 'status', 'duration', 'delete', 'restore', 'remove', 'rename'),
  status: fc.constantFrom(...STATUSES),
  duration: fc.option(fc.double({ min: 0, max: 50_000, noNaN: true })),
  which: fc.nat(20),
  isTakenBack: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
});

type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

test('stored counts equal a recount under concurrent changes', async () => {
  const { account, key } = await app.createKey();
  const { db, sql } = app.container;
  const workspaceId = account.live;
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) ids.push(await insertVideo(db, workspaceId, { duration_sec: 0.1 }));
  const apply = async ({ act, status, duration, which, isTakenBack }: Change) => {
    const id = ids[which % ids.length] ?? '';
    const done = db.transaction().execute(async (tx) => {
      const video = tx.updateTable('video').where('id', '=', id);
      if (act === 'insert') await insertVideo(tx, workspaceId, { status, duration_sec: duration });
      if (act === 'status') await video.set({ status }).execute();
      if (act === 'duration') await video.set({ duration_sec: duration }).execute();
      if (act === 'delete') await video.set({ deleted_at: new Date(0) }).execute();
      if (act === 'restore') await video.set({ deleted_at: null, status }).execute();
      if (act === 'remove') await tx.deleteFrom('video').where('id', '=', id).execute();
      if (act === 'rename') await video.set({ title: status }).execute();
      if (isTakenBack) throw new Error('taken back');
    });
    await done.catch((error: unknown) => assert.match(String(error), /taken back/));
  };
  const made = async (path: string, body: unknown) =>
    (await app.request('POST', path, { key, body })).assertOk(201).string('data.id');
  const others = async () => {
    const [stream] = await Promise.all([
      made('/streams', { title: 'One' }),
      made('/playlists', { title: 'One' }),
      made('/streams', { title: 'Two' }),
    ]);
    (await app.request('DELETE', `/streams/${stream}`, { key })).assertOk(200);
  };
  const counted = async () => {
    const summary = Object((await app.request('GET', '/summary', { key })).assertOk(200).at('data'));
    const minutes = (await app.request('GET', '/quota/VIDEO_MINUTES', { key })).assertOk(200).at('data.used');
    return [summary.videos, summary.streams.total, summary.playlists, minutes];
  };
  const truth = async () => {
    const [row] = await sql`
      select count(*) as total, count(*) filter (where status = 'READY') as ready,
        count(*) filter (where status = any ('{QUEUED,PROCESSING}')) as processing,
        count(*) filter (where status = 'FAILED') as failed,
        coalesce(floor(sum(round(duration_sec * 1000)) / 60000), 0)::bigint as minutes,
        (select count(*) from stream where workspace_id = ${workspaceId} and deleted_at is null) as streams,
        (select count(*) from playlist where workspace_id = ${workspaceId}) as playlists
      from video where workspace_id = ${workspaceId} and deleted_at is null`;
    const { minutes, streams, playlists, ...videos } = Object(row);
    return [videos, streams, playlists, minutes];
  };

  for (const changes of fc.sample(fc.array(change, { minLength: 20, maxLength: 20 }), 3)) {
    await Promise.all([...changes.map(apply), others(), runTask(app.container, 'summary counts')]);
    assert.deepEqual(await counted(), await truth());
  }
  await runTask(app.container, 'summary counts');
  assert.deepEqual(await counted(), await truth());
  const [rows] = await sql`select max(rows) as most from (
    select count(*) as rows from counter_delta where workspace_id = ${workspaceId} group by name) one`;
  assert.ok(rows?.most <= 8);

  // Ensures that a duration exists to delete, whatever the changes were.
  await insertVideo(db, workspaceId, { duration_sec: 90 });
  assert.equal(await commandLine(app, 'counts', 'check'), 'all counts are correct\n');
  await sql`delete from counter_delta where workspace_id = ${workspaceId} and name = 'VIDEO_MS'`;
  await sql`update counter_delta set amount = amount + 7 where workspace_id = ${workspaceId} and name = 'STREAMS'`;
  const said = await commandLine(app, 'counts', 'check');
  assert.match(said, new RegExp(`${workspaceId} STREAMS`));
  assert.match(said, /VIDEO_MS/);
  assert.deepEqual(await counted(), await truth());

  await sql`delete from workspace where id = ${workspaceId}`;
  assert.equal((await sql`select from counter_delta where workspace_id = ${workspaceId}`).length, 0);
});
