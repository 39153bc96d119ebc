import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readlink, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { programEnvironment } from '../../../platform/config.ts';
import type { Logger } from '../../../platform/logger.ts';
import { SANDBOX_UID } from '../../ffmpeg/output.ts';
import { JanusClient } from './client.ts';
import { type JanusLink, readLink, writeLink } from './link-file.ts';
import { CONFIG_FOLDER, writeSettings } from './settings.ts';
import { cleanFolder, workingFolder } from './working-folder.ts';

const run = promisify(execFile);

interface Options {
  program: string;
  /** Working folder, if usable ({@link workingFolder}). */
  folder: string;
  /** File from which other processes read the connection data. */
  linkFile: string;
  ports: { first: number; last: number };
  publicIp: string | undefined;
  /** Default: all network devices but the loopback. */
  devices?: string;
  log: Logger;
}

export interface JanusProcess {
  /** Stops Janus and removes all its traces. */
  stop(): Promise<void>;
}

const BACKOFF_MS = [100, 500, 1000, 2000, 5000];
/** Uptime after which an exit does not count as a failed start. */
const STEADY_MS = 30_000;
const READY_MS = 10_000;
const PROBE_MS = 2000;
const STOP_MS = 3000;
/** Minimum version, 1.0.0: the first with several streams in one connection. */
const OLDEST = 1000;

/** Command that raises the limit of open files as far as permitted: each participant needs a dozen. */
const OPEN_FILES = 'ulimit -n 65536 2>/dev/null || ulimit -n "$(ulimit -Hn)"; exec "$@"';

/**
 * Runs Janus and restarts it when it dies or hangs (docs/decisions/room-engines.md#janus). Each start has its
 * own secrets and port, which are in the link file.
 */
export function startJanus(options: Options): JanusProcess {
  const { log, linkFile } = options;
  const ending = new AbortController();
  let child: ChildProcess | null = null;

  const once = async (): Promise<void> => {
    const started = await launch(options);
    child = started.child;
    try {
      if (ending.signal.aborted) return;
      await writeLink(linkFile, started.link);
      await watch(started, ending.signal);
    } finally {
      await end(started.child);
      child = null;
      await rm(linkFile, { force: true });
    }
  };
  const keep = async (): Promise<void> => {
    await endFormer(options);
    for (let failures = 0; !ending.signal.aborted; failures += 1) {
      const begun = performance.now();
      const reason = await once().then(
        () => 'it ended',
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
      if (ending.signal.aborted) return;
      if (performance.now() - begun > STEADY_MS) failures = 0;
      const restartInMs = BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)] ?? STOP_MS;
      log.error({ reason, restartInMs }, 'Janus is not running: rooms have no media until it starts');
      await sleep(restartInMs, undefined, { signal: ending.signal }).catch(() => {});
    }
  };
  const kept = keep();
  return {
    async stop() {
      ending.abort();
      if (child !== null) await end(child);
      await kept;
      await cleanFolder(options.folder);
    },
  };
}

interface Started {
  child: ChildProcess;
  link: JanusLink;
}

async function launch(options: Options): Promise<Started> {
  const { program, log } = options;
  const folder = await workingFolder(options.folder);
  const secret = randomBytes(24).toString('hex');
  const adminKey = randomBytes(24).toString('hex');
  const port = await freePort();
  const uid = process.getuid?.() === 0 ? SANDBOX_UID : (process.getuid?.() ?? -1);
  await writeSettings(folder, { ...options, wsPort: port, secret, adminKey, devices: options.devices }, uid);
  const command = [...asItself(), program, '-F', CONFIG_FOLDER];
  // The folder is the working directory: its parents need not be accessible to its user.
  const child = spawn('sh', ['-c', OPEN_FILES, 'sh', ...command], {
    cwd: folder,
    env: programEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  await started(child);
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      if (/\[(?:ERR|FATAL)\]/.test(line)) log.warn({ line: line.slice(0, 300) }, 'Janus warning');
    });
  }
  return { child, link: { port, secret, adminKey, folder, pid: child.pid ?? 0 } };
}

/** Returns the command prefix for a separate user when we are root, and an end together with this process. */
function asItself(): string[] {
  const id = String(SANDBOX_UID);
  const user = ['--reuid', id, '--regid', id, '--clear-groups', '--inh-caps=-all', '--bounding-set=-all'];
  return [
    'setpriv',
    ...(process.getuid?.() === 0 ? user : []),
    ...['--no-new-privs', '--pdeathsig', 'KILL', '--'],
  ];
}

async function started(child: ChildProcess): Promise<void> {
  await once(child, 'spawn');
}

/** Resolves when the process has ended. @throws {Error} when it does not respond. */
async function watch({ child, link }: Started, signal: AbortSignal): Promise<void> {
  const exited = new Promise<'exit'>((resolve) => child.once('exit', () => resolve('exit')));
  const client = await reach(link, child);
  try {
    while (child.exitCode === null && child.signalCode === null && !signal.aborted) {
      const pause = sleep(PROBE_MS, undefined, { signal }).catch(() => {});
      await Promise.race([pause, exited]);
      if (child.exitCode === null && child.signalCode === null && !signal.aborted) await client.ping();
    }
  } finally {
    client.close();
  }
}

async function reach(link: JanusLink, child: ChildProcess): Promise<JanusClient> {
  const deadline = performance.now() + READY_MS;
  for (;;) {
    try {
      return await JanusClient.connect(link);
    } catch (error) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`it ended with ${child.exitCode}`);
      if (performance.now() > deadline) throw error;
      await sleep(20);
    }
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const kill = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await exit;
  clearTimeout(kill);
}

/** Ends a Janus that outlived an earlier media process of this node. */
async function endFormer({ linkFile, log }: Options): Promise<void> {
  const former = await readLink(linkFile);
  await rm(linkFile, { force: true });
  if (former === null || former.pid <= 1) return;
  const place = await readlink(`/proc/${former.pid}/cwd`).catch(() => null);
  if (place !== former.folder) return;
  log.warn({ pid: former.pid }, 'stopping a Janus process of a previous run');
  try {
    process.kill(former.pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

/**
 * Checks whether Janus can run on this machine.
 *
 * @returns the reason, in one line, when it cannot; null when it can.
 */
export async function janusUnavailableReason(program: string): Promise<string | null> {
  if (process.platform !== 'linux') return 'Janus runs only on Linux';
  // It prints its version and exits with 1 regardless.
  const [, number] = /^Janus version: (\d+)/m.exec(await tryRun(program, ['--version'])) ?? [];
  if (number === undefined) return `${program} is not installed`;
  if (Number(number) < OLDEST) return 'Janus is too old: use 1.1 or newer';
  const [tool = '', ...args] = asItself();
  const works = await tryRun(tool, [...args, 'echo', 'works']);
  return works === 'works' ? null : 'setpriv cannot run Janus as a separate user';
}

/** Runs a program and returns its output, whatever its exit code is. */
async function tryRun(program: string, args: string[]): Promise<string> {
  const { stdout } = await run(program, args, { env: programEnvironment(), timeout: READY_MS }).catch(
    (error: unknown) => (error instanceof Error && 'stdout' in error ? error : { stdout: '' }),
  );
  return String(stdout).trim();
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
