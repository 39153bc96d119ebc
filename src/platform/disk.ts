import { statfs } from 'node:fs/promises';
import { AppError } from '../kernel/errors.ts';

const DISK_FULL_CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);
const DISK_ERROR_CODES: ReadonlySet<unknown> = new Set([...DISK_FULL_CODES, 'EIO', 'EROFS']);

function hasCode(error: unknown, codes: ReadonlySet<unknown>): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && codes.has(error.code)) || hasCode(error.cause, codes);
}

/**
 * Has the disk no room, or does it fail? Then the file that was written is not at fault, and waiting may help.
 * Looks at the causes too.
 */
export function isDiskError(error: unknown): boolean {
  return isNoRoom(error) || hasCode(error, DISK_ERROR_CODES);
}

function isNoRoom(error: unknown): boolean {
  return error instanceof AppError && error.code === 'INSUFFICIENT_STORAGE';
}

/**
 * Returns INSUFFICIENT_STORAGE for a write that failed because the disk was full, and other errors unchanged.
 */
export function toDiskFullError(error: unknown): unknown {
  return hasCode(error, DISK_FULL_CODES) ? new AppError('INSUFFICIENT_STORAGE', { cause: error }) : error;
}

/** Free space to reserve: bytes, or a percentage of the disk. */
export type DiskReserve = { bytes: number } | { percent: number };

/** Space available to new files. The reserve is used only by the database and the log. */
export interface DiskSpace {
  /**
   * Checks that the given number of bytes may be written; called before the write.
   *
   * @throws {AppError} INSUFFICIENT_STORAGE when they would reach into the reserve.
   */
  admit(bytes: number): Promise<void>;
  /** Reports whether the reserve is untouched. */
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
    // A cached measurement may allow a write but never reject one.
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

/** Returns the bytes to reserve on a disk of this size. */
export function reservedBytes(diskBytes: number, reserve: DiskReserve | undefined): number {
  if (reserve === undefined) return Math.min(DEFAULT_BYTES, (diskBytes * DEFAULT_PERCENT) / 100);
  return 'bytes' in reserve ? reserve.bytes : (diskBytes * reserve.percent) / 100;
}
