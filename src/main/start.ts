import { maintainPartitions } from '../events/partitions.ts';
import { releaseAbandoned } from '../features/webhooks/index.ts';
import { giveBackJobs } from '../jobs/worker.ts';
import { type Config, ConfigError, loadConfig } from '../platform/config.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../platform/db/embedded.ts';
import { migrate } from '../platform/db/migrate.ts';
import { acquireInstanceLock } from '../platform/instance-lock.ts';
import { createLogger } from '../platform/logger.ts';
import { serveMetrics } from '../platform/metrics.ts';
import { loadSecretKey } from '../platform/secrets.ts';
import { startApi } from './api.ts';
import { createContainer } from './container.ts';
import { describeFailure } from './failure.ts';
import { startMediaProcess } from './media-process.ts';
import { banner, createOwner } from './owner.ts';
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
  const logger = createLogger(config.LOG_LEVEL, { process: 'postgres' });
  const postgres: EmbeddedPostgres = await startEmbeddedPostgres({ dataDir: config.DATA_DIR, logger });
  closers.push(() => postgres.stop());
  void postgres.crashed.then((line) => fail(line));
  return postgres.url;
}

async function openMetrics(config: Config, container: Awaited<ReturnType<typeof createContainer>>) {
  const port = config.METRICS_PORT ?? DEFAULT_METRICS_PORT;
  const server = await serveMetrics(container.metrics.registry, port).catch((error: unknown) => {
    if (config.METRICS_PORT !== undefined) throw error;
    return serveMetrics(container.metrics.registry, 0);
  });
  container.log.info({ address: server.address() }, 'metrics are served');
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
  const databaseUrl = await openDatabaseServer(config);
  const secretKey = await loadSecretKey(config.DATA_DIR, config.SECRET_KEY);
  const container = await createContainer({ config, databaseUrl, secretKey, name: 'main' });
  closers.push(() => container.close());
  await migrate(container.sql);
  // Before anything is appended: attaching today's partition races with inserts into the default one.
  await maintainPartitions(container.sql, container.clock);
  const owner = await createOwner(container);
  if (config.WEBHOOK_ALLOW_PRIVATE.length > 0 || config.FETCH_ALLOW_PRIVATE.length > 0) {
    container.log.warn(
      { webhooks: config.WEBHOOK_ALLOW_PRIVATE, fetches: config.FETCH_ALLOW_PRIVATE },
      'private addresses may be reached for users: for development only',
    );
  }
  await openMetrics(config, container);

  let mediaRuns = () => true;
  if (config.ROLES.includes('media')) {
    const media = await startMediaProcess({
      init: { type: 'init', databaseUrl, secretKey: secretKey.toString('hex') },
      log: container.log,
      onGauges: container.metrics.media,
      onFatal: (message) => void fail(message),
    });
    mediaRuns = media.running;
    closers.push(() => media.stop());
  }
  if (config.ROLES.includes('worker')) {
    // Behind the lock of DATA_DIR the embedded database has no other worker.
    if (config.DATABASE_URL === undefined) {
      await releaseAbandoned(container.db);
      await giveBackJobs(container.db);
    }
    const worker = startWorker(container);
    closers.push(() => worker.stop());
  }
  if (config.ROLES.includes('api')) {
    // Behind that lock, too: uploads that were cut off by the end of the process before may go on at once.
    if (config.DATABASE_URL === undefined) await container.uploads.releaseWriters();
    const { drain } = await startApi(container, mediaRuns);
    closers.push(drain);
  }
  process.stdout.write(banner(config, owner));
  // The bootstrap starts again what was ready once.
  process.send?.({ type: 'ready' });
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
