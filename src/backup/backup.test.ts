import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { SECRET_KEY, startTestApp, type TestApp } from '../../test/harness/app.ts';
import { type CommandOutcome, runCommand } from '../../test/harness/command-line.ts';
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts';
import { startS3, type TestS3 } from '../../test/harness/s3.ts';
import { addVideo, FOLDER } from '../../test/videos/fixture.ts';
import { runCommandLine } from '../main/command-line.ts';
import { createDiskStore } from '../media/storage/disk.ts';
import { migrate } from '../platform/db/migrate.ts';
import { createMediaCopy } from './media.ts';
import { readMediaList } from './read-backup.ts';

const FILES = { 'index.m3u8': '#EXTM3U\n', 'init.mp4': 'the head', 's_00001.m4s': 'a second' };
const s3: TestS3 | null = await startS3();
const BUCKET = {
  S3_ENDPOINT: s3?.endpoint,
  S3_REGION: s3?.region,
  S3_ACCESS_KEY_ID: s3?.accessKeyId,
  S3_SECRET_ACCESS_KEY: s3?.secretAccessKey,
  S3_PATH_STYLE: 'true',
};

let app: TestApp;
let folder: string;
let key: string;
let videoId: string;
let streamIds: string[];

before(async () => {
  app = await startTestApp();
  folder = await mkdtemp(join(tmpdir(), 'marquee-backup-'));
  const made = await app.createKey();
  key = made.key;
  const files = new Map(Object.entries(FILES).map(([name, text]) => [name, Buffer.from(text)]));
  const rendition = {
    name: '720p',
    kind: 'VIDEO',
    width: 1280,
    height: 720,
    codecs: 'avc1',
    bitrate: 1_000_000,
  } as const;
  const fixture = { renditions: [{ ...rendition, files }], images: new Map(), durationSec: 2 };
  videoId = await addVideo(app.container, made.account, fixture, { visibility: 'PUBLIC' });
  const streams = await Promise.all(
    Array.from({ length: 20 }, (_, number) => createStream(`Early ${number}`)),
  );
  streamIds = streams;
  const url = 'https://example.com/hook';
  (await app.request('POST', '/me/webhooks', { key, body: { url, events: [] } })).assertOk(201);
});
after(async () => {
  await app.close();
  await s3?.close();
  await rm(folder, { recursive: true, force: true });
});

async function createStream(title: string): Promise<string> {
  const body = { title, description: 'Tabs\tand\nlines, \\N and "quotes", ünïcödé' };
  return (await app.request('POST', '/streams', { key, body })).assertOk(201).string('data.id');
}

function dataOf({ code, stdout, stderr }: CommandOutcome): Record<string, unknown> {
  assert.equal(code, 0, stderr + stdout);
  return Object(JSON.parse(stdout));
}

const backup = async (to: string, ...more: string[]) =>
  dataOf(await runCommand(app, ['backup', '--to', to, '--json', ...more]));

/** An installation that has lost everything but its secret key. */
interface Empty {
  database: TestDatabase;
  dataDir: string;
  run(args: string[], environment?: NodeJS.ProcessEnv): Promise<CommandOutcome>;
}

async function withEmpty(work: (empty: Empty) => Promise<void>): Promise<void> {
  const database = await createTestDatabase({ empty: true, pool: 2 });
  const dataDir = await mkdtemp(join(folder, 'empty-'));
  const given = {
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    SECRET_KEY: SECRET_KEY.toString('hex'),
    ...BUCKET,
  };
  const run: Empty['run'] = async (args, environment) => {
    const outcome = { stdout: '', stderr: '' };
    const into = (name: keyof typeof outcome) => ({
      write: (text: string) => {
        outcome[name] += text;
      },
    });
    const terminal = { stdout: into('stdout'), stderr: into('stderr') };
    const code = await runCommandLine(args, terminal, { ...given, ...environment });
    return { code, ...outcome };
  };
  try {
    await work({ database, dataDir, run });
  } finally {
    await database.close();
  }
}

