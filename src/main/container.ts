import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createCatalogue, type EventCatalogue } from '../events/catalogue.ts';
import { createEvents } from '../events/index.ts';
import { type Accounts, createAccounts, createProfiles, type Profiles } from '../features/accounts/index.ts';
import { type ApiKeys, apiKeyEvents, createApiKeys } from '../features/api-keys/index.ts';
import { type Auth, createAuth } from '../features/auth/index.ts';
import { createDomains, createProver, type Domains, domainEvents } from '../features/domains/index.ts';
import { createEventLog, type EventLog } from '../features/event-log/index.ts';
import {
  createImportConsumers,
  createImportRunner,
  createImports,
  type ImportDeps,
  importEvents,
  importJob,
} from '../features/imports/index.ts';
import { createMailbox, type Mailbox } from '../features/mail/index.ts';
import { createNotifications, createNotifier, type Notifications } from '../features/notifications/index.ts';
import { playlistEvents } from '../features/playlists/index.ts';
import { createRecordingReady, recordingJob } from '../features/recordings/index.ts';
import {
  createStreamGates,
  createStreamSignals,
  createStreams,
  createViewers,
  emitRecordingReady,
  streamEvents,
  type Viewers,
} from '../features/streams/index.ts';
import { uploadEvents } from '../features/uploads/index.ts';
import { createStorageQuota, type StorageQuota } from '../features/usage/index.ts';
import {
  createVideoGates,
  createVideoProcessing,
  processingJobs,
  type VideoProcessor,
  videoDeleted,
  videoEvents,
  videoProcessingCompleted,
  videoProcessingFailed,
} from '../features/videos/index.ts';
import {
  createFailureWatch,
  createWebhooks,
  enqueueDeliveries,
  type FailureWatch,
  type Webhooks,
  webhookEvents,
} from '../features/webhooks/index.ts';
import type { JobDefinition } from '../jobs/job.ts';
import { createJobQueue, type Jobs } from '../jobs/queue.ts';
import { type Clock, systemClock } from '../kernel/clock.ts';
import { PLANS } from '../kernel/plans.ts';
import type { BlobStore } from '../media/contract/index.ts';
import { createBlobStore } from '../media/storage/index.ts';
import { createTranscoder } from '../media/transcode/index.ts';
import { type Bus, createBus } from '../platform/bus.ts';
import type { Config } from '../platform/config.ts';
import { type CounterFactory, counterFactory } from '../platform/counters.ts';
import { createIdempotency, type Idempotency } from '../platform/db/idempotency.ts';
import { type DatabaseHandle, openDatabase } from '../platform/db/index.ts';
import { createImages } from '../platform/images.ts';
import { createLeases, type Leases } from '../platform/leases.ts';
import { createLogger, type Logger } from '../platform/logger.ts';
import { createMetrics, type Metrics } from '../platform/metrics.ts';
import { createOutbound, createTxtResolver } from '../platform/outbound/index.ts';
import { createPasswords } from '../platform/passwords.ts';
import { openRedis, type RedisStore } from '../platform/redis.ts';
import { createSecrets } from '../platform/secrets.ts';
import { createVideoLinks } from './links.ts';
import { createToolCheck } from './media-tools.ts';
import { composeRecordings } from './recordings.ts';
import { composeVideos } from './videos.ts';

/** What each process is given: the configuration, and what the first process found out for all. */
export interface Settings {
  config: Config;
  databaseUrl: string;
  secretKey: Buffer;
  /** The role that this process has, for its log lines and its sessions in the database. */
  name: string;
  /** Default: the system's. */
  clock?: Clock;
  /** An event whose data does not fit its schema fails the transaction instead of being logged. */
  strictEvents?: boolean;
}

/** A job does not wait for a look at ffmpeg: the worker looks every minute. */
const TOOLS_FRESH_MS = 150_000;

/** The cores of this machine, shared between the encodes that run at once. */
function transcodeThreads({ TRANSCODE_CONCURRENCY: slots }: Config): number {
  return Math.max(1, Math.floor(availableParallelism() / Math.max(1, slots)));
}

/** Every kind of job; `worker.ts` says who does them. */
const JOBS: readonly JobDefinition[] = [...processingJobs, recordingJob, importJob];

