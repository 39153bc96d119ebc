import { execFile } from 'node:child_process';
import { constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ACCOUNT = 'postgres';

/** How the PostgreSQL programs are started: PostgreSQL refuses to run as root. */
export interface Identity {
  /** The system user that owns the cluster; null when we are not root and run it as ourselves. */
  user: { uid: number; gid: number } | null;
  /** Program and arguments to put before the command; empty when the machine has no `setpriv`. */
  prefix: string[];
}

/**
 * Chooses the system user, made when it is missing, and the way to become it.
 *
 * @param folders folders that the programs must reach. A data folder below `/root` or a 0700 folder of
 *   `mktemp -d` is closed to the system user: the programs then keep the capability to look through folders.
 * @throws {Error} one line, when there is no way.
 */
export async function chooseIdentity(folders: string[]): Promise<Identity> {
  const setpriv = process.platform === 'linux' && (await works('setpriv', ['--version']));
  // The server stops by itself when our process is killed: no orphan keeps the data folder.
  const prefix = setpriv ? ['setpriv', '--pdeathsig', 'INT'] : [];
  if (process.getuid?.() !== 0) return { user: null, prefix };

  const user = await systemUser();
  if (!setpriv) {
    const closed = await firstClosed(folders, user);
    if (closed !== null) throw unreachable(closed);
    return { user, prefix };
  }
  prefix.push('--reuid', String(user.uid), '--regid', String(user.gid), '--clear-groups');
  const closed = await firstClosed(folders, user);
  if (closed === null) return { user, prefix };
  for (const capability of ['dac_read_search', 'dac_override']) {
    // access(2) ignores capabilities without the secure bit, and PostgreSQL asks it about its own programs.
    const keep = ['--inh-caps', `+${capability}`, '--ambient-caps', `+${capability}`];
    const [program = '', ...rest] = [...prefix, '--securebits', '+no_setuid_fixup', ...keep];
    if (await works(program, [...rest, '--', 'true'])) return { user, prefix: [program, ...rest] };
  }
  throw unreachable(closed);
}

function unreachable(folder: string): Error {
  return new Error(
    `PostgreSQL cannot run as root and its system user "${ACCOUNT}" cannot enter ${folder}: choose another DATA_DIR, or run as another user`,
  );
}

async function works(program: string, args: string[]): Promise<boolean> {
  return run(program, args).then(
    () => true,
    () => false,
  );
}

async function systemUser(): Promise<{ uid: number; gid: number }> {
  const found = await lookUp();
  if (found !== null) return found;
  const made =
    (await works('useradd', ['--system', '--user-group', '--no-create-home', ACCOUNT])) ||
    (await works('adduser', ['-S', '-D', '-H', ACCOUNT]));
  const user = made ? await lookUp() : null;
  if (user === null) {
    throw new Error(
      `PostgreSQL cannot run as root and the system user "${ACCOUNT}" could not be created: run as another user`,
    );
  }
  return user;
}

async function lookUp(): Promise<{ uid: number; gid: number } | null> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', ACCOUNT]), run('id', ['-g', ACCOUNT])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return null;
  }
}

/** The first folder on the way to one of `folders` that the user may not pass through. */
async function firstClosed(folders: string[], user: { uid: number; gid: number }): Promise<string | null> {
  for (const folder of folders) {
    for (let path = folder; ; path = dirname(path)) {
      const { mode, uid, gid } = await stat(path);
      const bit =
        uid === user.uid ? constants.S_IXUSR : gid === user.gid ? constants.S_IXGRP : constants.S_IXOTH;
      if ((mode & bit) === 0) return path;
      if (path === dirname(path)) break;
    }
  }
  return null;
}
