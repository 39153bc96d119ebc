import { mkdir, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { contentTypeOf } from '../../../../kernel/media-keys.ts';
import type { BlobStore, RenditionFiles } from '../../../../media/contract/index.ts';

/** Runs `work` with a scratch folder that is removed afterwards, even after a failure. */
export async function withScratch<T>(
  scratchDir: string,
  runId: string,
  work: (dir: string) => Promise<T>,
): Promise<T> {
  const dir = join(scratchDir, runId);
  await rm(dir, { recursive: true, force: true });
  await mkdir(dir, { recursive: true });
  try {
    return await work(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Creates a folder in a scratch folder. */
export async function makeDir(dir: string, name: string): Promise<string> {
  const path = join(dir, name);
  await mkdir(path);
  return path;
}

/**
 * Removes the scratch folders of earlier processes next to `scratchDir`, that of this process: a node has one
 * at a time.
 */
export async function clearScratch(scratchDir: string): Promise<void> {
  const all = dirname(scratchDir);
  await mkdir(scratchDir, { recursive: true });
  for (const name of await readdir(all)) {
    if (name !== basename(scratchDir)) await rm(join(all, name), { recursive: true, force: true });
  }
}

/** Number of files written concurrently. */
const WIDTH = 8;

/** Stores finished local files below `prefix`. */
export async function storeFiles(
  store: BlobStore,
  prefix: string,
  dir: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const rest = names.values();
  const failures: unknown[] = [];
  const lane = async () => {
    for (const name of rest) {
      if (failures.length > 0) return;
      signal.throwIfAborted();
      await store.putFile(`${prefix}/${name}`, join(dir, name), contentTypeOf(name));
    }
  };
  // Every lane has ended before the caller removes the folder.
  await Promise.all(Array.from({ length: WIDTH }, () => lane().catch((error) => failures.push(error))));
  if (failures.length > 0) throw failures[0];
}

/** Stores the renditions of a run from `outDir`, each in its folder. */
export async function storeRenditions(
  store: BlobStore,
  prefix: string,
  outDir: string,
  made: readonly RenditionFiles[],
  signal: AbortSignal,
): Promise<void> {
  const names = made.flatMap(({ name, files }) => files.map((file) => `${name}/${file}`));
  await storeFiles(store, prefix, outDir, names, signal);
}
