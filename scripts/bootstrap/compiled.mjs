import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Removes the oldest files below a folder until the others take no more than so many bytes. Node keeps compiled code by
 * the names of files, and takes none away: each new bundle has new names.
 */
export function trimFolder(folder, bytes) {
  let left = bytes;
  for (const { path, size } of filesBelow(folder).sort((a, b) => b.mtimeMs - a.mtimeMs)) {
    left -= size;
    if (left < 0) rmSync(path, { force: true });
  }
}

function filesBelow(folder) {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .flatMap((entry) => lookAt(join(entry.parentPath ?? entry.path, entry.name)));
  } catch {
    // There is none yet.
    return [];
  }
}

/** Another start may be at it too. */
function lookAt(path) {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? [] : [{ path, size: found.size, mtimeMs: found.mtimeMs }];
}
