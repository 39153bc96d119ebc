/**
 * `npm run dev`: runs the platform from its sources and restarts it when `src`, `migrations` or a build of `web`
 * changes. PostgreSQL and Vite keep running.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../src/platform/config.ts';
import { startEmbeddedPostgres } from '../src/platform/db/embedded.ts';
import { createLogger } from '../src/platform/logger.ts';
import { ROOT } from './program.ts';

/** Time in which the changes of one save, or of one build, are collected. */
const DEBOUNCE_MS = 100;
/** Time in which a process stops by itself. */
const STOP_MS = 1000;
const NODE_ARGUMENTS = ['--disable-warning=ExperimentalWarning'];

const config = loadConfig();
const log = createLogger(config.LOG_LEVEL, { process: 'dev' });
const postgres =
  config.DATABASE_URL === undefined ? await startEmbeddedPostgres({ dataDir: config.DATA_DIR, log }) : null;
const env = { ...process.env, DATABASE_URL: config.DATABASE_URL ?? postgres?.url };

function run(program: string, args: string[]): ChildProcess {
  return spawn(process.execPath, [...NODE_ARGUMENTS, join(ROOT, program), ...args], {
    cwd: ROOT,
    env,
    stdio: 'inherit',
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  child.kill('SIGTERM');
  await once(child, 'exit');
  clearTimeout(timer);
}

let platform = run('src/main/start.ts', []);
let restart = Promise.resolve();
let timer: NodeJS.Timeout | undefined;

function onChange(_event: string, path: string | null): void {
  if (path?.endsWith('.test.ts')) return;
  clearTimeout(timer);
  timer = setTimeout(() => {
    process.stderr.write(`marquee: ${path} changed, restarting\n`);
    restart = restart.then(async () => {
      await stop(platform);
      platform = run('src/main/start.ts', []);
    });
  }, DEBOUNCE_MS);
}

const vite = run('node_modules/vite/bin/vite.js', ['build', 'web', '--watch', '--logLevel', 'warn']);
for (const folder of ['src', 'migrations']) watch(join(ROOT, folder), { recursive: true }, onChange);
mkdirSync(join(ROOT, 'web/dist'), { recursive: true });
watch(join(ROOT, 'web/dist'), (event, path) => {
  if (path === 'manifest.json') onChange(event, path);
});

let isStopping = false;

async function shutdown(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  clearTimeout(timer);
  await restart;
  await Promise.all([stop(platform), stop(vite)]);
  await postgres?.stop();
  process.exit(0);
}
for (const event of ['SIGTERM', 'SIGINT', 'SIGHUP', 'disconnect'] as const)
  process.on(event, () => void shutdown());
