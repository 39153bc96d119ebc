import { maintainPartitions } from '../events/partitions.ts';
import { chooseRoomEngine } from '../media/rooms/choice.ts';
import { type Config, ConfigError, loadConfig } from '../platform/config.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../platform/db/embedded.ts';
import { migrate } from '../platform/db/migrate.ts';
import { acquireInstanceLock } from '../platform/instance-lock.ts';
import { createLogger } from '../platform/logger.ts';
import { serveMetrics } from '../platform/metrics.ts';
import { loadSecretKey } from '../platform/secrets.ts';
import { startApi } from './api.ts';
import { type Container, createContainer } from './container.ts';
import { describeFailure } from './failure.ts';
import { requireFreePorts } from './free-ports.ts';
import { type MediaInit, startMediaProcess } from './media-process.ts';
import { banner, createOwner, type Notice } from './owner.ts';
import { recover, tellMigrated } from './services.ts';
import { startWorker } from './worker.ts';

/** Undone in reverse order, so that nothing is closed under what still needs it. */
const closers: (() => Promise<void> | void)[] = [];
const STOP_MS = 25_000;
let ending = false;

async function shutdown(exitCode: number): Promise<void> {
  if (ending) return;
  ending = true;
  setTimeout(() => process.exit(1), STOP_MS).unref();
  let code = exitCode;
  for (const close of closers.reverse()) {
    try {
      await close();
    } catch (error) {
      code = 1;
      process.stderr.write(`marquee: while stopping: ${describeFailure(error)}\n`);
    }
  }
  process.exit(code);
}

async function fail(message: string): Promise<void> {
  process.stderr.write(`marquee: ${message}\n`);
  await shutdown(1);
}

async function openDatabaseServer(config: Config): Promise<string> {
  if (config.DATABASE_URL !== undefined) return config.DATABASE_URL;
  const log = createLogger(config.LOG_LEVEL, { process: 'postgres' });
  const postgres: EmbeddedPostgres = await startEmbeddedPostgres({ dataDir: config.DATA_DIR, log });
  closers.push(() => postgres.stop());
  void postgres.crashed.then((line) => fail(line));
  return postgres.url;
}

async function openMetrics({ config, metrics, log }: Container): Promise<void> {
  const port = config.METRICS_PORT ?? DEFAULT_METRICS_PORT;
  const server = await serveMetrics(metrics.registry, port).catch((error: unknown) => {
    if (config.METRICS_PORT !== undefined) throw error;
    return serveMetrics(metrics.registry, 0);
  });
  log.info({ address: server.address() }, 'metrics are served');
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
}

const DEFAULT_METRICS_PORT = 9464;

async function start(): Promise<void> {
  const config = loadConfig();
  const lock = acquireInstanceLock(config.DATA_DIR);
  closers.push(() => lock.release());
  await requireFreePorts(config);
  const databaseUrl = await openDatabaseServer(config);
  const secretKey = await loadSecretKey(config);
  const rooms = await chooseRoomEngine(config);
  const container = await createContainer({ config, databaseUrl, secretKey, rooms, name: 'main' });
  closers.push(() => container.close());
  await migrate(container.sql);
  // Before anything is appended: attaching today's partition races with inserts into the default one.
  await maintainPartitions(container.sql, container.clock, config);
  await tellMigrated(container.parts);
  const owner = await createOwner(container);
  warnOfPrivateAddresses(container);
  const notices = [await findWeakness(container), findRoomsLack(container)];
  await openMetrics(container);
  await startRoles(container, { type: 'init', databaseUrl, secretKey: secretKey.toString('hex'), rooms });
  process.stdout.write(
    banner(
      config,
      owner,
      notices.filter((notice) => notice !== null),
    ),
  );
  // The bootstrap starts again what was ready once.
  process.send?.({ type: 'ready' });
}

function warnOfPrivateAddresses({ config, log }: Container): void {
  const { WEBHOOK_ALLOW_PRIVATE: webhooks, FETCH_ALLOW_PRIVATE: fetches } = config;
  if (webhooks.length === 0 && fetches.length === 0) return;
  log.warn({ webhooks, fetches }, 'private addresses may be reached for users: for development only');
}

/** Of the guard around ffmpeg, where this process tree runs any; its walls are the operator's to raise. */
async function findWeakness({ config, guard, log }: Container): Promise<Notice | null> {
  if (!config.ROLES.some((role) => role !== 'api')) return null;
  const { weakness } = await guard();
  if (weakness === null) return null;
  log.warn({ reason: weakness }, 'ffmpeg runs without a sandbox');
  return { name: 'No sandbox', text: `${weakness} (docs/guides/operating.md#sandbox)` };
}

/** Why rooms are carried by nothing but the browsers themselves, where nobody has asked for that. */
function findRoomsLack({ roomChoice: { lack }, log }: Container): Notice | null {
  if (lack === null) return null;
  log.warn({ reason: lack }, 'rooms have no media server: browsers send to each other, four at most');
  const text = `four people at most: ${lack} (docs/guides/rooms-operator.md)`;
  return { name: 'Small rooms', text };
}

async function startRoles(container: Container, init: MediaInit): Promise<void> {
  const { config, parts, log, metrics } = container;
  // Behind the lock of DATA_DIR, the embedded database has no other process of these roles.
  const isAlone = config.DATABASE_URL === undefined;
  let mediaRuns = () => true;
  if (config.ROLES.includes('media')) {
    const onFatal = (message: string) => void fail(message);
    const media = await startMediaProcess({ init, log, onGauges: metrics.media, onFatal });
    mediaRuns = media.running;
    closers.push(() => media.stop());
  }
  if (config.ROLES.includes('worker')) {
    if (isAlone) await recover(parts, 'worker');
    const worker = startWorker(container);
    closers.push(() => worker.stop());
  }
  if (config.ROLES.includes('api')) {
    if (isAlone) await recover(parts, 'api');
    const { drain } = await startApi(container, mediaRuns);
    closers.push(drain);
  }
}

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  process.on(signal, () => void shutdown(0));
}
// The bootstrap script's end of the channel: it is gone, so drain.
process.on('disconnect', () => void shutdown(0));

start().catch((error: unknown) => {
  const message =
    error instanceof ConfigError ? `bad configuration: ${error.message}` : describeFailure(error);
  return fail(message);
});
