import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../kernel/clock.ts';
import { newUuid } from '../../kernel/ids.ts';
import type { RoomEngineSelection } from '../../media/rooms/engine-selection.ts';
import type { Config } from '../../platform/config.ts';
import { createLogger, type Logger } from '../../platform/logger.ts';
import { collectProcessMetrics, createMetrics } from '../../platform/metrics.ts';
import { gatherMetrics, type MetricsGathering, ownMetrics } from '../../platform/metrics-gathering.ts';
import { banner, type Owner, type StartupWarning } from '../first-run.ts';
import type { HeldPorts } from '../held-ports.ts';
import type { Closers, NodeState } from '../lifecycle.ts';
import { type MachineCounts, openMachineCounts } from '../machine-counts.ts';
import { waitForBroadcasts } from '../media/drain.ts';
import type { MediaLaunch } from '../media/launch.ts';
import { openMetrics } from '../metrics-port.ts';
import { createApiSocket } from './api-socket.ts';
import { countOf } from './layout.ts';
import { createMember, type Member } from './member.ts';
import type { ProcessReply, ProcessRole } from './messages.ts';
import { type RoleProcess, type SendHandle, startRoleProcess } from './role-process.ts';

/** How often the API processes learn whether the media process runs. */
const MEDIA_STATE_MS = 500;
/** Time of a process to stop after its drain. */
const STOP_MS = 5000;

/** Findings of the first process that the others need. */
export interface Findings {
  databaseUrl: string;
  secretKey: Buffer;
  rooms: RoomEngineSelection;
}

interface TreeOptions {
  config: Config;
  findings: Promise<Findings>;
  /** Has been started already; null where this node has no media role. */
  media: MediaLaunch | null;
  ports: HeldPorts;
  closers: Closers;
  state: NodeState;
  onFatal(message: string): void;
}

/** The running tree. */
export interface Tree {
  /** Replaces the processes of the API and the worker one after the other. */
  roll(): Promise<void>;
}

/**
 * Runs the roles of this node in processes of their own, which load their code while there is no database yet.
 * Resolves when all of them run and the banner was printed.
 */
export async function runTree(options: TreeOptions): Promise<Tree> {
  const { config, findings, media, ports, closers, state } = options;
  const log = createLogger(config.LOG_LEVEL, { process: 'main' });
  const metrics = createMetrics();
  collectProcessMetrics(metrics.registry);
  const gathering = gatherMetrics();
  gathering.add(ownMetrics('main', metrics.registry));
  await openMetrics(gathering, { log, port: ports.metrics, closers, state });
  await rm(scratchFolder(config), { recursive: true, force: true });

  const preparation = startPreparation(options);
  const counts = openCounts(options, preparation.owner, log);
  const roles = startRoles(options, { log, gathering, counts });
  // Undone in reverse order.
  closers.push(async () => (await counts.catch(() => null))?.close());
  if (media !== null) closers.push(() => media.stop());
  closers.push(() => roles.stop());
  closers.push(() => preparation.stop());
  // Stops first: this node shows its broadcasts until they have ended.
  if (media !== null) closers.push(() => waitForBroadcasts(media, config));

  const owner = await preparation.owner;
  const { databaseUrl, secretKey, rooms } = await findings;
  const key = secretKey.toString('hex');
  await Promise.all([
    media?.begin({ type: 'init', databaseUrl, secretKey: key, rooms, ffmpeg: null }, metrics.media),
    ...roles.workers.map((worker) => worker.ready),
  ]);
  // Last: when the API responds, everything is running.
  await roles.openApi();
  state.hasAllRoles = () => roles.haveProcesses() && (media?.running() ?? true);
  state.isStarted = true;
  process.stdout.write(banner(config, owner, await preparation.warnings));
  return { roll: createRoll([...roles.apis, ...roles.workers], { log, state }) };
}

/** Prepares the database in a process of its own, so that this one loads no feature. */
function startPreparation(options: TreeOptions) {
  const owner = Promise.withResolvers<Owner | null>();
  // Awaited later; a failure before that is no unhandled one.
  owner.promise.catch(() => {});
  const warnings = Promise.withResolvers<StartupWarning[]>();
  const preparing = startProcess(options, { role: 'prepare', name: 'prepare', isFirst: true }, (reply) => {
    if (reply.type === 'prepared') owner.resolve(reply.owner);
    else if (reply.type === 'warnings') warnings.resolve(reply.warnings);
    else if (reply.type === 'fatal') owner.reject(new Error(reply.message));
  });
  void preparing.ended.then((cause) => {
    owner.reject(new Error(`the database could not be prepared: ${cause}`));
    warnings.resolve([]);
  });
  return {
    owner: owner.promise,
    warnings: warnings.promise,
    stop: () => preparing.stop('terminate'),
  };
}

