import { execFile } from 'node:child_process';
import { access, chmod, constants, lchown, lstat, realpath, stat } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { programEnvironment } from '../../platform/config.ts';
import { type ShownDevices, showDevices } from './devices.ts';
import { entriesBelow, SANDBOX_UID, UnsafeOutputError } from './output.ts';

const run = promisify(execFile);

/** Part of the file system visible to a program, in addition to itself and its libraries. */
export interface SandboxView {
  /** Files it may read, under their own names. */
  reads: readonly string[];
  /** The folder that it works in, or the one file that it writes. */
  writes: string | null;
  /**
   * Files and folders named by the operator, under these names, with links followed. Their modes are
   * unchanged, and files of the platform in them stay hidden.
   */
  named?: readonly string[];
  /** Device nodes: of the encoder that it is to use. */
  devices?: readonly string[];
}

/** Bubblewrap, where it works: docs/decisions/untrusted-media.md lists the restrictions. */
export interface Sandbox {
  /**
   * Reason why the program runs as the platform's user, which is root, on the host; null when it has its own
   * user.
   */
  readonly sharesRoot: string | null;
  /** The program has its own user: two sandboxes are nested, and the outer one reports its process. */
  readonly hasOwnUser: boolean;
  /** Returns the command that runs the program in the sandbox, and reports the process on `infoFd`. */
  enter(program: string, view: SandboxView, infoFd: number): Promise<string[]>;
}

/**
 * Programs and libraries of the system, and files of the loader. They contain nothing of a user or of ours.
 */
const SYSTEM = [
  ...['/usr/bin', '/usr/lib', '/usr/lib32', '/usr/lib64', '/usr/libexec'],
  ...['/usr/local/bin', '/usr/local/lib', '/usr/local/lib64'],
  ...['/bin', '/lib', '/lib32', '/lib64', '/nix/store', '/gnu/store'],
  ...['/etc/ld.so.cache', '/etc/alternatives'],
];
const DEVICES = ['/dev/null', '/dev/urandom'].flatMap((path) => ['--dev-bind', path, path]);
const NO_DEVICES: ShownDevices = { nodes: [], facts: [], paths: [], groups: [] };
const UNPRIVILEGED_ID = '65534';

/** No other processes, and an end with its parent. */
const PROCESSES = ['--unshare-pid', '--die-with-parent'];
/** Drops all capabilities and the network; signals reach it only as a session of its own. */
const RIGHTS = [
  ...[
    '--unshare-user',
    '--uid',
    UNPRIVILEGED_ID,
    '--gid',
    UNPRIVILEGED_ID,
    '--cap-drop',
    'ALL',
    '--new-session',
  ],
  ...['--unshare-ipc', '--unshare-uts', '--unshare-net', '--unshare-cgroup-try'],
];
/** Not every version and every container has these. */
const NO_NAMESPACES = ['--disable-userns'];
const OWN_PROC = ['--proc', '/proc'];
const STDOUT = 1;
const TRY_TIMEOUT_MS = 20_000;

/**
 * @param programs that have to start in it.
 * @param hidden folders and files that are never visible, wherever they are.
 * @returns the sandbox, or the reason in one line when it does not work.
 */
export async function findSandbox(
  programs: readonly string[],
  hidden: readonly string[] = [],
): Promise<Sandbox | string> {
  const view = [...SYSTEM_VIEW_ARGS, ...DEVICES];
  const [plain, noNamespaces, ownProc] = await Promise.all([
    complaint([...PROCESSES, ...RIGHTS, ...view, '--remount-ro', '/', 'true']),
    complaint([...PROCESSES, ...RIGHTS, ...view, ...NO_NAMESPACES, 'true']),
    complaint([...PROCESSES, ...RIGHTS, ...view, ...OWN_PROC, 'true']),
  ]);
  if (plain !== null) return plain;
  const rights = [...RIGHTS, ...(noNamespaces === null ? NO_NAMESPACES : [])];
  const sharesRoot = isRoot()
    ? await complaint(asOwnUser(SYSTEM_VIEW_ARGS, rights, 'true', NO_DEVICES))
    : null;
  const processes = [...PROCESSES, ...(ownProc === null ? OWN_PROC : [])];
  const sandbox = createSandbox({ processes, rights, hidden, sharesRoot });
  const reasons = await Promise.all(programs.map((program) => startFailure(sandbox, program)));
  return reasons.find((reason) => reason !== null) ?? sandbox;
}

