import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { openOutputFile } from '../ffmpeg/output.ts';

const BOX_HEADER = 16;

/**
 * Cuts a fragmented MP4 after its last whole fragment: what a killed recorder has left half-written makes
 * programs stop at that place when they join files.
 *
 * @throws {UnsafeOutput} when it is no file that a recorder has written.
 * @returns the bytes that are left; 0 when there is no whole fragment, and then the file stays as it is.
 */
export async function trimToFragments(path: string): Promise<number> {
  const file = await openOutputFile(path, constants.O_RDWR);
  try {
    const { size } = await file.stat();
    const end = await endOfFragments(file, size);
    if (end > 0 && end < size) await file.truncate(end);
    return end;
  } finally {
    await file.close();
  }
}

/** The end of the last `mdat` that is all there and has a `moov` and its `moof` before it; 0 without one. */
async function endOfFragments(file: FileHandle, size: number): Promise<number> {
  const header = Buffer.alloc(BOX_HEADER);
  let end = 0;
  let hasMoov = false;
  let last = '';
  for (let at = 0; at + 8 <= size; ) {
    await file.read(header, 0, BOX_HEADER, at);
    const type = header.toString('latin1', 4, 8);
    const next = at + boxSize(header);
    // 0 means "to the end", which no recorder writes; neither is anything below a header's length a box.
    if (next < at + 8 || next > size) break;
    if (type === 'moov') hasMoov = true;
    if (type === 'mdat' && hasMoov && last === 'moof') end = next;
    // The index at the end, which a recorder writes that was not killed.
    if (type === 'mfra' && end > 0) end = next;
    last = type;
    at = next;
  }
  return end;
}

function boxSize(header: Buffer): number {
  const size = header.readUInt32BE(0);
  return size === 1 ? Number(header.readBigUInt64BE(8)) : size;
}