/** Opens the counts of all processes once the database is prepared. */
function openCounts(
  { config, findings }: TreeOptions,
  prepared: Promise<unknown>,
  log: Logger,
): Promise<MachineCounts | null> {
  const counts = prepared
    .then(() => findings)
    .then(({ databaseUrl, secretKey }) =>
      openMachineCounts({ config, databaseUrl, secretKey, clock: systemClock, log }),
    );
  // Awaited later; a failure before that is no unhandled one.
  counts.catch(() => {});
  return counts;
}

interface RoleOptions {
  log: Logger;
  gathering: MetricsGathering;
  counts: Promise<MachineCounts | null>;
}

/** Starts the processes of the API and the worker. */
function startRoles(options: TreeOptions, { log, gathering, counts }: RoleOptions) {
  const { config, media, ports, state, onFatal } = options;
  const socket = ports.api === null ? null : createApiSocket(ports.api);
  const opened = Promise.withResolvers<void>();
  const apis = new Set<RoleProcess>();
  const mediaState = watchMedia(media, apis);

  const hear = (from: RoleProcess, reply: ProcessReply, handle: SendHandle) => {
    if (reply.type === 'socket') socket?.keep(handle, from);
    if (reply.type !== 'fatal') return;
    if (state.isStarted) log.error({ name: from.name, reason: reply.message }, 'a process could not start');
    else onFatal(reply.message);
  };
  const start = (role: 'api' | 'worker', index: number): RoleProcess => {
    const name = `${role}-${index}`;
    const begin = async () => {
      (await counts)?.attach(started.channel);
      return options.findings;
    };
    const started = startProcess(
      { ...options, findings: begin() },
      { role, name, isFirst: index === 0 },
      (reply, handle) => hear(started, reply, handle),
    );
    gathering.add(started);
    if (role === 'api') {
      apis.add(started);
      mediaState.sendTo(started);
      void opened.promise.then(() => socket?.sendTo(started));
    }
    void started.ended.then(() => {
      gathering.remove(started);
      apis.delete(started);
    });
    return started;
  };
  const members = (role: 'api' | 'worker') =>
    Array.from({ length: countOf(config, role) }, (_, index) =>
      createMember({ name: `${role}-${index}`, log, start: () => start(role, index), onFatal }),
    );
  const [apiMembers, workers] = [members('api'), members('worker')];
  return {
    apis: apiMembers,
    workers,
    haveProcesses: () =>
      [apiMembers, workers].every((some) => some.length === 0 || some.some((member) => member.isReady())),
    async openApi() {
      opened.resolve();
      await Promise.all(apiMembers.map((api) => api.ready));
    },
    async stop() {
      mediaState.stop();
      socket?.close();
      await Promise.all([...apiMembers, ...workers].map((member) => member.stop()));
    },
  };
}

interface Task {
  role: ProcessRole;
  name: string;
  isFirst: boolean;
}

/** Starts a process, and begins its task when there is a database. */
function startProcess(
  { config, findings }: Pick<TreeOptions, 'config' | 'findings'>,
  task: Task,
  onReply: (reply: ProcessReply, handle: SendHandle) => void,
): RoleProcess {
  // In a folder of its own, because the worker role removes the other folders next to its own.
  const ownFolder = join(scratchFolder(config), newUuid());
  const scratchDir = join(ownFolder, 'work');
  const stopMs = config.DRAIN_TIMEOUT * 1000 + STOP_MS;
  const started = startRoleProcess({ name: task.name, stopMs, onReply });
  findings.then(
    ({ databaseUrl, secretKey, rooms }) =>
      started.send({
        ...task,
        ...{ type: 'init', databaseUrl, secretKey: secretKey.toString('hex'), rooms, scratchDir },
      }),
    () => {},
  );
  void started.ended.then(() => rm(ownFolder, { recursive: true, force: true }).catch(() => {}));
  return started;
}

const scratchFolder = ({ DATA_DIR }: Config) => join(DATA_DIR, 'tmp');

/** Tells the processes of the API whether the media process runs. */
function watchMedia(media: MediaLaunch | null, apis: ReadonlySet<RoleProcess>) {
  let isRunning = true;
  const timer = setInterval(() => {
    const now = media?.running() ?? true;
    if (now === isRunning) return;
    isRunning = now;
    for (const api of apis) api.send({ type: 'media', isRunning });
  }, MEDIA_STATE_MS);
  timer.unref();
  return {
    sendTo: (api: RoleProcess) => api.send({ type: 'media', isRunning }),
    stop: () => clearInterval(timer),
  };
}

/** Creates the function that replaces the processes; a call during another one has no effect. */
function createRoll(
  members: readonly Member[],
  { log, state }: { log: Logger; state: NodeState },
): () => Promise<void> {
  let isRolling = false;
  return async () => {
    if (isRolling) return;
    isRolling = true;
    try {
      for (const member of members) {
        if (state.isStopping) return;
        await member.replace();
        log.info({ name: member.name }, 'a process was replaced');
      }
    } catch (error) {
      log.error({ err: error }, 'the processes could not be replaced: the remaining ones continue');
    } finally {
      isRolling = false;
    }
  };
}
