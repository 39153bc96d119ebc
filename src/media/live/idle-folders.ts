import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Removes what a process before this one has left, and nobody came back to since `oldestMs`. */
export async function removeIdleFolders(liveDir: string, oldestMs: number): Promise<void> {
  for (const entry of await readdir(liveDir, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const folder = join(liveDir, entry.name);
    const state = await stat(join(folder, 'state.json')).catch(() => stat(folder));
    if (state.mtimeMs < oldestMs) await rm(folder, { recursive: true, force: true });
  }
}
