import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { NO_S3, startS3 } from '../../../test/harness/s3.ts';
import { KINDS, plantOutput } from '../../../test/transcode/malicious-outputs.ts';
import { type BlobStore, DigestMismatchError, type PartialState } from '../contract/index.ts';
import { createDiskStore } from './disk.ts';
import { createS3Store } from './s3.ts';

const MiB = 2 ** 20;
const TYPE = 'video/mp4';

const s3 = await startS3();
const folder = await mkdtemp(join(tmpdir(), 'marquee-storage-'));
after(async () => {
  await s3?.close();
  await rm(folder, { recursive: true, force: true });
});

interface Driver {
  name: string;
  skip: string | false;
  /** Opens the store on the same files, as another process would. */
  open(): BlobStore;
  /** Lists local temporary files without a purpose. */
  leftovers(): Promise<string[]>;
}

const tmpOf = async (dir: string) => readdir(dir).catch(() => []);
const drivers: Driver[] = [
  {
    name: 'disk',
    skip: false,
    open: () => createDiskStore(join(folder, 'disk')),
    leftovers: () => tmpOf(join(folder, 'disk', '.tmp')),
  },
  {
    name: 's3',
    skip: s3 === null && NO_S3,
    open: () =>
      createS3Store({
        ...{ bucket: '', region: '', ...s3 },
        pathStyle: true,
        prefix: 'some/where/',
        partBytes: 5 * MiB,
        signUrls: true,
        tmpDir: join(folder, 's3-tmp'),
      }),
    leftovers: () => tmpOf(join(folder, 's3-tmp')),
  },
];

const keysOf = async (store: BlobStore, prefix: string) =>
  (await Array.fromAsync(store.list(prefix))).map(({ key }) => key);

/** Yields small chunks; fails after `until` bytes. */
async function* pieces(bytes: Uint8Array, until = Number.POSITIVE_INFINITY): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 100_000) {
    if (at >= until) throw new Error('the sender is gone');
    yield bytes.subarray(at, Math.min(at + 100_000, until));
  }
}

