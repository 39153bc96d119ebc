import { constants, existsSync, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readdir, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { MediaFileError } from '../contract/index.ts';

/**
 * On the host, where the platform is root: a number that neither Debian (up to 64999) nor systemd (up to 65519) gives
 * to anybody.
 */
export const SANDBOX_UID = 65_533;

/**
 * A program that reads what a user has sent in has left something where a file of its own should be: a link, a pipe, a
 * file of somebody else. Only one that was taken over does.
 */
export class UnsafeOutputError extends MediaFileError {
  readonly path: string;
  readonly reason: string;

  constructor(path: string, reason: string) {
    super('CORRUPT_INPUT', 'The file is damaged or incomplete.');
    this.name = 'UnsafeOutput';
    this.path = path;
    this.reason = reason;
  }
}

/** No link is followed, and nobody waits for the other end of a pipe. */
const NO_LINKS = constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Open folders by their numbers: what is below one is reached past whatever its name has become. */
const OPEN_FOLDERS = '/proc/self/fd';
const hasOpenFolders = existsSync(OPEN_FOLDERS);
/** What open says of links, sockets, and folders and files in each other's place. */
const NOT_A_FILE = new Set(['ELOOP', 'ENOTDIR', 'EISDIR', 'ENXIO', 'ENODEV']);

/**
 * Opens what a program under the guard has written, and nothing else: a regular file with one name, in folders that are
 * none but by name, of the user of the folder, of the program or of ours. The program may run meanwhile.
 *
 * @param folder that the program was given, or the one around the file that it was given.
 * @param name below it; parts between slashes are folders that the program may have replaced.
 * @param flags of open(2), to read by default.
 * @throws {UnsafeOutputError} for anything else; where there is nothing, the error of open (ENOENT).
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
 * The whole of a small file.
 *
 * @throws {UnsafeOutputError} also when it is larger than any that such a program writes.
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

/** Writes a file of ours into a folder that a program had. */
export async function writeOutput(folder: string, name: string, content: string | Buffer): Promise<void> {
  const file = await openOutput(folder, name, constants.O_WRONLY | constants.O_CREAT);
  try {
    await file.truncate(0);
    await file.writeFile(content);
  } finally {
    await file.close();
  }
}

/** Removes a file, if it is there, and never one outside. */
export async function removeOutput(folder: string, name: string): Promise<void> {
  await inFolder(folder, name, unlink).catch((error: unknown) => {
    if (!hasCode(error, MISSING)) throw error;
  });
}

/** Gives a file another name beside it; if it has gone, somebody has done so before. */
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

/** What lies below a folder, without following a link; what goes meanwhile is passed over. */
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
    if (hasCode(error, NOT_A_FILE)) throw new UnsafeOutputError(path, 'is no regular file');
    throw error;
  }
}

/** Whom files in there may belong to. Where a file system has one owner for all, it is that of the folder. */
function ownersIn(folder: Stats): ReadonlySet<number> {
  const own = process.getuid?.() ?? folder.uid;
  return new Set([folder.uid, own, ...(own === 0 ? [SANDBOX_UID] : [])]);
}

function problemOf(found: Stats, owners: ReadonlySet<number>): string | null {
  if (!found.isFile()) return 'is no regular file';
  // The kernel may let it link what it cannot read (fs.protected_hardlinks).
  // None is left when the program has put a newer file in its place since it was opened.
  if (found.nlink > 1) return `has ${found.nlink} names`;
  return owners.has(found.uid) ? null : `belongs to user ${found.uid}`;
}

function hasCode(error: unknown, codes: ReadonlySet<string>): boolean {
  return error instanceof Error && 'code' in error && codes.has(String(error.code));
}

/** As `openOutput`, of a file in a folder that no program has. */
export function openOutputFile(path: string, flags?: number): Promise<FileHandle> {
  return openOutput(dirname(path), basename(path), flags);
}
