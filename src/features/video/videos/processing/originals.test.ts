import assert from 'node:assert/strict';
import { access, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { needsOwnProcess } from '../../../../../test/harness/needs.ts';
import { waitFor } from '../../../../../test/harness/wait-for.ts';
import type { BlobStore } from '../../../../media/contract/index.ts';
import { createDiskStore } from '../../../../media/storage/disk.ts';
import { createOriginals } from './originals.ts';

needsOwnProcess();

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'marquee-originals-'));
});
after(() => rm(folder, { recursive: true, force: true }));

/** A store that is elsewhere: each fetch waits for the test. */
function remote(): { store: BlobStore; fetches: { finish(): void; fail(): void; signal: AbortSignal }[] } {
  const fetches: { finish(): void; fail(): void; signal: AbortSignal }[] = [];
  const store: BlobStore = {
    ...createDiskStore(join(folder, 'store')),
    localPath: () => null,
    async toLocalFile(_key, dir, signal = new AbortController().signal) {
      const held = Promise.withResolvers<void>();
      fetches.push({ finish: held.resolve, fail: () => held.reject(new Error('the store is away')), signal });
      signal.addEventListener('abort', () => held.reject(signal.reason));
      await held.promise;
      await writeFile(join(dir, 'original'), 'the film');
      return join(dir, 'original');
    },
  };
  return { store, fetches };
}

/** No file needs a copy of another kind. */
const PLAIN = {
  transcoder: {
    needsCopy: async () => false,
    makeCopy: (path: string) => Promise.resolve(path),
  },
};
const never = new AbortController().signal;

test('runs share one copy, which is retained for a while and then removed', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { store, fetches } = remote();
  const dir = join(folder, 'shared');
  const originals = createOriginals({ ...PLAIN, store, scratchDir: dir });
  const read = (path: string) => readFile(path, 'utf8');
  const both = Promise.all([originals.use('a', never, read), originals.use('a', never, read)]);
  await waitFor(() => fetches.length === 1);
  fetches[0]?.finish();
  assert.deepEqual(await both, ['the film', 'the film']);
  const path = await originals.use('a', never, async (one) => {
    t.mock.timers.tick(600_000);
    await access(one);
    return one;
  });
  assert.equal(fetches.length, 1);
  t.mock.timers.tick(59_000);
  await access(path);
  t.mock.timers.tick(1000);
  t.mock.timers.reset();
  await waitFor(async () => (await readdir(dir)).length === 0, { message: `the end of ${path}` });
});

test('a run that ends does not stop the fetch of another one; the last one does', async () => {
  const { store, fetches } = remote();
  const dir = join(folder, 'aborted');
  const originals = createOriginals({ ...PLAIN, store, scratchDir: dir }, 50);
  const [first, second] = [new AbortController(), new AbortController()];
  const one = originals.use('a', first.signal, async () => {});
  const two = originals.use('a', second.signal, async () => {});
  await waitFor(() => fetches.length === 1);
  first.abort(new Error('cancelled'));
  await assert.rejects(one, /cancelled/);
  assert.equal(fetches[0]?.signal.aborted, false);
  second.abort(new Error('cancelled too'));
  await assert.rejects(two, /cancelled too/);
  assert.equal(fetches[0]?.signal.aborted, true);
  assert.deepEqual(await readdir(dir), []);
});

test('a failed fetch is repeated by the next run', async () => {
  const { store, fetches } = remote();
  const originals = createOriginals({ ...PLAIN, store, scratchDir: join(folder, 'failed') }, 50);
  const one = originals.use('a', never, async () => {});
  await waitFor(() => fetches.length === 1);
  fetches[0]?.fail();
  await assert.rejects(one, /the store is away/);
  const two = originals.use('a', never, (path) => readFile(path, 'utf8'));
  await waitFor(() => fetches.length === 2);
  fetches[1]?.finish();
  assert.equal(await two, 'the film');
});

test('originals in a disk store are read in place', async () => {
  const store = createDiskStore(join(folder, 'disk'));
  await store.put('w/1/v/1/original/1', 'the film', 'video/mp4');
  const originals = createOriginals({ ...PLAIN, store, scratchDir: join(folder, 'none') });
  const path = await originals.use('w/1/v/1/original/1', never, async (one) => one);
  assert.equal(path, store.localPath('w/1/v/1/original/1'));
});

test('a file that must be converted is copied even from a local disk, and the stored file stays unchanged', async () => {
  const store = createDiskStore(join(folder, 'store'));
  await store.put('moving.webp', 'an animation', 'image/webp');
  const transcoder = {
    needsCopy: async (path: string) => (await readFile(path, 'utf8')) === 'an animation',
    async makeCopy(_path: string, dir: string) {
      await writeFile(join(dir, 'copy'), 'a video');
      return join(dir, 'copy');
    },
  };
  const scratchDir = join(folder, 'copies');
  const originals = createOriginals({ store, transcoder, scratchDir }, 50);
  assert.equal(await originals.use('moving.webp', never, (path) => readFile(path, 'utf8')), 'a video');
  assert.equal(String(await store.read('moving.webp')), 'an animation');
  await waitFor(async () => (await readdir(scratchDir)).length === 0, { message: 'its removal' });
  await store.put('film.mp4', 'a film', 'video/mp4');
  const path = await originals.use('film.mp4', never, async (path) => path);
  assert.equal(path, store.localPath('film.mp4'));
});