/** Every row of every table, but for the numbers of transactions, which belong to a server. */
async function rowsOf({ sql }: Pick<TestDatabase, 'sql'>): Promise<Record<string, string[]>> {
  const tables = await sql<{ name: string }[]>`
    select schemaname || '.' || tablename as name from pg_tables
    where schemaname = 'public' or tablename in ('queue', 'job', 'schedule') order by 1`;
  const found: Record<string, string[]> = {};
  for (const { name } of tables.filter((table) => table.name !== 'public.migration')) {
    const rows = await sql.unsafe<{ row: string }[]>(
      `select (to_jsonb(t) - 'xid')::text as row from ${name} t order by 1`,
    );
    found[name] = rows.map(({ row }) => row);
  }
  return found;
}

const refused = async (outcome: Promise<CommandOutcome>, message: RegExp) => {
  const { code, stdout, stderr } = await outcome;
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /^marquee: [^\n]+\n$/);
  assert.match(stderr, message);
};

test('data acknowledged before the backup exists and works after the restore', async () => {
  // To a bucket, where the tests have a server for one.
  const to = s3 === null ? join(folder, 'under-load') : `s3://${s3.bucket}/some/where`;
  const database = { DATABASE_URL: app.databaseUrl, DATA_DIR: app.container.config.DATA_DIR };
  let isOver = false;
  const load = (async () => {
    for (let number = 0; !isOver; number++) await createStream(`Meanwhile ${number}`);
  })();
  await withEmpty(async ({ database: empty, dataDir, run }) => {
    const args = ['backup', '--to', to, '--json'];
    const made = dataOf(
      await run(args, database).finally(() => {
        isOver = true;
      }),
    );
    await load;
    const restored = dataOf(await run(['restore', '--from', to, '--json']));
    assert.deepEqual([restored.id, restored.rows, restored.files], [made.id, made.rows, made.files]);
    const config = { ...app.container.config, DATA_DIR: dataDir };
    const beside = { ...app, databaseUrl: empty.url, container: { ...app.container, config } };
    const second = await startTestApp({ beside });
    try {
      for (const id of streamIds) (await second.request('GET', `/streams/${id}`, { key })).assertOk(200);
      const hooks = (await second.request('GET', '/me/webhooks', { key })).assertOk(200);
      assert.equal(hooks.at('data.0.url'), 'https://example.com/hook');
      const segment = await fetch(`${second.url}/v/${videoId}/${FOLDER}/720p/s_00001.m4s`);
      assert.deepEqual([segment.status, await segment.text()], [200, FILES['s_00001.m4s']]);
      const next = { key, body: { title: 'Later' } };
      (await second.request('POST', '/streams', next)).assertOk(201);
    } finally {
      await second.close();
    }
  });
});

test('media are copied once, and kept as long as a backup has them', async () => {
  const to = join(folder, 'series');
  const blobs = async () =>
    (await readdir(join(to, 'media'), { recursive: true })).filter((name) => name.length > 60);
  const first = await backup(to);
  assert.deepEqual(first.copied, { files: 3, sizeBytes: Object.values(FILES).join('').length });
  const { store } = app.container;
  await store.put('w/x/v/y/late', 'The late one', 'text/plain');
  const second = await backup(to);
  assert.deepEqual(second.copied, { files: 1, sizeBytes: 12 });
  await store.delete('w/x/v/y/late');
  const third = await backup(to, '--keep', '2');
  assert.deepEqual([third.copied, third.pruned], [{ files: 0, sizeBytes: 0 }, [first.id]]);
  assert.equal((await blobs()).length, 4);
  const { stdout } = await runCommand(app, ['backup', 'list', '--from', to]);
  assert.deepEqual(stdout, `${second.id}\n${third.id}\n`);
  await backup(to, '--keep', '1');
  assert.equal((await blobs()).length, 3);
});

test('an upload that ends while the backup runs is in it as the whole file, and not as half of one', async () => {
  const root = join(folder, 'uploading');
  const store = createDiskStore(join(root, 'media'));
  const target = createDiskStore(join(folder, 'uploads'));
  const key = 'w/x/v/y/original/z';
  const state = await store.partials.create(key, 'video/mp4');
  const part = await store.partials.append(key, state, 0, Readable.from(['half of it']));
  const copy = await createMediaCopy({ id: 'one', store, dataDir: root, target, before: null });
  await copy.pass();
  await store.partials.append(key, part, 10, Readable.from([', and the rest']));
  await copy.pass();
  await store.partials.complete(key, part);
  await copy.pass();
  assert.equal((await copy.writeList()).files, 1);
  const [file] = await Array.fromAsync(readMediaList(target, 'one'));
  assert.deepEqual([file?.place, file?.key, file?.sizeBytes], ['STORE', key, 24]);
});

