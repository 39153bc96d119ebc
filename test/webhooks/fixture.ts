import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import Type from 'typebox';
import { createCatalogue, defineEvent } from '../../src/events/catalogue.ts';
import { createEvents, type Events } from '../../src/events/index.ts';
import type { UsageEvents } from '../../src/features/insight/usage-events/index.ts';
import { createUsageEvents } from '../../src/features/insight/usage-events/service.ts';
import { enqueueDeliveries } from '../../src/features/integration/webhooks/consumers.ts';
import {
  createDeliveryWorker,
  type DeliveryConfig,
  type DeliveryWorker,
} from '../../src/features/integration/webhooks/delivery/worker.ts';
import { webhookEvents } from '../../src/features/integration/webhooks/events.ts';
import type { Webhooks } from '../../src/features/integration/webhooks/index.ts';
import { createWebhooks } from '../../src/features/integration/webhooks/service.ts';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import { type Bus, createBus } from '../../src/platform/bus.ts';
import type { Db } from '../../src/platform/db/index.ts';
import { createLogger, type Logger } from '../../src/platform/logger.ts';
import { createOutbound, type Outbound } from '../../src/platform/outbound/index.ts';
import { createSecrets, type Secrets } from '../../src/platform/secrets.ts';
import { eventWatcher, untrackedEvents } from '../harness/contract-coverage.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { insertAccount } from '../harness/factories.ts';
import { type HttpsSink, startHttpsSink } from '../harness/https-sink.ts';
import { waitFor } from '../harness/wait-for.ts';

const forTests = { description: 'For tests.', data: Type.Object({ n: Type.Integer() }), sample: { n: 1 } };
export const thingMade = defineEvent({ type: 'thing.made', ...forTests });
export const otherMade = defineEvent({ type: 'other.made', ...forTests });
const things = [thingMade, otherMade, defineEvent({ type: 'thing.part.broken', ...forTests })];

export const testCatalogue = createCatalogue([...things, ...webhookEvents]);

export interface Workspace {
  workspaceId: string;
  accountId: string;
}

interface WorkerParts {
  db?: Db;
  bus?: Pick<Bus, 'subscribe'>;
  clock?: Clock;
}

/** The delivery path on a real database and a real HTTPS receiver. */
export interface DeliveryFixture {
  database: TestDatabase;
  db: Db;
  bus: Bus;
  log: Logger;
  sink: HttpsSink;
  outbound: Outbound;
  secrets: Secrets;
  events: Events;
  facts: UsageEvents;
  webhooks: Webhooks;
  workspace: Workspace;
  addWorkspace(): Promise<Workspace>;
  /** Appends one event and returns its id. */
  emit(n?: number, type?: string, workspaceId?: string): Promise<string>;
  /** A worker that `close` stops. */
  worker(config?: Partial<DeliveryConfig>, parts?: WorkerParts): DeliveryWorker;
  /** Waits for `count` rows of the log of one webhook; oldest first. */
  logged(webhookId: string, count: number, timeoutMs?: number): ReturnType<typeof readLog>;
  pendingJobs(): Promise<number>;
  close(): Promise<void>;
}

function readLog(db: Db, webhookId: string) {
  return db
    .selectFrom('delivery_log')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** Makes this process trust the sink, as `NODE_EXTRA_CA_CERTS` does for a whole program. */
export function trust(sink: HttpsSink): void {
  setDefaultCACertificates([...getCACertificates('default'), sink.ca.pem]);
}

export async function createDeliveryFixture(
  parts: { outbound?: Outbound; database?: TestDatabase } = {},
): Promise<DeliveryFixture> {
  const database = parts.database ?? (await createTestDatabase());
  const { db } = database;
  const log = createLogger('fatal');
  const bus = await createBus(database.sql, log);
  const sink = await startHttpsSink();
  trust(sink);
  const outbound = parts.outbound ?? createOutbound({ allowPrivate: ['127.0.0.0/8'], dnsServers: [] });
  const secrets = createSecrets(Buffer.alloc(32, 7));
  const made = createEvents({
    db,
    catalogue: testCatalogue,
    livemode: false,
    clock: systemClock,
    bus,
    consumers: [enqueueDeliveries, eventWatcher],
    log,
    strict: true,
  });
  const events = untrackedEvents(made);
  const facts = createUsageEvents({ db, clock: systemClock, log, onRowsDropped: () => {} });
  const webhooks = createWebhooks({
    db,
    facts,
    events,
    catalogue: testCatalogue,
    outbound,
    secrets,
    clock: systemClock,
    bus,
    log,
    timeoutMs: 1000,
  });
  const workspace = await insertWorkspace(db);
  const workers: DeliveryWorker[] = [];
  return {
    database,
    db,
    bus,
    log,
    sink,
    outbound,
    secrets,
    events,
    facts,
    webhooks,
    workspace,
    addWorkspace: () => insertWorkspace(db),
    emit: (n = 1, type = 'thing.made', workspaceId = workspace.workspaceId) => {
      const definition = things.find((one) => one.type === type);
      if (definition === undefined) throw new Error(`the tests have no event ${type}`);
      return events.transaction((_tx, append) => append(definition, workspaceId, { n }));
    },
    worker(config = {}, own = {}) {
      const worker = createDeliveryWorker({
        db: own.db ?? db,
        facts,
        bus: own.bus ?? bus,
        outbound,
        secrets,
        clock: own.clock ?? systemClock,
        log,
        config: { retrySeconds: [0.2, 0.2, 0.2, 0.2, 0.2, 0.2], timeoutMs: 1000, ...config },
      });
      workers.push(worker);
      return worker;
    },
    logged: (webhookId, count, timeoutMs = 10_000) =>
      waitFor(
        async () => {
          const rows = await readLog(db, webhookId);
          return rows.length >= count && rows;
        },
        { timeoutMs, message: `${count} rows in the delivery log` },
      ),
    async pendingJobs() {
      const rows = await db.selectFrom('delivery_job').select('id').execute();
      return rows.length;
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.stop()));
      await outbound.close();
      await bus.close();
      await sink.close();
      await database.close();
    },
  };
}

async function insertWorkspace(db: Db): Promise<Workspace> {
  const { id, live } = await insertAccount(db);
  return { workspaceId: live, accountId: id };
}