/** Returns the reason why an existing program does not start in it; null when it does. */
async function startFailure(sandbox: Sandbox, program: string): Promise<string | null> {
  if ((await findProgram(program)) === null) return null;
  const [, ...args] = await sandbox.enter(program, { reads: [], writes: null }, STDOUT);
  const reason = await complaint([...args, '-version']);
  return reason === null ? null : `${program} does not start in the sandbox: ${reason}`;
}

interface Means {
  processes: readonly string[];
  rights: readonly string[];
  hidden: readonly string[];
  sharesRoot: string | null;
}

function createSandbox({ processes, rights, hidden, sharesRoot }: Means): Sandbox {
  const known = new Map<string, ProgramFiles>();
  const filesOf = async (program: string) => {
    const files = known.get(program) ?? (await findFiles(program));
    if (files === null) return { bin: program, ownFiles: [] };
    known.set(program, files);
    return files;
  };
  const hasOwnUser = isRoot() && sharesRoot === null;
  return {
    sharesRoot,
    hasOwnUser,
    async enter(program, view, infoFd) {
      const { bin, ownFiles } = await filesOf(program);
      const inputs = await inputsOf(view);
      const named = view.named ?? [];
      const covers = await coversOf(hidden, [...SYSTEM, ...named]);
      const devices = await showDevices(view.devices ?? []);
      const shown = [...SYSTEM_VIEW_ARGS, ...foldersAbove(named), ...readOnly(named)];
      const isHidden = (path: string) => covers.some((cover) => path.startsWith(`${cover.path}/`));
      shown.push(...covers.flatMap(({ args }) => args), ...readOnly(named.filter(isHidden)));
      shown.push(...showArgs(ownFiles, view));
      shown.push(...foldersAbove(devices.paths), ...devices.facts);
      // Applied last: visible paths may lie below hidden ones.
      for (const { path } of covers) shown.push('--remount-ro', path);
      const info = ['--info-fd', String(infoFd)];
      if (!hasOwnUser) {
        const nodes = [...DEVICES, ...devices.nodes];
        const inside = [...processes, ...rights, ...shown, ...nodes, '--remount-ro', '/'];
        return ['bwrap', ...info, ...inside, '--', bin];
      }
      await handOver(inputs, view.writes);
      return ['bwrap', ...info, ...asOwnUser(shown, rights, bin, devices)];
    },
  };
}

/** Creates the parent folders of visible paths, which a user other than root needs. */
function foldersAbove(paths: readonly string[]): string[] {
  const above = new Set<string>();
  for (const path of paths) {
    for (let folder = dirname(path); folder !== '/' && folder !== '.'; folder = dirname(folder))
      above.add(folder);
  }
  return [...above].toSorted().flatMap((folder) => ['--dir', folder]);
}

const SYSTEM_VIEW_ARGS = [...foldersAbove([...SYSTEM, '/dev/null']), ...readOnly(SYSTEM)];

function readOnly(paths: readonly string[]): string[] {
  return paths.flatMap((path) => ['--ro-bind-try', path, path]);
}

function showArgs(ownFiles: readonly string[], { reads, writes }: SandboxView): string[] {
  const paths = [...ownFiles, ...reads, ...(writes === null ? [] : [writes])];
  return [
    ...foldersAbove(paths),
    ...readOnly(ownFiles),
    ...(writes === null ? [] : ['--bind', writes, writes]),
    // After the folder, because inputs may lie in it.
    ...readOnly(reads),
  ];
}

/**
 * Builds the nested sandbox for root: an outer bubblewrap, which can access all files, builds the view; a
 * second one enters it as a user without access to other files. The processes are in a namespace of the
 * first: when it ends, they all end, and no permission to kill them is needed.
 */
