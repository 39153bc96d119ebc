import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Sql } from 'postgres';
import { RELEASES } from '../features/integration/changelog/module.ts';
import type { Platform } from '../features/platform.ts';
import { type Clock, systemClock } from '../kernel/clock.ts';
import { createCursorCodec } from '../kernel/cursor.ts';
import { newUuid } from '../kernel/ids.ts';
import type { Release } from '../kernel/release.ts';
import type { Guard } from '../media/ffmpeg/guard.ts';
import type { RoomEngineSelection } from '../media/rooms/engine-selection.ts';
import { loadRoomEngine, type RoomEngineOpener } from '../media/rooms/open.ts';
import { openBlobStore } from '../media/storage/index.ts';
import { createBus } from '../platform/bus.ts';
import type { Config } from '../platform/config.ts';
import { createCountClient, type ParentChannel } from '../platform/count-client.ts';
import { counterFactory } from '../platform/counters.ts';
import type { Bounds } from '../platform/db/deadline.ts';
import { createIdempotency } from '../platform/db/idempotency.ts';
import { type DatabaseHandle, waitForDatabase } from '../platform/db/index.ts';
import { createDiskSpace } from '../platform/disk.ts';
import { createDurableWindows } from '../platform/durable-windows.ts';
import { createImages } from '../platform/images.ts';
import { createLeases } from '../platform/leases.ts';
import { createLogger, type Logger } from '../platform/logger.ts';
import { createMetrics } from '../platform/metrics.ts';
import { createOutbound, userAgentOf } from '../platform/outbound/index.ts';
import { createPasswords } from '../platform/passwords.ts';
import { openRedis } from '../platform/redis.ts';
import { redisCounters, redisLeases } from '../platform/redis-counts.ts';
import { createSecrets, type Secrets } from '../platform/secrets.ts';
import {
  createGuardCheck,
  createHardwareCheck,
  createToolCheck,
  type HardwareCheck,
  type ToolCheck,
} from './media-tools.ts';

/** Settings of each process: the configuration, and the findings of the first process. */
export interface Settings {
  config: Config;
  databaseUrl: string;
  secretKey: Buffer;
  /** The role that this process has, for its log lines and its sessions in the database. */
  name: string;
  /** Statement timeouts of this process. Default: those of a process that answers requests. */
  bounds?: Bounds;
  /** Room engine that the first process selected. Default: the mesh. */
  rooms?: RoomEngineSelection;
  /**
   * Channel to the first process, which counts for all processes of this machine where there is no Redis. Default: this
   * process counts alone.
   */
  parent?: ParentChannel;
  /** Folder for temporary files of this process. Default: one below `DATA_DIR/tmp`. */
  scratchDir?: string;
  /** Default: the system's. */
  clock?: Clock;
  /** Default: made by the configuration. */
  log?: Logger;
  /** Releases of the API. Default: the published ones. */
  releases?: readonly Release[];
  /** An event whose data does not fit its schema fails the transaction instead of being logged. */
  strictEvents?: boolean;
}

/** Services of the process: those of every feature, and the tools of the media plane. */
export interface Ports extends Omit<Platform, 'catalogue' | 'events' | 'facts' | 'jobs' | 'readiness'> {
  /** Selected room engine. */
  roomChoice: RoomEngineSelection;
  openRoomEngine: RoomEngineOpener;
  checkTools: ToolCheck;
  /** Returns the sandbox of ffmpeg. */
  guard(): Promise<Guard>;
  hardware: HardwareCheck;
  /** Cores for each of the concurrent encodes. */
  encoderThreads: number;
}

/** Ports with the function that closes them. */
export interface OpenPorts {
  ports: Ports;
  close(): Promise<void>;
}

/** Returns the cores per encode: those of this machine, divided among the concurrent encodes. */
function encoderThreads({ TRANSCODE_CONCURRENCY: slots }: Config): number {
  return Math.max(1, Math.floor(availableParallelism() / Math.max(1, slots)));
}

