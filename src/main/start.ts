import { type Config, ConfigError, inheritedSockets, loadConfig } from '../platform/config.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../platform/db/embedded.ts';
import { acquireInstanceLock } from '../platform/instance-lock.ts';
import { createLogger } from '../platform/logger.ts';
import { loadSecretKey } from '../platform/secrets.ts';
import { readCertificate } from './certificate.ts';
import { describeStartupError } from './describe-error.ts';
import { holdPorts } from './held-ports.ts';
import type { Closers, NodeState } from './lifecycle.ts';
import { endMediaWait, mediaDrainMs } from './media/drain.ts';
import { launchMedia } from './media/launch.ts';
import { onParentExit, parentsOf, signalReady } from './parent-watch.ts';
import { hasSeveralProcesses, maxConnections } from './processes/layout.ts';

const closers: Closers = [];
const state: NodeState = { isStarted: false, hasAllRoles: () => true, isStopping: false };
/** Time for everything but the drain of the roles, mostly for the media process. */
const STOP_MS = 15_000;
/** Connections that the embedded database allows at least, including those of the command line. */
const MIN_CONNECTIONS = 200;
let drainMs = 0;
let roll: (() => Promise<void>) | null = null;

async function shutdown(exitCode: number): Promise<void> {
  if (state.isStopping) return endMediaWait();
  state.isStopping = true;
  setTimeout(() => process.exit(1), drainMs + STOP_MS).unref();
  let code = exitCode;
  for (const close of closers.reverse()) {
    try {
      await close();
    } catch (error) {
      code = 1;
      process.stderr.write(`marquee: while stopping: ${describeStartupError(error)}\n`);
    }
  }
  process.exit(code);
}

async function fail(message: string): Promise<void> {
  process.stderr.write(`marquee: ${message}\n`);
  endMediaWait();
  await shutdown(1);
}

async function openDatabaseServer(config: Config): Promise<string> {
  if (config.DATABASE_URL !== undefined) return config.DATABASE_URL;
  const log = createLogger(config.LOG_LEVEL, { process: 'postgres' });
  const starting = startEmbeddedPostgres({
    dataDir: config.DATA_DIR,
    log,
    settings: { max_connections: String(Math.max(MIN_CONNECTIONS, 2 * maxConnections(config))) },
  });
  // If startup fails in the meantime, cleanup waits for the database server and stops it.
  closers.push(() =>
    starting.then(
      (started) => started.stop(),
      () => {},
    ),
  );
  const postgres: EmbeddedPostgres = await starting;
  void postgres.crashed.then((line) => fail(line));
  return postgres.url;
}

/** Begins what takes its time before all else is loaded (docs/decisions/startup-and-idle.md#parallel-start). */
async function start(): Promise<void> {
  const config = loadConfig();
  drainMs = mediaDrainMs(config) + config.DRAIN_TIMEOUT * 1000;
  const lock = acquireInstanceLock(config.DATA_DIR);
  closers.push(() => lock.release());
  const hasCertificate = config.ROLES.includes('media') && (await readCertificate(config)) !== null;
  const ports = await holdPorts(config, {
    hasCertificate,
    inherited: inheritedSockets(),
    onHeld: (port) => closers.push(() => port.close()),
  });
  const server = openDatabaseServer(config);
  const log = createLogger(config.LOG_LEVEL, { process: 'main' });
  const media =
    ports.media === null
      ? null
      : launchMedia({ log, config, ports: ports.media, onFatal: (message) => void fail(message) });
  if (media !== null) closers.push(() => media.stop());
  const findings = Promise.all([
    server,
    loadSecretKey(config),
    import('../media/rooms/engine-selection.ts').then(({ selectRoomEngine }) => selectRoomEngine(config)),
  ]).then(([databaseUrl, secretKey, rooms]) => ({ databaseUrl, secretKey, rooms }));
  // Awaited below; a failure before that is no unhandled one.
  findings.catch(() => {});
  const node = { config, media, ports, closers, state };
  if (hasSeveralProcesses(config)) {
    const { runTree } = await import('./processes/tree.ts');
    const tree = await runTree({ ...node, findings, onFatal: (message) => void fail(message) });
    roll = tree.roll;
  } else {
    const [{ runPlatform }, found] = await Promise.all([import('./platform.ts'), findings]);
    await runPlatform({ ...node, ...found });
  }
}

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  process.on(signal, () => void shutdown(0));
}
process.on('SIGUSR2', () => {
  if (roll !== null) return void roll();
  process.stderr.write(
    'marquee: SIGUSR2 is ignored: processes are replaced one by one once several run (API_PROCESSES, WORKER_PROCESSES)\n',
  );
});
const args = process.argv.slice(2);
const parents = parentsOf(args);
onParentExit(parents, () => {
  endMediaWait();
  void shutdown(0);
});

start().then(
  () => signalReady(parents, args),
  (error: unknown) => {
    // What was starting ended early, as it was asked to.
    if (state.isStopping) return;
    const message =
      error instanceof ConfigError ? `bad configuration: ${error.message}` : describeStartupError(error);
    return fail(message);
  },
);
