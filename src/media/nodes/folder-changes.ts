import { type FSWatcher, watch } from 'node:fs';
import { TEMPORARY } from '../live/state.ts';

/** Detector of possible changes in a folder. */
export interface FolderChanges {
  /** Resolves with the next change of a file in the folder, or soon. */
  next(folder: string): Promise<void>;
}

/** Renames are seen by inotify; this is for file systems without it. */
const POLL_MS = 100;
/** Time without requests after which a folder is no longer watched. */
const IDLE_MS = 10_000;

interface Watched {
  watcher: FSWatcher | null;
  idle: NodeJS.Timeout | undefined;
  /** Shared by all current waiters. */
  change: { promise: Promise<void>; tell: () => void } | null;
}

/** However many wait for a folder, it is watched once. */
export function createFolderChanges(): FolderChanges {
  const folders = new Map<string, Watched>();

  const begin = (folder: string): Watched => {
    const watched: Watched = { watcher: null, idle: undefined, change: null };
    try {
      watched.watcher = watch(folder, { persistent: false }, (_event, name) => {
        if (!name?.endsWith(TEMPORARY)) watched.change?.tell();
      });
      watched.watcher.on('error', () => watched.watcher?.close());
    } catch {
      // The folder does not exist yet, or the kernel's limit is reached: polling continues.
    }
    folders.set(folder, watched);
    return watched;
  };
  const end = (folder: string, watched: Watched) => {
    watched.watcher?.close();
    folders.delete(folder);
  };

  return {
    next(folder) {
      const watched = folders.get(folder) ?? begin(folder);
      clearTimeout(watched.idle);
      watched.idle = setTimeout(() => end(folder, watched), IDLE_MS);
      watched.idle.unref();
      if (watched.change !== null) return watched.change.promise;
      const { promise, resolve } = Promise.withResolvers<void>();
      const tell = () => {
        clearTimeout(timer);
        watched.change = null;
        resolve();
      };
      const timer = setTimeout(tell, POLL_MS);
      watched.change = { promise, tell };
      return promise;
    },
  };
}