function asOwnUser(
  shown: readonly string[],
  rights: readonly string[],
  bin: string,
  devices: ShownDevices,
): string[] {
  const id = String(SANDBOX_UID);
  const nodes = [...DEVICES, ...devices.nodes];
  const groups = devices.groups.length === 0 ? ['--clear-groups'] : ['--groups', devices.groups.join()];
  return [
    // The second one builds below /tmp.
    ...[...PROCESSES, ...shown, ...nodes, '--dir', '/tmp', ...OWN_PROC, '--remount-ro', '/', '--'],
    ...['setpriv', '--reuid', id, '--regid', id, ...groups, '--inh-caps=-all', '--bounding-set=-all'],
    ...['bwrap', '--bind', '/', '/', ...nodes, ...rights, '--', bin],
  ];
}

/**
 * Finds the existing inputs. A link would expose its target.
 *
 * @throws {UnsafeOutputError} when an input is not a regular file: the previous program has left it.
 */
async function inputsOf({ reads }: SandboxView): Promise<{ path: string; mode: number }[]> {
  const inputs: { path: string; mode: number }[] = [];
  for (const path of reads) {
    const found = await lstat(path).catch(() => null);
    if (found === null) continue;
    if (!found.isFile()) throw new UnsafeOutputError(path, 'is not a regular file');
    inputs.push({ path, mode: found.mode });
  }
  return inputs;
}

/** Transfers the output to the sandbox user, and sets the inputs readable. */
async function handOver(
  inputs: readonly { path: string; mode: number }[],
  writes: string | null,
): Promise<void> {
  for (const { path, mode } of inputs) {
    if ((mode & READABLE) === 0) await chmod(path, (mode & 0o7777) | READABLE);
  }
  if (writes === null) return;
  await lchown(writes, SANDBOX_UID, SANDBOX_UID);
  if (!(await lstat(writes)).isDirectory()) return;
  for await (const [path] of entriesBelow(writes)) await lchown(path, SANDBOX_UID, SANDBOX_UID);
}

/** Mode bit: readable by all. */
const READABLE = 0o004;

interface Cover {
  path: string;
  args: string[];
}

/** Covers hidden paths that lie in one of the folders with empty mounts, under each of their names. */
async function coversOf(hidden: readonly string[], folders: readonly string[]): Promise<Cover[]> {
  const covers: Cover[] = [];
  for (const path of hidden) {
    const real = await realpath(path).catch(() => null);
    if (real === null) continue;
    const isFolder = (await stat(real)).isDirectory();
    for (const folder of folders) {
      const start = await realpath(folder).catch(() => null);
      if (start === null || !(real === start || real.startsWith(`${start}/`))) continue;
      const shown = join(folder, real.slice(start.length));
      const args = isFolder ? ['--tmpfs', shown] : ['--ro-bind', '/dev/null', shown];
      covers.push({ path: shown, args });
    }
  }
  return covers;
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

interface ProgramFiles {
  bin: string;
  /** The program and its libraries, where they are not the system's. */
  ownFiles: string[];
}

/** Returns the program and its libraries; null when it does not exist. */
async function findFiles(program: string): Promise<ProgramFiles | null> {
  const bin = await findProgram(program);
  if (bin === null) return null;
  if (isOfSystem(bin)) return { bin, ownFiles: [] };
  // Fails on statically linked binaries, and on scripts.
  const { stdout } = await run('ldd', [bin], { env: programEnvironment() }).catch(() => ({ stdout: '' }));
  const linked = stdout.match(/\/\S+(?= \(0x)/g) ?? [];
  return { bin, ownFiles: [bin, ...linked].filter((path) => !isOfSystem(path)) };
}

function isOfSystem(path: string): boolean {
  return SYSTEM.some((folder) => path.startsWith(`${folder}/`));
}

/** Returns the real path of the program, with all links resolved. */
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

/** Returns the first line of bubblewrap's error output; null when it works. */
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
