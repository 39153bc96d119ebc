import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { sql } from 'kysely';
import { waitFor } from '../../../../../test/harness/wait-for.ts';
import {
  audioPlan,
  gate,
  openProcessing,
  type ProcessingRig,
} from '../../../../../test/processing/fixture.ts';
import { replace, replaced } from '../../../../../test/processing/replacing.ts';
import { MediaFileError } from '../../../../media/contract/index.ts';
import type { VideoRow } from '../repository.ts';
import { lastReplacement } from './repository.ts';

let rig: ProcessingRig;

before(async () => {
  rig = await openProcessing();
});
beforeEach(() => {
  const { transcoder } = rig;
  transcoder.calls.length = 0;
  transcoder.before = {};
  transcoder.further = [];
  transcoder.audio = [audioPlan({})];
  Object.assign(transcoder.source, { durationSec: 10, captions: [], chapters: [], notes: [] });
});
afterEach(() => rig.stop());
after(() => rig.close());

const types = async (id: string) => (await rig.eventsOf(id)).map(({ type }) => type);
/** Returns the renditions visible to players, those of the video's own revision. */
async function played(id: string): Promise<string[]> {
  const { revision } = await rig.find(id);
  const rows = await rig.renditions(id);
  return rows.flatMap((row) =>
    row.revision === revision && row.status === 'READY' ? [`${row.folder}/${row.name}`] : [],
  );
}

/** Returns the folders of the images and of these renditions. */
function foldersOf(one: VideoRow, other: VideoRow, paths: readonly string[]): Set<string | null | undefined> {
  return new Set([one.image_folder, other.image_folder, ...paths.map((path) => path.split('/')[0])]);
}

async function readyVideo(): Promise<string> {
  const id = await rig.addVideo();
  assert.equal((await rig.ended(id)).status, 'READY');
  return id;
}

test('the video plays its file until the replacement is done, and then only the new one', async () => {
  rig.start();
  const id = await readyVideo();
  const before = await rig.find(id);
  const former = await played(id);
  const held = gate();
  rig.transcoder.before.encode = held.wait;
  rig.transcoder.source.durationSec = 20;
  const key = await replace(rig, id);
  await held.reached();
  const during = await rig.find(id);
  assert.deepEqual(
    [during.status, during.duration_sec, during.image_folder, during.original_key, during.progress_percent],
    ['READY', 10, before.image_folder, before.original_key, 100],
  );
  assert.deepEqual([await played(id), (await lastReplacement(rig.db, id))?.status], [former, 'PROCESSING']);
  held.open();
  const row = await replaced(rig, id);
  const after = await rig.find(id);
  assert.deepEqual([row.status, after.status, after.duration_sec], ['READY', 'READY', 20]);
  assert.deepEqual([after.original_key, after.revision, after.size_bytes], [key, 1, 12]);
  assert.ok(after.image_folder?.startsWith('r1a') && after.has_storyboard && after.has_preview);
  const now = await played(id);
  assert.deepEqual([now.length, now.filter((path) => former.includes(path))], [former.length, []]);
  assert.deepEqual((await types(id)).slice(-2), ['video.upload.completed', 'video.replaced']);
  const { replacedAt, ...data } = (await rig.eventsOf(id)).at(-1)?.data ?? {};
  assert.equal(typeof replacedAt, 'string');
  assert.deepEqual(data, {
    ...{ videoId: id, title: 'A film', uploadId: row.upload_id, importId: null, durationSec: 20 },
    ...{ width: 1920, height: 1080 },
    renditions: ['1080p', '720p', '360p'],
    playbackUrl: `https://m.test/v/${id}/master.m3u8`,
    ...{ thumbnailUrl: after.image_folder, externalId: null, sequence: 5 },
  });
  // Files of the previous revision stay for current viewers; the clean-up respects that.
  await rig.hurry();
  await waitFor(async () => (await rig.openJobs()).length === 0, { message: 'the clean-up' });
  assert.deepEqual(new Set(await rig.folders(id)), foldersOf(before, after, [...former, ...now]));
  assert.equal(String(await rig.store.read(before.original_key ?? '')), 'the original');
  const facts = await rig.db
    .selectFrom('usage_event')
    .select('amount')
    .where('subject_id', '=', id)
    .where('kind', '=', 'ENCODE')
    .execute();
  assert.deepEqual(facts.map(({ amount }) => Number(amount)).sort(), [10_000, 20_000]);
});

test('an unplayable replacement changes nothing, and is removed', async () => {
  rig.start();
  const id = await readyVideo();
  const before = await rig.find(id);
  const former = await played(id);
  rig.transcoder.before.encode = () => Promise.reject(new MediaFileError('CORRUPT_INPUT', 'It breaks off.'));
  const key = await replace(rig, id);
  const row = await replaced(rig, id);
  assert.deepEqual(
    [row.status, row.error_code, row.error_message],
    ['FAILED', 'CORRUPT_INPUT', 'It breaks off.'],
  );
  assert.deepEqual(
    [{ ...(await rig.find(id)), event_sequence: 0 }, await played(id)],
    [{ ...before, event_sequence: 0 }, former],
  );
  const { failedAt, ...data } = (await rig.eventsOf(id)).at(-1)?.data ?? {};
  assert.equal(typeof failedAt, 'string');
  const error = { code: 'CORRUPT_INPUT', message: 'It breaks off.' };
  assert.deepEqual(data, {
    ...{ videoId: id, title: 'A film', uploadId: row.upload_id, importId: null },
    ...{ error, sequence: 5 },
  });
  assert.equal((await types(id)).at(-1), 'video.replacement.failed');
  const workspace = () =>
    rig.db
      .selectFrom('workspace')
      .select('storage_bytes')
      .where('id', '=', before.workspace_id)
      .executeTakeFirstOrThrow();
  assert.equal((await workspace()).storage_bytes, 24, 'both are there');
  await rig.hurry();
  await waitFor(async () => (await workspace()).storage_bytes === 12, { message: 'the clean-up' });
  assert.equal(await rig.store.head(key), null);
  assert.deepEqual(new Set(await rig.folders(id)), foldersOf(before, before, former));
  assert.equal((await rig.renditions(id)).length, former.length);

  rig.transcoder.before = {};
  await replace(rig, id);
  assert.equal((await replaced(rig, id)).status, 'READY');
  assert.equal((await rig.find(id)).revision, 2, 'no revision is used twice');
});

