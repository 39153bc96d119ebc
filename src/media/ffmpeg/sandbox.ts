import { execFile } from 'node:child_process';
import { access, constants, realpath, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { programEnvironment } from '../../platform/config.ts';

const run = promisify(execFile);

/** What of the file system a program finds, beside itself and its libraries. */
export interface View {
  /** Files that it may read, under their own names. */
  reads: readonly string[];
  /** The folder that it works in, or the one file that it writes. */
  writes: string | null;
}

/** Bubblewrap, where it works: docs/decisions/hostile-files.md has what it takes away. */
export interface Sandbox {
  /** Arguments of bubblewrap, with the program at their end. */
  enter(program: string, view: View): Promise<string[]>;
}

/** Programs and libraries of the system, and what the loader asks. Nothing in them is of a user or of ours. */
const SYSTEM = [
  ...['/usr/bin', '/usr/lib', '/usr/lib32', '/usr/lib64', '/usr/libexec'],
  ...['/usr/local/bin', '/usr/local/lib', '/usr/local/lib64'],
  ...['/bin', '/lib', '/lib32', '/lib64', '/nix/store', '/gnu/store'],
  ...['/etc/ld.so.cache', '/etc/alternatives'],
];
const DEVICES = ['/dev/null', '/dev/urandom'];
const NOBODY = '65534';

/** No rights, no other processes, and an end with its parent; signals reach it as its session alone. */
const BASE = [
  ...['--unshare-user', '--uid', NOBODY, '--gid', NOBODY, '--cap-drop', 'ALL'],
  ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net', '--unshare-cgroup-try'],
  ...['--die-with-parent', '--new-session'],
  ...SYSTEM.flatMap((path) => ['--ro-bind-try', path, path]),
  ...DEVICES.flatMap((path) => ['--dev-bind', path, path]),
];
/** Not every version and every container has these. */
const EXTRAS = [['--disable-userns'], ['--proc', '/proc']];
const TRY_TIMEOUT_MS = 20_000;

/**
 * @param programs that have to start in it.
 * @returns why there is none, in one line, where it does not work.
 */
export async function findSandbox(programs: readonly string[]): Promise<Sandbox | string> {
  const [plain, ...extras] = await Promise.all([
    complaint([...BASE, '--remount-ro', '/', 'true']),
    ...EXTRAS.map((extra) => complaint([...BASE, ...extra, 'true'])),
  ]);
  if (plain !== null) return plain;
  const sandbox = createSandbox([...BASE, ...EXTRAS.filter((_, index) => extras[index] === null).flat()]);
  const reasons = await Promise.all(programs.map((program) => refusal(sandbox, program)));
  return reasons.find((reason) => reason !== null) ?? sandbox;
}

/** Why a program that is there does not start in it; null when it does. */
async function refusal(sandbox: Sandbox, program: string): Promise<string | null> {
  if ((await findProgram(program)) === null) return null;
  const entered = await sandbox.enter(program, { reads: [], writes: null });
  const reason = await complaint([...entered, '-version']);
  return reason === null ? null : `${program} does not start in it: ${reason}`;
}

function createSandbox(base: readonly string[]): Sandbox {
  const known = new Map<string, ProgramFiles>();
  const filesOf = async (program: string) => {
    const files = known.get(program) ?? (await findFiles(program));
    if (files === null) return { bin: program, ownFiles: [] };
    known.set(program, files);
    return files;
  };
  return {
    async enter(program, { reads, writes }) {
      const { bin, ownFiles } = await filesOf(program);
      return [
        ...base,
        ...ownFiles.flatMap((path) => ['--ro-bind-try', path, path]),
        ...(writes === null ? [] : ['--bind', writes, writes]),
        // Behind the folder: what is to be read may lie in it.
        ...reads.flatMap((path) => ['--ro-bind-try', path, path]),
        ...['--remount-ro', '/', '--', bin],
      ];
    },
  };
}

interface ProgramFiles {
  bin: string;
  /** The program and its libraries, where they are not the system's. */
  ownFiles: string[];
}

/** null when there is no such program. */
async function findFiles(program: string): Promise<ProgramFiles | null> {
  const bin = await findProgram(program);
  if (bin === null) return null;
  if (isOfSystem(bin)) return { bin, ownFiles: [] };
  // Fails on what is linked statically, and on scripts.
  const { stdout } = await run('ldd', [bin], { env: programEnvironment() }).catch(() => ({ stdout: '' }));
  const linked = stdout.match(/\/\S+(?= \(0x)/g) ?? [];
  return { bin, ownFiles: [bin, ...linked].filter((path) => !isOfSystem(path)) };
}

function isOfSystem(path: string): boolean {
  return SYSTEM.some((folder) => path.startsWith(`${folder}/`));
}

/** The program itself, behind all links. */
async function findProgram(name: string): Promise<string | null> {
  const folders = name.includes('/') ? [''] : programEnvironment().PATH.split(delimiter);
  for (const folder of folders) {
    const path = join(folder, name);
    try {
      await access(path, constants.X_OK);
      if ((await stat(path)).isFile()) return await realpath(path);
    } catch {}
  }
  return null;
}

/** The first line of what bubblewrap says when it fails; null when it works. */
async function complaint(args: readonly string[]): Promise<string | null> {
  try {
    await run('bwrap', args, { timeout: TRY_TIMEOUT_MS, env: programEnvironment() });
    return null;
  } catch (error) {
    if (!(error instanceof Error)) return String(error);
    if ('code' in error && error.code === 'ENOENT') return 'bubblewrap is not installed';
    const said = 'stderr' in error ? String(error.stderr).trim().split('\n', 1)[0] : '';
    return said || error.message.split('\n', 1)[0] || 'bubblewrap fails';
  }
}
