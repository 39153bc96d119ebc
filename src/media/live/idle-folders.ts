import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { loadState } from './state.ts';
import { publish } from './stream-folder.ts';

const STATE_FILE = 'state.json';
/** Longer than a broadcast waits for its encoder. */
const FORGOTTEN_MS = 30 * 24 * 3_600_000;

/** Makes the folder of all streams, or empties what a process before this one has left, and nobody came back to since `oldestMs`. */
export async function emptyIdleFolders(liveDir: string, oldestMs: number): Promise<void> {
  await mkdir(liveDir, { recursive: true });
  for (const entry of await readdir(liveDir, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const folder = join(liveDir, entry.name);
    const { mtimeMs } = await stat(join(folder, STATE_FILE)).catch(() => stat(folder));
    if (mtimeMs < oldestMs - FORGOTTEN_MS) await rm(folder, { recursive: true, force: true });
    else if (mtimeMs < oldestMs) await emptyFolder(folder);
  }
}

/**
 * Leaves of a stream its playlists without segments: it may still be live, and its numbers must not begin anew
 * (RFC 8216 6.2.2).
 */
export async function emptyFolder(folder: string): Promise<void> {
  const state = await loadState(join(folder, STATE_FILE));
  if (state === null) return rm(folder, { recursive: true, force: true });
  if (state.slots.length > 0)
    await publish(folder, { ...state, slots: [] }, { isNew: true, shown: new Map() });
  for (const name of await readdir(folder)) {
    const isKept = name === STATE_FILE || name.endsWith('.m3u8');
    if (!isKept) await rm(join(folder, name), { recursive: true, force: true });
  }
}
