import { preparePartitions } from '../events/partitions.ts';
import { inBackground, SERVING, WORKING } from '../platform/db/deadline.ts';
import { migrate } from '../platform/db/migrate.ts';
import { metricsServer } from '../platform/metrics.ts';
import { type BuiltApi, buildApi } from './api.ts';
import { type Container, createContainer } from './container.ts';
import { banner, createOwner, type StartupWarning } from './first-run.ts';
import type { HeldPort, HeldPorts } from './held-ports.ts';
import { notifyMigrated, recover } from './lifecycle.ts';
import type { MediaLaunch } from './media-process.ts';
import { missingCodecs } from './media-tools.ts';
import type { Settings } from './ports.ts';
import { startWorker } from './worker.ts';

type RunSettings = Required<Pick<Settings, 'config' | 'databaseUrl' | 'secretKey' | 'rooms'>> & {
  /** Has been started already; null where this node has no media role. */
  media: MediaLaunch | null;
  ports: HeldPorts;
  /** Collects the cleanup functions, run in reverse order. */
  closers: (() => Promise<void> | void)[];
};

/**
 * Runs the roles of this node on an available database. Resolves when all of them run and the banner was
 * printed.
 */
export async function runPlatform({ media, ports, closers, ...settings }: RunSettings): Promise<void> {
  const bounds = settings.config.ROLES.includes('worker') ? WORKING : SERVING;
  const container = await createContainer({ ...settings, bounds, name: 'main' });
  const { config, sql, clock, modules } = container;
  closers.push(() => container.close());
  // Started early, because it takes half a second and the result is needed soon; later callers get a failure.
  container.checkTools().catch(() => {});
  await migrate(sql);
  // Before anything is appended: attaching today's partition races with inserts into the default one.
  await preparePartitions(sql, clock, config);
  await inBackground(() => notifyMigrated(modules));
  const owner = await createOwner(container);
  warnOfPrivateAddresses(container);
  const mediaListens = beginMedia(container, settings, { media, closers });
  const rolesStarted = startRoles(container, media, closers);
  await Promise.all([mediaListens, openMetrics(container, ports.metrics, closers), rolesStarted]);
  // Last: when the API responds, everything is running.
  await (await rolesStarted)?.open(ports.api);
  const notices = [
    await findWeakness(container),
    ...(await findEncoderLacks(container)),
    findRoomsLack(container),
  ];
  process.stdout.write(
    banner(
      config,
      owner,
      notices.filter((notice) => notice !== null),
    ),
  );
}

async function openMetrics(
  { metrics, log }: Container,
  port: HeldPort,
  closers: RunSettings['closers'],
): Promise<void> {
  const server = metricsServer(metrics.registry);
  await port.giveTo(server);
  log.info({ address: server.address() }, 'metrics are served');
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
}

function warnOfPrivateAddresses({ config, log }: Container): void {
  const { WEBHOOK_ALLOW_PRIVATE: webhooks, FETCH_ALLOW_PRIVATE: fetches } = config;
  if (webhooks.length === 0 && fetches.length === 0) return;
  log.warn({ webhooks, fetches }, 'requests to private addresses are allowed: for development only');
}

/**
 * Finds weaknesses of the sandbox around ffmpeg, if this process tree runs any; only the operator can fix
 * them.
 */
async function findWeakness({ config, guard, log }: Container): Promise<StartupWarning | null> {
  if (!config.ROLES.some((role) => role !== 'api')) return null;
  const { weakness } = await guard();
  if (weakness === null) return null;
  log.warn({ reason: weakness }, 'ffmpeg runs without a sandbox');
  return { name: 'No sandbox', text: `${weakness} (docs/guides/operations.md#sandbox)` };
}

/** Finds configured encoders that are unavailable, if this process tree encodes. */
async function findEncoderLacks({ config, checkTools, hardware, log }: Container): Promise<StartupWarning[]> {
  if (!config.ROLES.some((role) => role !== 'api')) return [];
  const info = await checkTools().catch(() => null);
  if (info === null) return [];
  const found = await hardware.find();
  const lacking = missingCodecs(config, info, found);
  const texts = found.refusals.map(({ what, reason }) => `${what}: using software encoding: ${reason}`);
  if (lacking.length > 0) {
    log.warn({ codecs: lacking }, 'this ffmpeg does not support all of VIDEO_CODECS');
    texts.push(
      `no encoder for ${lacking.join(' and ')} of VIDEO_CODECS (docs/guides/processing.md#hevc-and-av1)`,
    );
  }
  return texts.map((text) => ({ name: 'Encoders', text }));
}

/** Finds the reason for which rooms fall back to the mesh without being configured to. */
function findRoomsLack({ roomChoice: { lack }, log }: Container): StartupWarning | null {
  if (lack === null) return null;
  log.warn({ reason: lack }, 'rooms have no media server: they are peer-to-peer and limited to four people');
  const text = `at most four people: ${lack} (docs/guides/room-engines.md)`;
  return { name: 'Small rooms', text };
}

/** Resolves when encoders can connect. */
async function beginMedia(
  { metrics, checkTools }: Container,
  { databaseUrl, secretKey, rooms }: Pick<RunSettings, 'databaseUrl' | 'secretKey' | 'rooms'>,
  { media, closers }: Pick<RunSettings, 'media' | 'closers'>,
): Promise<void> {
  if (media === null) return;
  // Before the database is closed, and again at the end, where the start fails earlier.
  closers.push(() => media.stop());
  const ffmpeg = await checkTools().catch(() => null);
  const key = secretKey.toString('hex');
  await media.begin({ type: 'init', databaseUrl, secretKey: key, rooms, ffmpeg }, metrics.media);
}

/** @returns the api role, which is still to be opened; null where this node has none. */
async function startRoles(
  container: Container,
  media: MediaLaunch | null,
  closers: RunSettings['closers'],
): Promise<BuiltApi | null> {
  const { config, modules } = container;
  // Behind the lock of DATA_DIR, the embedded database has no other process of these roles.
  const isAlone = config.DATABASE_URL === undefined;
  if (config.ROLES.includes('worker') && isAlone) await inBackground(() => recover(modules, 'worker'));
  let api: BuiltApi | null = null;
  if (config.ROLES.includes('api')) {
    if (isAlone) await inBackground(() => recover(modules, 'api'));
    api = await buildApi(container, () => media?.running() ?? true);
    closers.push(api.drain);
  }
  if (config.ROLES.includes('worker')) {
    const worker = startWorker(container);
    closers.push(() => worker.stop());
  }
  return api;
}