for (const driver of drivers) {
  describe(`blob store on ${driver.name}`, { skip: driver.skip }, () => {
    let store: BlobStore;
    before(() => {
      store = driver.open();
    });

    test('stored content is read back, whole and in ranges', async () => {
      const bytes = randomBytes(300_000);
      const contents = [bytes, Readable.from(pieces(bytes)), bytes.toString('latin1')];
      for (const [at, content] of contents.entries()) {
        const key = `put/a-${at}/file_1.m4s`;
        const info = await store.put(key, content, TYPE);
        const expected = typeof content === 'string' ? Buffer.from(content) : bytes;
        assert.equal(info.sizeBytes, expected.length);
        assert.deepEqual(await store.head(key), info);
        assert.deepEqual(await store.read(key), expected);
        const span = await store.open(key, { start: 10, end: 19 });
        assert.equal(span?.sizeBytes, expected.length);
        assert.equal(span?.etag, info.etag);
        assert.deepEqual(await buffer(span?.body ?? Readable.from([])), expected.subarray(10, 20));
        const beyond = await store.open(key, { start: expected.length + 5, end: expected.length + 9 });
        assert.equal((await buffer(beyond?.body ?? Readable.from(['x']))).length, 0);
      }
      assert.deepEqual(await driver.leftovers(), []);
    });

    test('a missing key reads as null, and deleting it is no error', async () => {
      assert.equal(await store.head('none/a'), null);
      assert.equal(await store.read('none/a'), null);
      assert.equal(await store.open('none/a'), null);
      assert.equal(await store.head('none'), null);
      await store.delete('none/a');
      await store.deletePrefix('none/');
      await assert.rejects(store.toLocalFile('none/a', folder));
    });

    test('a replacement has another tag, and a broken one changes nothing', async () => {
      const first = await store.put('tag/a', 'one', TYPE);
      const second = await store.put('tag/a', 'two', TYPE);
      assert.notEqual(first.etag, second.etag);
      assert.match(second.etag, /^[^"]+$/);
      await assert.rejects(store.put('tag/a', Readable.from(pieces(randomBytes(MiB), 300_000)), TYPE));
      assert.deepEqual(await store.head('tag/a'), second);
      assert.deepEqual(await driver.leftovers(), []);
    });

    test('a local file is moved into the store, in parts when it is large', async () => {
      const bytes = randomBytes(11 * MiB + 7);
      const path = join(folder, `local-${driver.name}`);
      await writeFile(path, bytes);
      const info = await store.putFile('moved/file', path, TYPE);
      assert.equal(info.sizeBytes, bytes.length);
      await assert.rejects(stat(path));
      assert.deepEqual(await store.read('moved/file'), bytes);
      const dir = join(folder, `copy-${driver.name}`);
      await mkdir(dir);
      assert.deepEqual(await readFile(await store.toLocalFile('moved/file', dir)), bytes);
      const local = store.localPath('moved/file');
      if (local !== null) assert.deepEqual(await readFile(local), bytes);
    });

    for (const kind of KINDS) {
      test(`${kind} is not stored as a file`, async () => {
        const dir = await mkdtemp(join(folder, 'planted-'));
        await writeFile(join(dir, 'secret'), 'secret');
        const path = join(dir, 'made');
        await plantOutput(kind, path, join(dir, 'secret'));
        await assert.rejects(store.putFile('planted/file', path, TYPE), { code: 'CORRUPT_INPUT' });
        assert.equal(await store.head('planted/file'), null);
        assert.equal(await readFile(join(dir, 'secret'), 'utf8'), 'secret');
      });
    }

    test('lists come in the order of keys; deleting a prefix takes nothing else', async () => {
      const keys = ['list/a', 'list/a-b/x', 'list/a.b', 'list/a/b/c', 'list/a/d', 'list/a0/x', 'list2/a'];
      // Not possible on a disk: a key that is the folder of another.
      const possible = keys.filter((key) => key !== 'list/a');
      for (const key of possible.toReversed()) await store.put(key, key, TYPE);
      assert.deepEqual(await keysOf(store, 'list/'), possible.slice(0, -1));
      assert.deepEqual(await keysOf(store, 'list/a/'), ['list/a/b/c', 'list/a/d']);
      assert.deepEqual(await keysOf(store, 'list/a0'), ['list/a0/x']);
      await store.deletePrefix('list/a/');
      assert.deepEqual(await keysOf(store, 'list/'), ['list/a-b/x', 'list/a.b', 'list/a0/x']);
      await store.delete('list/a.b');
      await store.deletePrefix('list/');
      assert.deepEqual(await keysOf(store, 'list'), ['list2/a']);
    });

    test('keys that lead out of the store are refused', async () => {
      const outside = [
        '../a',
        'a/../../b',
        '/a',
        'a//b',
        'a/',
        '',
        '.tmp/a',
        'a/.hidden',
        'a\\b',
        'a\0',
        'ä',
        'a b',
      ];
      for (const key of [...outside, 'a'.repeat(300)]) {
        await assert.rejects(async () => store.put(key, 'x', TYPE), /not a storage key/, key);
        await assert.rejects(async () => store.open(key), /not a storage key/, key);
        await assert.rejects(async () => store.delete(key), /not a storage key/, key);
        await assert.rejects(async () => store.partials.create(key, TYPE), /not a storage key/, key);
        await assert.rejects(async () => store.deletePrefix(`${key}/`), /not a storage key/, key);
      }
      await assert.rejects(async () => store.deletePrefix('a'), /slash/);
    });

    test('a signed URL is valid for a GET, where supported', async () => {
      await store.put('signed/a', 'hello', TYPE);
      const url = await store.signedUrl('signed/a', 60);
      if (url === null) return assert.equal(driver.name, 'disk');
      const answer = await fetch(url);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('content-type'), TYPE);
      assert.equal(await answer.text(), 'hello');
      const forged = url.replace(
        /X-Amz-Signature=(.)/,
        (_all, first) => `X-Amz-Signature=${first === '0' ? 1 : 0}`,
      );
      assert.equal((await fetch(forged)).status, 403);
    });

    test('chunks of any size, interrupted at any byte, produce the exact file', async () => {
      const bytes = randomBytes(13 * MiB + 12_345);
      const key = 'part/whole';
      let state = await store.partials.create(key, TYPE);
      assert.equal(state.sizeBytes, 0);
      const ends = [1, 70_001, 5 * MiB, 5 * MiB + 1, 5 * MiB + 300_000, 11 * MiB, bytes.length];
      const told: number[] = [];
      for (const end of ends) {
        // State read from the database by another process.
        const other = driver.open();
        const known: PartialState = JSON.parse(JSON.stringify(state));
        const from = (await other.partials.inspect(key, known)).sizeBytes;
        assert.equal(from, state.sizeBytes);
        const breaks = end === bytes.length ? Number.POSITIVE_INFINITY : end - from;
        state = await other.partials.append(key, known, from, pieces(bytes.subarray(from), breaks), {
          onDurable: ({ sizeBytes }) => told.push(sizeBytes),
        });
        assert.equal(state.sizeBytes, end);
        assert.ok(told.every((size) => size <= end));
        assert.equal(await store.head(key), null);
      }
      const info = await store.partials.complete(key, state);
      assert.equal(info.sizeBytes, bytes.length);
      const read = (await store.read(key)) ?? Buffer.alloc(0);
      assert.equal(
        createHash('sha256').update(read).digest('hex'),
        createHash('sha256').update(bytes).digest('hex'),
      );
      assert.deepEqual(await store.partials.complete(key, state), info);
      assert.equal((await store.partials.inspect(key, state)).sizeBytes, bytes.length);
      assert.deepEqual(await driver.leftovers(), []);
    });

    test('an append elsewhere than at the end is refused', async () => {
      let state = await store.partials.create('part/offset', TYPE);
      state = await store.partials.append('part/offset', state, 0, pieces(Buffer.from('abc')));
      for (const offset of [0, 2, 4]) {
        await assert.rejects(store.partials.append('part/offset', state, offset, pieces(Buffer.from('x'))));
      }
      assert.equal((await store.partials.inspect('part/offset', state)).sizeBytes, 3);
      await store.partials.abort('part/offset', state);
    });

    test('bytes written after the last persisted state survive a crash, and are counted', async () => {
      const bytes = randomBytes(12 * MiB);
      const created = await store.partials.create('part/crash', TYPE);
      await store.partials.append('part/crash', created, 0, pieces(bytes, 11 * MiB));
      // The state that the append returned was not persisted.
      const found = await driver.open().partials.inspect('part/crash', created);
      assert.equal(found.sizeBytes, 11 * MiB);
      const rest = pieces(bytes.subarray(11 * MiB));
      const state = await store.partials.append('part/crash', found, 11 * MiB, rest);
      await store.partials.complete('part/crash', state);
      assert.deepEqual(await store.read('part/crash'), bytes);
    });

    test('a chunk with a digest is applied completely or not at all', async () => {
      const bytes = randomBytes(6 * MiB);
      const value = createHash('sha1').update(bytes).digest();
      const digest = { algorithm: 'sha1' as const, value };
      const created = await store.partials.create('part/digest', TYPE);
      const append = (source: AsyncIterable<Uint8Array>) =>
        store.partials.append('part/digest', created, 0, source, { digest });
      await assert.rejects(append(pieces(bytes.subarray(1))), DigestMismatchError);
      await assert.rejects(append(pieces(bytes, 5 * MiB)), DigestMismatchError);
      assert.equal((await store.partials.inspect('part/digest', created)).sizeBytes, 0);
      const state = await append(pieces(bytes));
      await store.partials.complete('part/digest', state);
      assert.deepEqual(await store.read('part/digest'), bytes);
      assert.deepEqual(await driver.leftovers(), []);
    });

    test('an aborted file no longer exists, nor does one below a deleted prefix', async () => {
      for (const end of ['abort', 'prefix']) {
        const key = `gone/${end}/file`;
        const created = await store.partials.create(key, TYPE);
        const state = await store.partials.append(key, created, 0, pieces(randomBytes(5 * MiB + 5)));
        if (end === 'abort') await store.partials.abort(key, state);
        else await store.deletePrefix('gone/prefix/');
        assert.equal((await store.partials.inspect(key, state)).sizeBytes, 0);
        await assert.rejects(store.partials.complete(key, state));
        await store.partials.abort(key, state);
      }
    });
  });
}
