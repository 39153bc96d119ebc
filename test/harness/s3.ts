import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { accessSync, constants } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './platform.ts';
import { killProcess } from './processes.ts';
import { waitFor } from './wait-for.ts';

const PROGRAM = join(import.meta.dirname, '../../.cache/peers/s3');

/** The reason that a skipped test shows. */
export const NO_S3 = 'no S3 server for the tests; with Go installed type: node scripts/test-tools.mjs s3';

/** Separate S3 server with one empty bucket; path-style URLs. */
export interface TestS3 {
  /** `http://127.0.0.1:<port>` */
  endpoint: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  bucket: string;
  kill(): Promise<void>;
  /** Starts it after `kill`, on the same port with its data. */
  start(): Promise<void>;
  /** Kills it and removes its data. */
  close(): Promise<void>;
}

/** Reports whether the server program was built. */
export function hasS3(): boolean {
  try {
    accessSync(PROGRAM, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** @returns null where the server program was not built: skip with `NO_S3`. */
export async function startS3(): Promise<TestS3 | null> {
  if (!hasS3()) return null;
  const folder = await mkdtemp(join(tmpdir(), 'marquee-s3-'));
  const bucket = 'videos';
  await mkdir(join(folder, 'data', bucket), { recursive: true });
  await mkdir(join(folder, 'meta'));
  const credentials = {
    accessKeyId: `AK${randomBytes(9).toString('hex').toUpperCase()}`,
    secretAccessKey: randomBytes(20).toString('hex'),
  };
  const port = await freePort();
  const region = 'us-east-1';
  const endpoint = `http://127.0.0.1:${port}`;
  const args = [
    ...['--port', `127.0.0.1:${port}`, '--region', region, '--keep-alive', '--quiet'],
    // Players fetch segments from it.
    ...['--cors-allow-origin', '*'],
    // Metadata in a separate folder, for file systems without extended attributes.
    ...['posix', '--sidecar', join(folder, 'meta'), join(folder, 'data')],
  ];
  let server: ChildProcess | null = null;
  const end = () => server?.kill('SIGKILL');
  process.once('exit', end);
  const s3: TestS3 = {
    endpoint,
    region,
    bucket,
    ...credentials,
    async start() {
      const env = {
        ...process.env,
        ROOT_ACCESS_KEY_ID: credentials.accessKeyId,
        ROOT_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      };
      const child = spawn(PROGRAM, args, { cwd: folder, stdio: 'ignore', env });
      server = child;
      await waitFor(() => answers(endpoint, child), { timeoutMs: 10_000, message: 'the S3 server' });
    },
    async kill() {
      if (server !== null) await killProcess(server);
    },
    async close() {
      process.off('exit', end);
      await s3.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
  await s3.start();
  return s3;
}

/** Any response counts: without a signature it is a 403. */
async function answers(endpoint: string, server: ChildProcess): Promise<boolean> {
  if (server.exitCode !== null) throw new Error(`the S3 server ended with ${server.exitCode}`);
  const response = await fetch(endpoint);
  await response.body?.cancel();
  return true;
}
