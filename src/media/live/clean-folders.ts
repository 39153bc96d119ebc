import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../platform/logger.ts';
import { TARGET_DURATION } from './master.ts';
import { loadState } from './state.ts';
import { publish } from './stream-folder.ts';

const STATE_FILE = 'state.json';
/** Age after which an idle folder is removed; longer than a broadcast waits for its encoder. */
const FORGOTTEN_MS = 30 * 24 * 3_600_000;

/**
 * Creates the folder of all streams, or empties the stream folders left by an earlier process and unused
 * since `oldestMs`.
 */
export async function emptyIdleFolders(
  { liveDir, log }: { liveDir: string; log: Pick<Logger, 'warn'> },
  oldestMs: number,
): Promise<void> {
  await mkdir(liveDir, { recursive: true });
  for (const entry of await readdir(liveDir, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const folder = join(liveDir, entry.name);
    try {
      const { mtimeMs } = await stat(join(folder, STATE_FILE)).catch(() => stat(folder));
      if (mtimeMs < oldestMs - FORGOTTEN_MS) await rm(folder, { recursive: true, force: true });
      else if (mtimeMs < oldestMs) await emptyFolder(folder);
    } catch (error) {
      log.warn({ err: error, folder: entry.name }, 'a folder of a broadcast could not be emptied');
    }
  }
}

/**
 * Deletes the files of a stream except its playlists, emptied of segments: it may still be live, and its
 * sequence numbers must not restart (RFC 8216 6.2.2).
 */
export async function emptyFolder(folder: string): Promise<void> {
  const state = await loadState(join(folder, STATE_FILE));
  if (state === null) return rm(folder, { recursive: true, force: true });
  // Deletes the media first, because the writes below need disk space.
  for (const name of await readdir(folder)) {
    const isKept = name === STATE_FILE || name.endsWith('.m3u8');
    if (!isKept) await rm(join(folder, name), { recursive: true, force: true });
  }
  // The target duration can be reset because no segment is listed.
  const empty = { ...state, slots: [], targetDuration: TARGET_DURATION };
  if (state.slots.length > 0) await publish(folder, empty, { isNew: true, shown: new Map() });
  // The renditions of the next broadcast are unknown: viewers wait for its master playlist.
  await rm(join(folder, 'master.m3u8'), { force: true });
}
