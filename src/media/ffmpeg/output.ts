import { constants, existsSync, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readdir, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { MediaFileError } from '../contract/index.ts';

/**
 * User of the sandbox on the host, when the platform runs as root: a number that neither Debian (up to 64999)
 * nor systemd (up to 65519) assigns.
 */
export const SANDBOX_UID = 65_533;

/**
 * Thrown when a program that reads a user's file left something other than a regular file of its own as
 * output: a link, a pipe, or another user's file. Only a compromised program does that.
 */
export class UnsafeOutputError extends MediaFileError {
  readonly path: string;
  readonly reason: string;

  constructor(path: string, reason: string) {
    super('CORRUPT_INPUT', 'The file is damaged or incomplete.');
    this.name = 'UnsafeOutputError';
    this.path = path;
    this.reason = reason;
  }
}

/** Flags that follow no link, and do not block on a pipe. */
const NO_LINKS = constants.O_NOFOLLOW | constants.O_NONBLOCK;
/**
 * Directory of the open file descriptors: entries of an open folder are reached through it even after a
 * rename.
 */
const OPEN_FOLDERS = '/proc/self/fd';
const hasOpenFolders = existsSync(OPEN_FOLDERS);
/** Codes of open(2) for links and sockets, and when a folder or a file was expected. */
const NOT_A_FILE = new Set(['ELOOP', 'ENOTDIR', 'EISDIR', 'ENXIO', 'ENODEV']);

/**
 * Opens only output of a program under the guard: a regular file with a single name, in real folders (no
 * links), owned by the owner of the folder, the user of the program or ours. The program may be running.
 *
 * @param folder that was passed to the program, or the parent of the file that was passed to it.
 * @param name below it; parts between slashes are folders that the program may have replaced.
 * @param flags of open(2), to read by default.
 * @throws {UnsafeOutputError} for anything else; for a missing file, the error of open (ENOENT).
 */
export async function openOutput(
  folder: string,
  name: string,
  flags = constants.O_RDONLY,
): Promise<FileHandle> {
  const owners = ownersIn(await stat(folder));
  return inFolder(folder, name, async (path) => {
    const file = await refusing(join(folder, name), open(path, flags | NO_LINKS));
    try {
      const problem = problemOf(await file.stat(), owners);
      if (problem !== null) throw new UnsafeOutputError(join(folder, name), problem);
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  });
}

/**
 * Reads a small file completely.
 *
 * @throws {UnsafeOutputError} also when it is larger than any output of such a program.
 */
export async function readOutput(folder: string, name: string, maxBytes: number): Promise<Buffer> {
  const file = await openOutput(folder, name);
  try {
    const { size } = await file.stat();
    if (size > maxBytes) throw new UnsafeOutputError(join(folder, name), `has ${size} bytes`);
    const bytes = Buffer.alloc(size);
    const { bytesRead } = await file.read(bytes, 0, size, 0);
    return bytes.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Writes our file into a folder that a program had access to. */
export async function writeOutput(folder: string, name: string, content: string | Buffer): Promise<void> {
  const file = await openOutput(folder, name, constants.O_WRONLY | constants.O_CREAT);
  try {
    await file.truncate(0);
    await file.writeFile(content);
  } finally {
    await file.close();
  }
}

/** Removes a file if it exists, and never one outside the folder. */
export async function removeOutput(folder: string, name: string): Promise<void> {
  await inFolder(folder, name, unlink).catch((error: unknown) => {
    if (!hasCode(error, MISSING)) throw error;
  });
}

/** Renames a file within its folder; a missing file was renamed before and is ignored. */
export async function renameOutput(folder: string, name: string, to: string): Promise<void> {
  const move = (path: string) => rename(path, join(dirname(path), to));
  await inFolder(folder, name, move).catch((error: unknown) => {
    if (!hasCode(error, MISSING)) throw error;
  });
}

/**
 * Looks at all that is in the folder of a program that has ended.
 *
 * @throws {UnsafeOutputError} when something is neither a folder nor a file that `openOutput` opens.
 */
export async function checkOutputs(folder: string): Promise<void> {
  const owners = ownersIn(await stat(folder));
  for await (const [path, found] of entriesBelow(folder)) {
    const problem = found.isDirectory() ? null : problemOf(found, owners);
    if (problem !== null) throw new UnsafeOutputError(path, problem);
  }
}

/**
 * Yields the entries below a folder without following links; entries that disappear during the walk are
 * skipped.
 */
export async function* entriesBelow(folder: string): AsyncGenerator<[string, Stats]> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const found = await lstat(path).catch((error: unknown) => {
      if (hasCode(error, MISSING)) return null;
      throw error;
    });
    if (found === null) continue;
    yield [path, found];
    if (found.isDirectory()) yield* entriesBelow(path);
  }
}

const MISSING = new Set(['ENOENT']);

/** Calls `use` with a path of the file that holds whatever becomes of the folders around it. */
async function inFolder<T>(folder: string, name: string, use: (path: string) => Promise<T>): Promise<T> {
  const [first = '', ...rest] = name.split('/');
  if (rest.length === 0) return use(join(folder, first));
  const inner = join(folder, first);
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | NO_LINKS;
  const opened = await refusing(inner, open(inner, flags));
  try {
    const held = hasOpenFolders ? join(OPEN_FOLDERS, String(opened.fd)) : inner;
    return await inFolder(held, rest.join('/'), use);
  } finally {
    await opened.close();
  }
}

async function refusing(path: string, opening: Promise<FileHandle>): Promise<FileHandle> {
  try {
    return await opening;
  } catch (error) {
    if (hasCode(error, NOT_A_FILE)) throw new UnsafeOutputError(path, 'is not a regular file');
    throw error;
  }
}

/**
 * Returns the accepted owners of files in the folder. On a file system with a single owner, that is the
 * folder's owner.
 */
function ownersIn(folder: Stats): ReadonlySet<number> {
  const own = process.getuid?.() ?? folder.uid;
  return new Set([folder.uid, own, ...(own === 0 ? [SANDBOX_UID] : [])]);
}

function problemOf(found: Stats, owners: ReadonlySet<number>): string | null {
  if (!found.isFile()) return 'is not a regular file';
  // The kernel may allow hard links to unreadable files (fs.protected_hardlinks). The count is 0 when the
  // program has replaced the file since it was opened.
  if (found.nlink > 1) return `has ${found.nlink} hard links`;
  return owners.has(found.uid) ? null : `belongs to user ${found.uid}`;
}

function hasCode(error: unknown, codes: ReadonlySet<string>): boolean {
  return error instanceof Error && 'code' in error && codes.has(String(error.code));
}

/** As `openOutput`, of a file in a folder that no program has. */
export function openOutputFile(path: string, flags?: number): Promise<FileHandle> {
  return openOutput(dirname(path), basename(path), flags);
}