test('workers that stop midway lose nothing: the next ones finish the replacement', async () => {
  rig.start();
  const id = await readyVideo();
  const held = gate();
  rig.transcoder.before.encode = held.wait;
  await replace(rig, id);
  await held.reached();
  await rig.stop();
  assert.equal((await rig.find(id)).revision, 0);
  rig.transcoder.before = {};
  await rig.hurry();
  rig.start();
  assert.equal((await replaced(rig, id)).status, 'READY');
  assert.equal((await rig.find(id)).revision, 1);
  assert.equal((await types(id)).filter((type) => type === 'video.replaced').length, 1);
});

test('a replacement whose job was lost is restarted by the sweep', async () => {
  rig.start();
  const id = await readyVideo();
  await rig.stop();
  await replace(rig, id);
  await sql`delete from job where state = 'waiting'`.execute(rig.db);
  await rig.db
    .updateTable('video_replacement')
    .set({ updated_at: new Date(Date.now() - 3_600_000) })
    .where('video_id', '=', id)
    .execute();
  await rig.processing.sweep();
  rig.start();
  assert.equal((await replaced(rig, id)).status, 'READY');
});

test('captions and chapters of the file are replaced with it; those set by the owner stay', async () => {
  const { source } = rig.transcoder;
  const track = { streamIndex: 2, isDefault: false, isForced: false, isSdh: false };
  source.captions = [{ ...track, language: 'fr', title: 'Vieux' }];
  source.chapters = [{ startSec: 0, title: 'Old opening' }];
  source.notes = [{ code: 'VIDEO_LEFT_OUT', message: 'Another picture.' }];
  rig.start();
  const id = await readyVideo();
  const own = { id: `cap_${id}`, video_id: id, language: 'en', label: 'English', file: 'own.vtt' };
  const heard = { ...own, id: `auto_${id}`, language: 'it', file: 'auto.vtt', is_auto: true };
  await rig.db.insertInto('video_caption').values([own, heard]).execute();
  await rig.db.updateTable('video').set({ thumbnail_file: 'chosen.jpg' }).where('id', '=', id).execute();
  source.captions = [
    { ...track, language: 'en', title: 'Not wanted' },
    { ...track, language: 'de', title: 'Neu' },
  ];
  source.chapters = [{ startSec: 0, title: 'New opening' }];
  source.notes = [];
  rig.transcoder.audio.push(audioPlan({ name: 'audio-1', track: 1, language: 'de', label: 'Deutsch' }));
  const held = gate();
  rig.transcoder.before.encode = held.wait;
  await replace(rig, id);
  await waitFor(async () => (await lastReplacement(rig.db, id))?.captions.length === 2, {
    message: 'the new captions',
  });
  const captions = async () => {
    const rows = await rig.db.selectFrom('video_caption').selectAll().where('video_id', '=', id).execute();
    return rows.map(({ language, label }) => `${language} ${label}`).sort();
  };
  assert.deepEqual(await captions(), ['en English', 'fr Vieux', 'it English']);
  held.open();
  await replaced(rig, id);
  assert.deepEqual(await captions(), ['de Neu', 'en English']);
  const video = await rig.find(id);
  assert.deepEqual(
    [video.chapters, video.processing_notes, video.thumbnail_file],
    [source.chapters, [], 'chosen.jpg'],
  );
  assert.ok((await played(id)).some((path) => path.endsWith('/audio-1')));

  const chosen = [
    { startSec: 2, title: 'Mine' },
    { startSec: 9, title: 'Beyond the end' },
  ];
  await rig.db
    .updateTable('video')
    .set({ chapters: JSON.stringify(chosen) })
    .where('id', '=', id)
    .execute();
  source.durationSec = 8;
  await replace(rig, id);
  await replaced(rig, id);
  assert.deepEqual((await rig.find(id)).chapters, chosen.slice(0, 1));
});

test('the previous file is no longer encoded, including in additional codecs', async () => {
  rig.transcoder.further = ['HEVC'];
  const held = gate();
  rig.transcoder.before.encode = async (signal) => {
    if (rig.transcoder.calls.at(-1)?.includes('-hevc')) await held.wait(signal);
  };
  rig.start(1);
  const id = await readyVideo();
  await held.reached();
  rig.transcoder.further = [];
  await replace(rig, id);
  assert.equal((await replaced(rig, id)).status, 'READY');
  await waitFor(async () => !(await rig.openJobs()).includes('video.further'), { message: 'its end' });
  const rows = await rig.renditions(id);
  assert.deepEqual(
    rows.filter(({ status }) => status !== 'READY'),
    [],
  );
  assert.equal(rows.filter(({ revision }) => revision === 0).length, 4, 'those that played are kept');
});
