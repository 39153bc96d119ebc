import { inBackground, SERVING, WORKING } from '../platform/db/deadline.ts';
import { collectProcessMetrics } from '../platform/metrics.ts';
import { type BuiltApi, buildApi } from './api.ts';
import { type Container, createContainer } from './container.ts';
import { banner } from './first-run.ts';
import type { HeldPorts } from './held-ports.ts';
import { type Closers, type NodeState, recover } from './lifecycle.ts';
import { waitForBroadcasts } from './media/drain.ts';
import type { MediaLaunch } from './media/launch.ts';
import { openMetrics } from './metrics-port.ts';
import type { Settings } from './ports.ts';
import { findWarnings, prepareDatabase } from './startup.ts';
import { startWorker } from './worker.ts';

type RunSettings = Required<Pick<Settings, 'config' | 'databaseUrl' | 'secretKey' | 'rooms'>> & {
  /** Has been started already; null where this node has no media role. */
  media: MediaLaunch | null;
  ports: HeldPorts;
  /** Collects the cleanup functions, run in reverse order. */
  closers: Closers;
  state: NodeState;
};

/**
 * Runs the roles of this node on an available database. Resolves when all of them run and the banner was
 * printed.
 */
export async function runPlatform({ media, ports, closers, state, ...settings }: RunSettings): Promise<void> {
  const bounds = settings.config.ROLES.includes('worker') ? WORKING : SERVING;
  const container = await createContainer({ ...settings, bounds, name: 'main' });
  closers.push(() => container.close());
  // Started early, because it takes half a second and the result is needed soon; later callers get a failure.
  container.checkTools().catch(() => {});
  const owner = await prepareDatabase(container);
  collectProcessMetrics(container.metrics.registry);
  await openMetrics(container.metrics.registry, { log: container.log, port: ports.metrics, closers, state });
  const mediaListens = beginMedia(container, settings, { media, closers });
  const rolesStarted = startRoles(container, media, closers);
  await Promise.all([mediaListens, rolesStarted]);
  // Last: when the API responds, everything is running.
  await (await rolesStarted)?.open(ports.api);
  state.hasAllRoles = () => media?.running() ?? true;
  state.isStarted = true;
  process.stdout.write(banner(container.config, owner, await findWarnings(container)));
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
  closers: Closers,
): Promise<BuiltApi | null> {
  const { config, modules } = container;
  // Behind the lock of DATA_DIR, the embedded database has no other process of these roles.
  const isAlone = config.DATABASE_URL === undefined;
  if (config.ROLES.includes('worker') && isAlone) await inBackground(() => recover(modules, 'worker'));
  let api: BuiltApi | null = null;
  if (config.ROLES.includes('api')) {
    if (isAlone) await inBackground(() => recover(modules, 'api'));
    api = await buildApi(container, () => media?.running() ?? true);
  }
  if (config.ROLES.includes('worker')) {
    const worker = startWorker(container);
    closers.push(() => worker.stop());
  }
  // Stops early: load balancers notice immediately, and what its last requests enqueue is still processed.
  if (api !== null) closers.push(api.drain);
  // Stops first: this node shows its broadcasts until they have ended.
  if (media !== null) closers.push(() => waitForBroadcasts(media, config));
  return api;
}
