import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Deletes the oldest files below a folder until the rest fits into `bytes`. Node stores compiled code by file
 * name and never deletes it, and each new bundle has new names.
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

/** Another start may delete it concurrently. */
function lookAt(path) {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? [] : [{ path, size: found.size, mtimeMs: found.mtimeMs }];
}
