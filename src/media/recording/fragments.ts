import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { openOutputFile } from '../ffmpeg/output.ts';

const BOX_HEADER = 16;

/**
 * Truncates a fragmented MP4 after its last complete fragment: programs that join files stop at the
 * incomplete data left by a killed recorder.
 *
 * @throws {UnsafeOutputError} when it is not a file written by a recorder.
 * @returns the remaining bytes; 0 when there is no complete fragment, and then the file is unchanged.
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
    // 0 means "to the end", which no recorder writes; a size below a header's length is invalid.
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