/** Rejects when the database or Redis is unreachable. */
export async function openPorts(settings: Settings): Promise<OpenPorts> {
  const { config, secretKey, name, rooms: roomChoice = { name: 'mesh', lack: null } } = settings;
  const clock = settings.clock ?? systemClock;
  const log = settings.log ?? createLogger(config.LOG_LEVEL, { process: name });
  const database = await connectDatabase(settings, log);
  const metrics = createMetrics();
  metrics.database(database.status);
  const bus = await createBus(database.sql, log);
  const secrets = createSecrets(secretKey);
  const counts = await openCounts(settings, { sql: database.sql, secrets, log, nowMs: () => clock.ms() });
  const { outbound, fetcher } = connections(config);
  const guard = createGuardCheck(config);
  const ports: Ports = {
    ...counts.ports,
    config,
    clock,
    log,
    metrics,
    db: database.db,
    sql: database.sql,
    bus,
    secrets,
    cursors: createCursorCodec(Buffer.from(secrets.sign('cursors', 'key'), 'base64url')),
    idempotency: createIdempotency({
      sql: database.sql,
      clock,
      secrets,
      concurrency: Math.max(1, config.DATABASE_POOL - 2),
    }),
    outbound,
    fetcher,
    store: await openBlobStore(config),
    disk: createDiskSpace(config.DATA_DIR, config.DISK_RESERVE),
    images: createImages(),
    passwords: createPasswords(),
    releases: settings.releases ?? RELEASES,
    roomChoice,
    openRoomEngine: await loadRoomEngine(roomChoice, config),
    checkTools: createToolCheck(config.FFMPEG_PATH, clock),
    guard,
    hardware: createHardwareCheck(config, { clock, log, guard }),
    encoderThreads: encoderThreads(config),
    scratchDir: settings.scratchDir ?? join(config.DATA_DIR, 'tmp', newUuid()),
    platformHosts: [new URL(config.PUBLIC_URL).hostname, ...config.PLATFORM_HOSTS],
  };
  return {
    ports,
    async close() {
      await fetcher.close();
      await outbound.close();
      await counts.close();
      await bus.close();
      await database.close();
    },
  };
}

/** Opens the database. Rejects when it is unreachable, because LISTEN reconnects without limit. */
function connectDatabase(
  { config, databaseUrl, name, bounds }: Settings,
  log: Logger,
): Promise<DatabaseHandle> {
  return waitForDatabase({
    url: databaseUrl,
    pool: config.DATABASE_POOL,
    name: `marquee ${name}`,
    deadlineMs: config.DATABASE_DEADLINE_MS,
    log,
    ...(bounds === undefined ? {} : { bounds }),
  });
}

interface CountDeps {
  sql: Sql;
  secrets: Secrets;
  log: Logger;
  nowMs(): number;
}

/** Opens the counters and leases: in Redis, else in the first process, else in this one. */
async function openCounts({ config, parent }: Settings, { sql, secrets, log, nowMs }: CountDeps) {
  const redis = config.REDIS_URL === undefined ? null : await openRedis({ url: config.REDIS_URL, log });
  const firstProcess = redis === null && parent !== undefined ? createCountClient(parent, { log }) : null;
  const isAlone = redis === null && firstProcess === null;
  const durableWindows = isAlone ? createDurableWindows({ sql, secrets, log, nowMs }) : null;
  const counters = counterFactory(
    redis === null ? firstProcess : redisCounters(redis, nowMs),
    nowMs,
    durableWindows,
  );
  const leases = createLeases(redis === null ? firstProcess : redisLeases(redis));
  const ports: Pick<Ports, 'counters' | 'durableWindows' | 'requestCounts' | 'caps' | 'leases'> = {
    counters,
    durableWindows,
    requestCounts: {
      perMinute: counters({ name: 'minute', window: 60, withoutStore: 'open' }),
      perDay: counters({ name: 'day', window: 'day', withoutStore: 'open' }),
    },
    caps: (windowSec) => counters({ name: `cap${windowSec}`, window: windowSec, withoutStore: 'insured' }),
    leases,
  };
  return {
    ports,
    async close() {
      await durableWindows?.close();
      await leases.close();
      firstProcess?.close();
      await redis?.close();
    },
  };
}

function connections(config: Config): Pick<Ports, 'outbound' | 'fetcher'> {
  const common = { dnsServers: config.DNS_SERVERS, userAgent: userAgentOf(config.PUBLIC_URL) };
  return {
    outbound: createOutbound({ ...common, allowPrivate: config.WEBHOOK_ALLOW_PRIVATE }),
    fetcher: createOutbound({ ...common, allowPrivate: config.FETCH_ALLOW_PRIVATE }),
  };
}
