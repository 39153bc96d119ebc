import { statfs } from 'node:fs/promises';
import { AppError } from '../kernel/errors.ts';

const FULL: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);
const TROUBLES: ReadonlySet<unknown> = new Set([...FULL, 'EIO', 'EROFS']);

function hasCode(error: unknown, codes: ReadonlySet<unknown>): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && codes.has(error.code)) || hasCode(error.cause, codes);
}

/**
 * Has the disk no room, or does it fail? Then the file that was written is not at fault, and waiting may help.
 * Looks at the causes too.
 */
export function isDiskError(error: unknown): boolean {
  return isNoRoom(error) || hasCode(error, TROUBLES);
}

function isNoRoom(error: unknown): boolean {
  return error instanceof AppError && error.code === 'INSUFFICIENT_STORAGE';
}

/** What a failed write means to whoever sent the bytes: INSUFFICIENT_STORAGE where the disk was full. */
export function toDiskFullError(error: unknown): unknown {
  return hasCode(error, FULL) ? new AppError('INSUFFICIENT_STORAGE', { cause: error }) : error;
}

/** Space that is kept free: bytes, or a share of the disk. */
export type DiskReserve = { bytes: number } | { percent: number };

/** The room that new files have: what lies above the reserve is for the database and the log alone. */
export interface DiskSpace {
  /**
   * Asked before so many bytes are written.
   *
   * @throws {AppError} INSUFFICIENT_STORAGE when they would reach into the reserve.
   */
  admit(bytes: number): Promise<void>;
  /** Is the reserve untouched? */
  isThere(): Promise<boolean>;
}

const GB = 2 ** 30;
/** The smaller of both: a large disk needs no hundred gigabytes for its database. */
const DEFAULT_PERCENT = 5;
const DEFAULT_BYTES = 2 * GB;
/** Others write to the disk as well. */
const FRESH_MS = 1000;

export function createDiskSpace(dir: string, reserve: DiskReserve | undefined): DiskSpace {
  let room = 0;
  let seenAt = Number.NEGATIVE_INFINITY;
  const look = async () => {
    room = await roomIn(dir, reserve);
    seenAt = performance.now();
  };
  const has = async (bytes: number) => {
    // What was seen before is good enough to say yes, and never to say no.
    if (performance.now() - seenAt > FRESH_MS || room < bytes) await look();
    return room >= bytes;
  };
  return {
    async admit(bytes) {
      if (!(await has(bytes))) throw new AppError('INSUFFICIENT_STORAGE');
      room -= bytes;
    },
    isThere: () => has(0),
  };
}

async function roomIn(dir: string, reserve: DiskReserve | undefined): Promise<number> {
  try {
    const { bavail, blocks, bsize } = await statfs(dir);
    return bavail * bsize - reservedBytes(blocks * bsize, reserve);
  } catch (error) {
    // The folder comes with its first file.
    if (hasCode(error, new Set(['ENOENT']))) return Number.POSITIVE_INFINITY;
    throw error;
  }
}

/** How much of a disk of this size is kept free. */
export function reservedBytes(diskBytes: number, reserve: DiskReserve | undefined): number {
  if (reserve === undefined) return Math.min(DEFAULT_BYTES, (diskBytes * DEFAULT_PERCENT) / 100);
  return 'bytes' in reserve ? reserve.bytes : (diskBytes * reserve.percent) / 100;
}
