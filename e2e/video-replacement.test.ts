import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type ClipOptions, makeClip } from '../test/harness/clip.ts';
import { createTestDatabase, type TestDatabase } from '../test/harness/database.ts';
import { createPartner, type Partner } from '../test/harness/partner.ts';
import { type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';

const SIZE = { width: 320, height: 180, fps: 10, bitrateKbps: 300 };
let folder: string;
let database: TestDatabase;
let platform: RunningPlatform;
let partner: Partner;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'marquee-replacing-'));
  database = await createTestDatabase({ pool: 2 });
  await start();
});
after(async () => {
  await platform?.stop();
  await database?.close();
  await rm(folder, { recursive: true, force: true });
});

async function start(port?: number): Promise<void> {
  const environment = { ROLES: 'api,worker', DATABASE_URL: database.url };
  platform = await startPlatform({
    dataDir: join(folder, 'data'),
    environment,
    ...(port !== undefined && { port }),
  });
  partner = createPartner(platform);
}

async function makeFile(name: string, options: ClipOptions): Promise<Buffer> {
  const path = join(folder, name);
  await makeClip(path, options);
  return readFile(path);
}

async function put(url: string, file: Buffer): Promise<void> {
  const answer = await fetch(url, { method: 'PUT', body: new Uint8Array(file) });
  assert.ok(answer.ok, `${answer.status} ${await answer.text()}`);
}

/** Returns the playlist of the lowest rung and its first URL, as players get them. */
async function lowest(playbackUrl: string): Promise<{ playlist: string; text: string; segment: string }> {
  const master = await (await fetch(playbackUrl)).text();
  const [, line = ''] = /^#EXT-X-STREAM-INF:.*RESOLUTION.*\n(.*)$/m.exec(master) ?? [];
  const playlist = new URL(line, playbackUrl).href;
  const text = await (await fetch(playlist)).text();
  const segment = text.split('\n').find((one) => one.includes('.m4s')) ?? '';
  return { playlist, text, segment: new URL(segment, playlist).href };
}

test('a new file replaces the previous one during playback', async () => {
  const [first, better] = [
    await makeFile('first.mp4', { seconds: 2, ...SIZE }),
    await makeFile('better.mp4', { seconds: 4, ...SIZE }),
  ];
  const made = await partner.createUpload({ filename: 'first.mp4', sizeBytes: first.length });
  const { videoId } = made;
  await put(made.uploadUrl, first);
  const before = await partner.videoWhen(videoId, ({ status }) => status === 'READY', 60_000);
  const playbackUrl = before.playbackUrl ?? '';
  const begun = await lowest(playbackUrl);
  const replace = async (file: Buffer) => {
    const { data } = await partner.call('POST', `/videos/${videoId}/replacement`, { sizeBytes: file.length });
    const { uploadUrl } = Object(Object(data).upload);
    await put(uploadUrl, file);
  };

  await replace(better.subarray(0, better.length / 2));
  const failed = () =>
    partner.videoWhen(videoId, ({ replacement }) => replacement?.status === 'FAILED', 30_000);
  assert.equal((await failed()).replacement?.error?.code, 'CORRUPT_INPUT');
  assert.deepEqual(await lowest(playbackUrl), begun);

  await replace(better);
  const after = await waitFor(
    async () => {
      // Viewers receive media at any time.
      assert.equal((await fetch((await lowest(playbackUrl)).segment)).status, 200);
      const video = await partner.video(videoId);
      return video.replacement === null && video;
    },
    { timeoutMs: 60_000, intervalMs: 100, message: 'the other file' },
  );
  assert.deepEqual([after.status, after.playbackUrl], ['READY', playbackUrl]);
  assert.ok(Math.abs((after.durationSec ?? 0) - 4) < 0.2, `${after.durationSec}`);
  const now = await lowest(playbackUrl);
  assert.notEqual(now.segment, begun.segment);
  assert.equal(await (await fetch(begun.playlist)).text(), begun.text, 'who has begun sees the end');
  assert.equal((await fetch(begun.segment)).status, 200);
  const { data: original } = await partner.call('GET', `/videos/${videoId}/download`);
  assert.deepEqual(await (await fetch(Object(original).url)).bytes(), new Uint8Array(better));
  const { data: events } = await partner.call('GET', '/me/events?limit=100');
  assert.ok(Array.isArray(events));
  const kinds = events.toReversed().flatMap(({ type, data }) => (data.videoId === videoId ? [type] : []));
  const received = 'video.upload.completed';
  assert.deepEqual(kinds.slice(-4), [received, 'video.replacement.failed', received, 'video.replaced']);
});

test('kill -9 between the last byte and the commit: the old file plays, and the new one is not sent again', async () => {
  const [first, better] = [
    await makeFile('first.mp4', { seconds: 2, ...SIZE }),
    await makeFile('better.mp4', { seconds: 4, ...SIZE }),
  ];
  const { videoId, uploadUrl } = await partner.createUpload({
    filename: 'a.mp4',
    sizeBytes: first.length,
  });
  await put(uploadUrl, first);
  const { playbackUrl } = await partner.videoWhen(videoId, ({ status }) => status === 'READY', 60_000);
  const used = async () => Number(Object((await partner.call('GET', '/quota/STORAGE_BYTES')).data).used);
  const originals = async () => {
    const names = await readdir(join(folder, 'data/media'), { recursive: true });
    return names.filter((name) => name.includes(`${videoId}/original/`));
  };
  const before = await used();
  const { data } = await partner.call('POST', `/videos/${videoId}/replacement`, {
    sizeBytes: better.length,
  });
  const { uploadUrl: address } = Object(Object(data).upload);
  const [held] = await database.sql`select workspace_id as id from video where id = ${videoId}`;
  let sending: Promise<unknown> = Promise.resolve();
  await database.sql.begin(async (sql) => {
    // Ending a session begins with this lock.
    await sql`select 1 from workspace where id = ${String(held?.id)} for update`;
    sending = put(String(address), better).catch((error: unknown) => error);
    const waits = async () =>
      database.sql`select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
    await waitFor(async () => (await originals()).length === 2 && (await waits()).length > 0, {
      timeoutMs: 20_000,
      message: 'a whole file, and nothing written down of it',
    });
    platform.process.kill('SIGKILL');
    await once(platform.process, 'exit');
  });
  assert.ok((await sending) instanceof Error, 'nobody has told the sender that it is there');

  await start(platform.port);
  assert.match((await lowest(playbackUrl ?? '')).text, /EXTINF/);
  const after = await waitFor(
    async () => {
      assert.equal((await fetch((await lowest(playbackUrl ?? '')).segment)).status, 200);
      const video = await partner.video(videoId);
      return video.replacement === null && video;
    },
    { timeoutMs: 90_000, intervalMs: 100, message: 'the other file' },
  );
  assert.ok(Math.abs((after.durationSec ?? 0) - 4) < 0.2, `${after.durationSec}`);
  assert.equal(await used(), before + better.length, 'both files count while both are there');
  assert.equal((await originals()).length, 2);
  const { data: events } = await partner.call('GET', '/me/events?limit=100');
  assert.ok(Array.isArray(events));
  const kinds = events
    .toReversed()
    .flatMap(({ type, data: about }) => (about.videoId === videoId ? [type] : []));
  assert.deepEqual(kinds.slice(-2), ['video.upload.completed', 'video.replaced']);
  const lives = await readdir(join(folder, 'data/tmp'));
  assert.equal(lives.length, 1, 'the scratch files of the killed platform are gone');
});