/** Builds every part of the program once; each role takes from it what it runs. */
export async function createContainer(settings: Settings) {
  const { config, databaseUrl, secretKey, name } = settings;
  const clock = settings.clock ?? systemClock;
  const log: Logger = createLogger(config.LOG_LEVEL, { process: name });
  const metrics: Metrics = createMetrics();
  const database: DatabaseHandle = openDatabase({
    url: databaseUrl,
    pool: config.DATABASE_POOL,
    name: `marquee ${name}`,
  });
  const { db, sql } = database;
  // LISTEN tries again for ever; a query fails when the database is out of reach.
  await sql`select 1`;
  const bus: Bus = await createBus(sql, log);
  const secrets = createSecrets(secretKey);
  const store: RedisStore | null =
    config.REDIS_URL === undefined ? null : await openRedis({ url: config.REDIS_URL, log });
  const counters: CounterFactory = counterFactory(store, () => clock.ms());
  const leases: Leases = createLeases({ store });
  const idempotency: Idempotency = createIdempotency({
    sql,
    clock,
    secrets,
    concurrency: Math.max(1, config.DATABASE_POOL - 2),
  });

  const catalogue: EventCatalogue = createCatalogue([
    ...streamEvents,
    ...webhookEvents,
    ...apiKeyEvents,
    ...domainEvents,
    ...videoEvents,
    ...uploadEvents,
    ...importEvents,
    ...playlistEvents,
  ]);
  const outbound = createOutbound({
    allowPrivate: config.WEBHOOK_ALLOW_PRIVATE,
    dnsServers: config.DNS_SERVERS,
  });
  const fetcher = createOutbound({
    allowPrivate: config.FETCH_ALLOW_PRIVATE,
    dnsServers: config.DNS_SERVERS,
  });
  const blobs: BlobStore = createBlobStore(config);
  const quota: StorageQuota = createStorageQuota();
  const passwords = createPasswords();
  const accounts: Accounts = createAccounts({ db, clock, passwords });
  const mailbox: Mailbox = createMailbox({ db, secrets, clock });
  const notifications: Notifications = createNotifications({ db, clock, catalogue });
  const jobs: Jobs = createJobQueue({ bus, definitions: JOBS });
  const videoEnds = { videoProcessingCompleted, videoProcessingFailed, videoDeleted };
  const events = createEvents({
    db,
    catalogue,
    livemode: config.LIVEMODE,
    clock,
    bus,
    consumers: [
      enqueueDeliveries,
      createNotifier({ mailbox, clock }),
      ...createImportConsumers({ jobs, clock, videos: videoEnds }),
    ],
    logger: log,
    strict: settings.strictEvents ?? false,
    onRefused: metrics.eventRefused,
    onCommitted: jobs.committed,
  });
  const webhooks: Webhooks = createWebhooks({
    db,
    events,
    catalogue,
    outbound,
    secrets,
    clock,
    bus,
    logger: log,
    limitFor: async (accountId) => PLANS[await accounts.planOf(accountId)].webhooks,
    timeoutMs: config.WEBHOOK_TIMEOUT_MS,
  });
  const eventLog: EventLog = createEventLog({ db, catalogue, bus, clock, livemode: config.LIVEMODE });
  const failureWatch: FailureWatch = createFailureWatch({
    db,
    events,
    clock,
    bus,
    log,
    autoDisableDays: config.WEBHOOK_AUTO_DISABLE_DAYS,
  });

  const apiKeys: ApiKeys = createApiKeys({ db, events, clock, bus, log });
  const images = createImages();
  const profiles: Profiles = createProfiles({ db, clock, images, fetcher });
  const txt = createTxtResolver(config.DNS_SERVERS);
  const domains: Domains = createDomains({
    db,
    events,
    clock,
    log,
    prover: createProver({ txt, fetcher }),
    platformHosts: [new URL(config.PUBLIC_URL).hostname, ...config.PLATFORM_HOSTS],
  });
  const auth: Auth = createAuth({
    db,
    clock,
    log,
    secrets,
    passwords,
    accounts,
    mailbox,
    onAccountChanged: () => apiKeys.forget(),
    publicUrl: config.PUBLIC_URL,
  });
  const gates = createStreamGates({ db, bus });
  const viewers: Viewers = createViewers({ db, clock });
  const videoGates = createVideoGates({ db, bus });
  const checkTools = createToolCheck(config.FFMPEG_PATH, clock);
  const processing: VideoProcessor = createVideoProcessing({
    db,
    events,
    queue: jobs,
    store: blobs,
    transcoder: createTranscoder({
      ffmpeg: config.FFMPEG_PATH,
      ffprobe: config.FFPROBE_PATH,
      threads: transcodeThreads(config),
      logger: log,
    }),
    bus,
    clock,
    log,
    links: createVideoLinks(config, null),
    scratchDir: join(config.DATA_DIR, 'tmp'),
    chunkMinSec: config.VIDEO_CHUNK_MIN_SEC,
    checkTools: () => checkTools(TOOLS_FRESH_MS),
    onPlayable: [createRecordingReady({ clock, emit: emitRecordingReady })],
  });
  const videoParts = composeVideos({
    config,
    db,
    events,
    bus,
    clock,
    log,
    secrets,
    store: blobs,
    quota,
    images,
    processing,
  });
  const importDeps: ImportDeps = {
    db,
    events,
    jobs,
    clock,
    log,
    store: blobs,
    quota,
    videos: videoParts.intake,
    fetcher,
  };
  const { recordings, recordingAssembly } = composeRecordings({
    config,
    db,
    events,
    queue: jobs,
    store: blobs,
    quota,
    intake: videoParts.intake,
    threads: transcodeThreads(config),
    clock,
    log,
  });
  const streams = createStreams({ db, events, secrets, bus, clock, recorder: recordings });
  const signals = createStreamSignals({
    db,
    events,
    bus,
    clock,
    log,
    recorder: recordings,
    graceMs: config.SIGNAL_GRACE_MS,
  });

  return {
    config,
    imports: createImports(importDeps),
    runImport: createImportRunner(importDeps),
    checkTools,
    processing,
    clock,
    log,
    metrics,
    db,
    sql,
    bus,
    secrets,
    counters,
    leases,
    idempotency,
    catalogue,
    outbound,
    jobs,
    events,
    accounts,
    apiKeys,
    profiles,
    domains,
    fetcher,
    store: blobs,
    quota,
    auth,
    mailbox,
    notifications,
    streams,
    signals,
    gates,
    viewers,
    videoGates,
    ...videoParts,
    recordings,
    recordingAssembly,
    webhooks,
    eventLog,
    failureWatch,
    async close() {
      await apiKeys.close();
      txt.close();
      await fetcher.close();
      await outbound.close();
      await leases.close();
      await store?.close();
      await bus.close();
      await database.close();
    },
  };
}

export type Container = Awaited<ReturnType<typeof createContainer>>;
