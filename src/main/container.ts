import { createCatalogue, type EventCatalogue } from '../events/catalogue.ts';
import { createEvents } from '../events/index.ts';
import { type Accounts, createAccounts } from '../features/accounts/index.ts';
import { type ApiKeys, createApiKeys } from '../features/api-keys/index.ts';
import {
  createStreamGates,
  createStreamSignals,
  createStreams,
  streamEvents,
} from '../features/streams/index.ts';
import {
  createWebhooks,
  enqueueDeliveries,
  type Webhooks,
  webhookEvents,
} from '../features/webhooks/index.ts';
import { type Clock, systemClock } from '../kernel/clock.ts';
import { PLANS } from '../kernel/plans.ts';
import { type Bus, createBus } from '../platform/bus.ts';
import type { Config } from '../platform/config.ts';
import { type DatabaseHandle, openDatabase } from '../platform/db/index.ts';
import { createLogger, type Logger } from '../platform/logger.ts';
import { createMetrics, type Metrics } from '../platform/metrics.ts';
import { createOutbound } from '../platform/outbound/index.ts';
import { createSecrets } from '../platform/secrets.ts';

/** What each process is given: the configuration, and what the first process found out for all. */
export interface Settings {
  config: Config;
  databaseUrl: string;
  secretKey: Buffer;
  /** The role that this process has, for its log lines and its sessions in the database. */
  name: string;
}

/** Builds every part of the program once; each role takes from it what it runs. */
export async function createContainer({ config, databaseUrl, secretKey, name }: Settings) {
  const clock: Clock = systemClock;
  const log: Logger = createLogger(config.LOG_LEVEL, { process: name });
  const metrics: Metrics = createMetrics();
  const database: DatabaseHandle = openDatabase({
    url: databaseUrl,
    pool: config.DATABASE_POOL,
    name: `marquee ${name}`,
  });
  const { db, sql } = database;
  const bus: Bus = await createBus(sql, log);
  const secrets = createSecrets(secretKey);

  const catalogue: EventCatalogue = createCatalogue([...streamEvents, ...webhookEvents]);
  const outbound = createOutbound({
    allowPrivate: config.WEBHOOK_ALLOW_PRIVATE,
    dnsServers: config.DNS_SERVERS,
  });
  const accounts: Accounts = createAccounts({ db, clock });
  const webhooks: Webhooks = createWebhooks({
    db,
    catalogue,
    outbound,
    secrets,
    clock,
    limitFor: async (accountId) => PLANS[await accounts.planOf(accountId)].webhooks,
  });
  const events = createEvents({
    db,
    catalogue,
    livemode: config.LIVEMODE,
    clock,
    bus,
    consumers: [enqueueDeliveries],
    logger: log,
    onRefused: metrics.eventRefused,
  });

  const apiKeys: ApiKeys = createApiKeys({ db, clock, bus });
  const streams = createStreams({ db, events, secrets, bus, clock });
  const signals = createStreamSignals({ db, events, bus, clock, log, graceMs: config.SIGNAL_GRACE_MS });
  const gates = createStreamGates({ db, bus });

  return {
    config,
    clock,
    log,
    metrics,
    db,
    sql,
    bus,
    secrets,
    catalogue,
    outbound,
    events,
    accounts,
    apiKeys,
    streams,
    signals,
    gates,
    webhooks,
    async close() {
      await outbound.close();
      await bus.close();
      await database.close();
    },
  };
}

export type Container = Awaited<ReturnType<typeof createContainer>>;
