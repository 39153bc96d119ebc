import { once } from 'node:events';
import { type Server, Socket } from 'node:net';
import { type Config, loadConfig } from '../../platform/config.ts';
import { inBackground, SERVING, WORKING } from '../../platform/db/deadline.ts';
import { collectProcessMetrics } from '../../platform/metrics.ts';
import { buildApi } from '../api.ts';
import { type Container, createContainer } from '../container.ts';
import { describeStartupError } from '../describe-error.ts';
import { recover } from '../lifecycle.ts';
import { findWarnings, prepareDatabase } from '../startup.ts';
import { startWorker } from '../worker.ts';
import type { ProcessInit, ProcessOrder, ProcessReply } from './messages.ts';
import type { SendHandle } from './role-process.ts';

/** A process of the tree: prepares the database, or runs the API or the worker role. */

/** Time to stop without the first process; its successor waits longer for the port. */
const ORPHAN_MS = 1500;

/** Ends a role. @param delaySec how long the API still accepts connections. Default: `DRAIN_DELAY`. */
type Stop = (delaySec?: number) => Promise<void>;

let container: Container | null = null;
let stop: Stop | null = null;
let isStopping = false;
let isMediaRunning = true;
const apiPort = receivePort();

/** Resolves when the message is on its way. */
function reply(message: ProcessReply, handle?: SendHandle): Promise<void> {
  if (!process.connected) return Promise.resolve();
  return new Promise((resolve) => process.send?.(message, handle, {}, () => resolve()));
}

/** The port of the API, whose socket comes from the first process. */
function receivePort() {
  const socket = Promise.withResolvers<SendHandle>();
  const listening = Promise.withResolvers<Server>();
  return {
    listenOn: socket.resolve,
    /** Serves a connection that the first process accepted. */
    async connect(connection: Socket): Promise<void> {
      connection.allowHalfOpen = true;
      const server = await listening.promise;
      server.emit('connection', connection);
      connection.resume();
    },
    async giveTo(server: Server): Promise<void> {
      server.listen(await socket.promise);
      await once(server, 'listening');
      listening.resolve(server);
    },
  };
}

/** Prepares the database for the other processes, and ends. */
async function prepare(container: Container): Promise<Stop> {
  const { config, modules } = container;
  container.checkTools().catch(() => {});
  const owner = await prepareDatabase(container);
  // Behind the lock of DATA_DIR, the embedded database has no other process of these roles.
  const roles = (['api', 'worker'] as const).filter((role) => config.ROLES.includes(role));
  if (config.DATABASE_URL === undefined) {
    for (const role of roles) await inBackground(() => recover(modules, role));
  }
  await reply({ type: 'prepared', owner });
  await reply({ type: 'warnings', warnings: await findWarnings(container) });
  setImmediate(() => shutdown());
  return async () => {};
}

async function runApi(container: Container): Promise<Stop> {
  const api = await buildApi(container, () => isMediaRunning);
  await api.open(apiPort);
  return api.drain;
}

async function runWorker(container: Container): Promise<Stop> {
  const worker = startWorker(container);
  return () => worker.stop();
}

const RUN = { prepare, api: runApi, worker: runWorker };

/** Encodes are programs that use all cores: one worker runs those of this node. */
function configOf({ role, isFirst }: ProcessInit): Config {
  const config = loadConfig();
  return role === 'worker' && !isFirst ? { ...config, TRANSCODE_CONCURRENCY: 0 } : config;
}

async function run(init: ProcessInit): Promise<Stop> {
  const { role, name, databaseUrl, secretKey, rooms, scratchDir } = init;
  const created = await createContainer({
    ...{ config: configOf(init), name, databaseUrl, rooms, scratchDir },
    secretKey: Buffer.from(secretKey, 'hex'),
    bounds: role === 'api' ? SERVING : WORKING,
    // The first process counts for all; it does not while this one prepares the database.
    ...(role === 'prepare' ? {} : { parent: process }),
  });
  container = created;
  collectProcessMetrics(created.metrics.registry);
  const stopRole = await RUN[role](created);
  return async (delaySec) => {
    await stopRole(delaySec);
    await replyMetrics();
    await created.close();
  };
}

async function replyMetrics(): Promise<void> {
  const metrics = (await container?.metrics.registry.getMetricsAsJSON()) ?? [];
  await reply({ type: 'metrics', metrics });
}

function shutdown(delaySec?: number): void {
  if (isStopping) return;
  isStopping = true;
  (stop?.(delaySec) ?? Promise.resolve()).then(
    () => process.exit(0),
    () => process.exit(1),
  );
}

function begin(init: ProcessInit): void {
  run(init).then(
    (stopRole) => {
      stop = stopRole;
      void reply({ type: 'ready' });
    },
    async (error: unknown) => {
      await reply({ type: 'fatal', message: describeStartupError(error) });
      process.exit(1);
    },
  );
}

process.on('message', (order: ProcessOrder, handle: SendHandle) => {
  if (order.type === 'init') begin(order);
  else if (order.type === 'media') isMediaRunning = order.isRunning;
  else if (order.type === 'metrics') void replyMetrics();
  // Its successor accepts on the same socket already.
  else if (order.type === 'retire') shutdown(0);
  else if (order.type === 'listen') {
    if (order.isReturned) void reply({ type: 'socket' }, handle);
    apiPort.listenOn(handle);
  } else if (handle instanceof Socket) void apiPort.connect(handle);
});
process.on('SIGTERM', () => shutdown());
// A terminal signals the whole process group; the first process decides when each one ends.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => {});
// The first process is gone, even by kill -9: nothing may be left behind.
process.on('disconnect', () => {
  setTimeout(() => process.exit(1), ORPHAN_MS).unref();
  shutdown(0);
});
