import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { newUuid } from '../../../../kernel/ids.ts';
import type { BlobStore, Transcoder } from '../../../../media/contract/index.ts';

/** Originals as local files for ffmpeg. */
export interface Originals {
  /** Runs `work` with the path of the file, which exists until `work` ends. */
  use<T>(key: string, signal: AbortSignal, work: (path: string) => Promise<T>): Promise<T>;
}

interface Copy {
  dir: string;
  path: Promise<string>;
  users: number;
  abort: AbortController;
  timer?: NodeJS.Timeout;
}

/** Retention of a copy: the next job of the same video may start immediately or wait for a slot. */
const COPY_RETENTION_MS = 60_000;
const MAX_ANSWERS = 1000;

interface OriginalsDeps {
  store: BlobStore;
  transcoder: Pick<Transcoder, 'needsCopy' | 'makeCopy'>;
  scratchDir: string;
}

/**
 * Creates the access to originals. A disk store yields the stored file itself. Otherwise a copy in
 * `scratchDir` is fetched once for all runs that read it concurrently or shortly after each other; so is a
 * file that ffmpeg can only read as a copy.
 */
export function createOriginals(
  { store, transcoder, scratchDir: dir }: OriginalsDeps,
  keepMs = COPY_RETENTION_MS,
): Originals {
  const copies = new Map<string, Copy>();
  /** Cached results for files on a disk: a file does not change under its key. */
  const answers = new Map<string, boolean>();

  const needsCopy = async (key: string, path: string, signal: AbortSignal) => {
    const known = answers.get(key);
    if (known !== undefined) return known;
    const answer = await transcoder.needsCopy(path, signal);
    if (answers.size >= MAX_ANSWERS) answers.clear();
    answers.set(key, answer);
    return answer;
  };
  const copyTo = async (own: string, key: string, signal: AbortSignal) => {
    await mkdir(own, { recursive: true });
    const path = store.localPath(key) ?? (await store.toLocalFile(key, own, signal));
    return (await needsCopy(key, path, signal)) ? transcoder.makeCopy(path, own, signal) : path;
  };
  const take = (key: string): Copy => {
    const held = copies.get(key);
    if (held !== undefined) {
      clearTimeout(held.timer);
      held.users += 1;
      return held;
    }
    const own = join(dir, `original-${newUuid()}`);
    const abort = new AbortController();
    const path = copyTo(own, key, abort.signal);
    const copy: Copy = { dir: own, path, users: 1, abort };
    copies.set(key, copy);
    path.catch(() => drop(key, copy));
    return copy;
  };
  const drop = (key: string, copy: Copy) => {
    if (copies.get(key) === copy) copies.delete(key);
  };
  const release = async (key: string, copy: Copy, isWhole: boolean) => {
    copy.users -= 1;
    if (copy.users > 0) return;
    const remove = async () => {
      drop(key, copy);
      copy.abort.abort();
      await copy.path.catch(() => {});
      await rm(copy.dir, { recursive: true, force: true });
    };
    if (!isWhole) return remove();
    // A copy that remains when the process ends is removed by the next one.
    copy.timer = setTimeout(() => void remove().catch(() => {}), keepMs).unref();
  };

  return {
    async use(key, signal, work) {
      const stored = store.localPath(key);
      if (stored !== null && !(await needsCopy(key, stored, signal))) return work(stored);
      const copy = take(key);
      let isWhole = false;
      try {
        const path = await unlessAborted(copy.path, signal);
        isWhole = true;
        return await work(path);
      } finally {
        await release(key, copy, isWhole);
      }
    },
  };
}

/** Rejects when the signal aborts; the fetch may continue for other runs. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