describe('obstacles are reported in one line', () => {
  let to: string;
  let id: string;
  before(async () => {
    to = join(folder, 'refused');
    id = String((await backup(to)).id);
  });
  const restore = () => ['restore', '--from', to];
  const manifest = () => join(to, 'backups', id, 'manifest.json');

  test('a database that runs, is not empty, or is newer', async () => {
    await refused(runCommand(app, restore()), /the platform runs on this database/);
    await withEmpty(async ({ database, run }) => {
      await migrate(database.sql);
      await refused(run(restore()), /the database is not empty/);
      await database.sql`insert into migration (name) values ('9999_later.sql')`;
      await refused(run(restore()), /the database is newer than the backup: it has 9999_later.sql/);
    });
  });

  test('another secret key, none, and a backup of another version', async () => {
    await withEmpty(async ({ database, dataDir, run }) => {
      await refused(run(restore(), { SECRET_KEY: '0'.repeat(64) }), /secret key does not match the backup/);
      await refused(run(restore(), { SECRET_KEY: '' }), /secret key not found: copy the platform's key/);
      const text = await readFile(manifest(), 'utf8');
      await writeFile(
        manifest(),
        text.replace('"0001_platform.sql"', '"0001_platform.sql", "9999_later.sql"'),
      );
      await refused(run(restore()), /does not support 9999_later.sql: update the program first/);
      await writeFile(manifest(), text.replace('"0001_platform.sql"', '"0001_accounts.sql"'));
      await refused(
        run(restore()),
        /the backup is too old for this version: restore it with commit \w+, then/,
      );
      await writeFile(manifest(), text.replace('"format": 1', '"format": 2'));
      await refused(run(restore()), /the manifest of .* is corrupt or was written by another version/);
      await writeFile(manifest(), text);
      await refused(run(['restore', '--from', join(folder, 'nothing')]), /no complete backup found/);
      assert.deepEqual(await readdir(dataDir), ['instance.lock']);
      const tables = await database.sql`select from pg_tables where schemaname = 'public'`;
      assert.equal(tables.length, 0);
    });
  });

  test('damage is detected, and the restore it interrupted is recognized and restarted', async () => {
    const stream = join(to, 'backups', id, 'tables', 'public.stream.copy.zst');
    const bytes = await readFile(stream);
    await writeFile(
      stream,
      bytes.map((byte, at) => (at === bytes.length - 20 ? byte ^ 1 : byte)),
    );
    await withEmpty(async ({ database, dataDir, run }) => {
      const found = await run(['backup', 'verify', '--from', to]);
      assert.deepEqual([found.code, found.stderr], [1, '']);
      assert.match(found.stdout, /public\.stream\.copy\.zst is damaged/);
      await refused(run(restore()), /public\.stream\.copy\.zst is damaged/);
      await refused(run(['account', 'list']), /was interrupted: run marquee restore again/);
      await writeFile(
        stream,
        zstdCompressSync(Buffer.concat([zstdDecompressSync(bytes), Buffer.from('no row\n')])),
      );
      await refused(run(restore()), /public\.stream\.copy\.zst is damaged/);
      await writeFile(stream, bytes);
      await database.sql`create table left_behind ()`;
      dataOf(await run([...restore(), '--json']));
      assert.deepEqual(await rowsOf(database), await rowsOf(app.container));
      const [sequence] = await database.sql`select last_value from event_seq`;
      assert.deepEqual([sequence], [...(await app.container.sql`select last_value from event_seq`)]);
      dataOf(await run(['account', 'list', '--json']));
      await refused(run(restore()), /the database is not empty/);
      const blob = await readdir(join(to, 'media'), { recursive: true });
      await rm(join(to, 'media', blob.find((name) => name.length > 60) ?? ''));
      const missing = await run(['backup', 'verify', '--from', to]);
      assert.match(missing.stdout, /media\/[0-9a-f/]+ is missing\nw\/.* cannot be restored/);
      assert.deepEqual((await readdir(dataDir)).sort(), ['instance.lock', 'media']);
    });
  });
});
