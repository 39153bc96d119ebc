import type { FileHandle } from 'node:fs/promises';
import { FileStream } from '../playback/file-stream.ts';
import type { OpenedFile } from './live-source.ts';

/** Opens a file of this machine's disk. @returns null, and closes it, when it is not a regular file. */
export async function openedFile(file: FileHandle): Promise<OpenedFile | null> {
  let isFile = false;
  try {
    const found = await file.stat();
    isFile = found.isFile();
    const { size, mtimeMs } = found;
    if (!isFile) return null;
    return {
      ...{ size, mtimeMs },
      /** In a single read: `readFile` would read it in chunks. */
      async read() {
        const bytes = Buffer.allocUnsafeSlow(size);
        const { bytesRead } = await file.read(bytes, 0, size, 0);
        return bytesRead === size ? bytes : null;
      },
      send: (start, end) => new FileStream(file, start, end),
      close: () => file.close(),
    };
  } finally {
    if (!isFile) await file.close();
  }
}
