import type { FileHandle } from 'node:fs/promises';
import { FileStream } from '../playback/file-stream.ts';
import type { OpenedFile } from './live-source.ts';

/** A file of this machine's disk. @returns null, and closes it, when it is none. */
export async function openedFile(file: FileHandle): Promise<OpenedFile | null> {
  let isFile = false;
  try {
    const found = await file.stat();
    isFile = found.isFile();
    const { size, mtimeMs } = found;
    if (!isFile) return null;
    return {
      ...{ size, mtimeMs },
      /** In one read: `readFile` would take it in pieces. */
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
