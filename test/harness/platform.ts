import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { seedCluster } from './cluster.ts';
import { waitFor } from './wait-for.ts';

const ROOT = join(import.meta.dirname, '../..');
/** The FULL_ACCESS key of the owner of every platform started here. */
export const OWNER_KEY = 'pk_0123456789abcdef0123456789abcdef01234567';
export const OWNER_EMAIL = 'owner@marquee.localhost';

/**
 * Returns the path of a server program as `npm start` runs it: from the bundle, if the bootstrap has built
 * one.
 */
export function serverProgram(name: 'start' | 'cli'): string {
  const { MARQUEE_BUNDLE: bundle } = process.env;
  return bundle === undefined ? join(ROOT, 'src/main', `${name}.ts`) : join(bundle, `${name}.mjs`);
}

/** Range outside of the system's ephemeral ports, so that a port is still free when it is used. */
const PORTS = { from: 22_000, to: 32_000 };
const givenPorts = new Set<number>();

/**
 * A port that is free, and that no other test gets by luck.
 *
 * @param preferred returned if it is free.
 */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await isFree(preferred))) return preferred;
  for (;;) {
    const port = randomInt(PORTS.from, PORTS.to);
    if (givenPorts.has(port) || !(await isFree(port))) continue;
    givenPorts.add(port);
    return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

export interface PlatformOptions {
  environment?: Record<string, string>;
  /** Default: fresh, and removed by `stop`. */
  dataDir?: string;
  port?: number;
  rtmpPort?: number;
  /**
   * The data folder is empty, and the start creates the database; otherwise the database is already migrated.
   */
  isFirstStart?: boolean;
  /** Checkout whose sources are run. Default: the program of this one, as `npm start` runs it. */
  root?: string;
}

/** The program as an operator runs it, in processes of its own. */
export interface RunningPlatform {
  /** `http://127.0.0.1:<port>` */
  url: string;
  /** The base URL of the API. */
  api: string;
  port: number;
  rtmpPort: number;
  dataDir: string;
  process: ChildProcess;
  /** Returns the standard output and error. */
  output(): string;
  /** SIGTERM; resolves with the exit code when it has drained. */
  stop(): Promise<number | null>;
}

/** Starts the program and waits until all of it runs. @throws {Error} with its output when it ends instead. */
export async function startPlatform(options: PlatformOptions = {}): Promise<RunningPlatform> {
  const fresh = options.dataDir === undefined ? await mkdtemp(join(tmpdir(), 'marquee-')) : null;
  const dataDir = options.dataDir ?? join(fresh ?? '', 'data');
  const port = options.port ?? (await freePort());
  const rtmpPort = options.rtmpPort ?? (await freePort());
  const isLeftAlone = options.isFirstStart === true || options.environment?.DATABASE_URL !== undefined;
  if (!isLeftAlone) await seedCluster(dataDir);
  const { root } = options;
  const program = root === undefined ? serverProgram('start') : join(root, 'src/main/start.ts');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program], {
    cwd: root ?? ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      DATA_DIR: dataDir,
      PORT: String(port),
      RTMP_PORT: String(rtmpPort),
      METRICS_PORT: '0',
      BOOTSTRAP_API_KEY: OWNER_KEY,
      ...options.environment,
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      output = (output + String(text)).slice(-1_000_000);
    });
  }
  const url = `http://127.0.0.1:${port}`;
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  await waitFor(() => child.exitCode !== null || output.includes('Marquee is running.'), {
    timeoutMs: 30_000,
    intervalMs: 100,
  });
  if (child.exitCode !== null) throw new Error(`the platform ended with ${child.exitCode}:\n${output}`);
  return {
    url,
    api: `${url}/api/v1`,
    port,
    rtmpPort,
    dataDir,
    process: child,
    output: () => output,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      const code = await ended;
      if (fresh !== null) await rm(fresh, { recursive: true, force: true });
      return code;
    },
  };
}

export function headersOf(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
}

/** Runs the operator's command line on the platform's data. @returns its output as JSON. */
export async function marquee(platform: RunningPlatform, ...args: string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, [serverProgram('cli'), ...args, '--json'], {
    cwd: ROOT,
    env: { ...process.env, DATA_DIR: platform.dataDir },
  });
  return JSON.parse(stdout);
}

/** Creates a key without a practical limit, so that a benchmark measures the program and not its own 429s. */
export async function unlimitedHeaders(platform: RunningPlatform): Promise<Record<string, string>> {
  const args = `key create --account ${OWNER_EMAIL} --scope FULL_ACCESS --rate-limit 2000000000`;
  const made = await marquee(platform, ...args.split(' '));
  if (typeof made !== 'object' || made === null || !('key' in made)) throw new Error('no key was made');
  return headersOf(String(made.key));
}
