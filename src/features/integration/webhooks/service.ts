import { randomBytes } from 'node:crypto';
import type { EventCatalogue } from '../../../events/catalogue.ts';
import { type Events, nextSequence } from '../../../events/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { badRequest, notFound, quotaExceeded } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import { PLANS } from '../../../kernel/plans.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { lockWorkspace } from '../../../platform/db/workspace.ts';
import type { Logger } from '../../../platform/logger.ts';
import { GuardError, type Outbound } from '../../../platform/outbound/index.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import type { UsageEvents } from '../../insight/usage-events/index.ts';
import { createAttempts, type WebhookAttempts } from './attempts.service.ts';
import { deletePendingJobs } from './delivery/repository.ts';
import { DISABLED_REASON } from './delivery/schedule.ts';
import { WEBHOOK_TOPIC } from './delivery/worker.ts';
import { webhookSecretRotated } from './events.ts';
import { parsePatterns } from './patterns.ts';
import type { DeliveryFilter, DeliveryRow, PendingRow, WebhookRow } from './repository.ts';
import * as repository from './repository.ts';

export interface WebhookDeps {
  db: Db;
  events: Events;
  catalogue: EventCatalogue;
  outbound: Outbound;
  facts: Pick<UsageEvents, 'append'>;
  secrets: Secrets;
  clock: Clock;
  bus: Pick<Bus, 'publish'>;
  log: Logger;
  /** Time that a receiver has to answer, in milliseconds (docs/concepts/webhooks.md#attempts). */
  timeoutMs: number;
}

export interface WebhookChange {
  url?: string;
  events?: string[];
  description?: string;
  isActive?: boolean;
}
export type WebhookInput = WebhookChange & { url: string };

/** A webhook and its signing secret in clear, which is never shown again. */
export interface WebhookAndSecret {
  row: WebhookRow;
  signingSecret: string;
}

/** Webhook operations of partners. Each ID is looked up in the workspace: NOT_FOUND otherwise. */
export interface Webhooks extends WebhookAttempts {
  /** @throws {AppError} BAD_REQUEST, field `url` or `events.<n>`; QUOTA_EXCEEDED. */
  create(owner: { workspaceId: string }, input: WebhookInput): Promise<WebhookAndSecret>;
  list(workspaceId: string, page: PageRequest): Promise<WebhookRow[]>;
  /** Returns the number that counts against the plan. */
  count(workspaceId: string): Promise<number>;
  get(workspaceId: string, id: string): Promise<WebhookRow>;
  /**
   * Switching it off cancels what waits for an attempt; switching it on, or another url, begins a new count of
   * consecutive failures.
   *
   * @throws {AppError} BAD_REQUEST, field `url` or `events.<n>`.
   */
  update(workspaceId: string, id: string, change: WebhookChange): Promise<WebhookRow>;
  /** The old secret signs nothing from here on (docs/concepts/webhooks.md). */
  rotateSecret(workspaceId: string, id: string): Promise<WebhookAndSecret>;
  /** Its pending deliveries and its log go with it. */
  remove(workspaceId: string, id: string): Promise<void>;
  deliveries(
    workspaceId: string,
    id: string,
    filter: DeliveryFilter,
    page: PageRequest,
  ): Promise<DeliveryRow[]>;
  /** Lists jobs waiting for an attempt or in flight. */
  pending(workspaceId: string, id: string, page: PageRequest): Promise<PendingRow[]>;
  /** Every type one can subscribe to, sorted. */
  eventTypes(): readonly string[];
}

const MAX_URL_LENGTH = 2048;
/** The state of an endpoint that has not failed yet. */
const HEALTHY = { consecutive_failures: 0, failing_since: null, failing_notified_at: null };

export function createWebhooks(deps: WebhookDeps): Webhooks {
  const { db, events, catalogue, bus } = deps;

  const get = async (workspaceId: string, id: string) => {
    const row = await repository.findWebhook(db, workspaceId, id);
    if (row === undefined) throw notFound();
    return row;
  };

  return {
    get,
    ...createAttempts(deps, get),
    create: ({ workspaceId }, input) => create(deps, workspaceId, input),
    list: (workspaceId, page) => repository.listWebhooks(db, workspaceId, page),
    count: (workspaceId) => repository.countWebhooks(db, workspaceId),
    async update(workspaceId, id, change) {
      await get(workspaceId, id);
      const patterns = change.events === undefined ? undefined : parsePatterns(catalogue, change.events);
      if (change.url !== undefined) await checkUrl(deps.outbound, change.url);
      await db.transaction().execute((tx) => update(deps, tx, workspaceId, id, { ...change, patterns }));
      bus.publish(WEBHOOK_TOPIC, id);
      return get(workspaceId, id);
    },
    async rotateSecret(workspaceId, id) {
      const signingSecret = newSecret();
      await events.transaction(async (tx, append) => {
        const now = deps.clock.now();
        if ((await repository.lockWebhook(tx, workspaceId, id)) === undefined) throw notFound();
        await repository.updateWebhook(tx, workspaceId, id, {
          secret: deps.secrets.encrypt(signingSecret, id),
          secret_rotated_at: now,
          updated_at: now,
        });
        const sequence = await nextSequence(tx, 'webhook', id);
        const data = { webhookId: id, rotatedAt: now.toISOString(), sequence };
        await append(webhookSecretRotated, workspaceId, data);
      });
      bus.publish(WEBHOOK_TOPIC, id);
      return { row: await get(workspaceId, id), signingSecret };
    },
    async remove(workspaceId, id) {
      const found = await db.transaction().execute((tx) => repository.deleteWebhook(tx, workspaceId, id));
      if (!found) throw notFound();
      bus.publish(WEBHOOK_TOPIC, id);
    },
    async deliveries(workspaceId, id, filter, page) {
      if (!(await repository.hasWebhook(db, workspaceId, id))) throw notFound();
      return repository.listDeliveries(db, workspaceId, id, filter, page);
    },
    async pending(workspaceId, id, page) {
      if (!(await repository.hasWebhook(db, workspaceId, id))) throw notFound();
      return repository.listPending(db, workspaceId, id, page);
    },
    eventTypes: () => catalogue.types(),
  };
}

function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64url')}`;
}

async function create(
  deps: WebhookDeps,
  workspaceId: string,
  input: WebhookInput,
): Promise<WebhookAndSecret> {
  const { db, catalogue, outbound, secrets, clock } = deps;
  const events = parsePatterns(catalogue, input.events ?? []);
  await checkUrl(outbound, input.url);
  const id = newId('wh');
  const signingSecret = newSecret();
  const now = clock.now();
  const row = await db.transaction().execute(async (tx) => {
    const { plan } = await lockWorkspace(tx, workspaceId);
    const limit = PLANS[plan].webhooks;
    if ((await repository.countWebhooks(tx, workspaceId)) >= limit) {
      throw quotaExceeded(
        { workspaceId, resource: 'WEBHOOKS' },
        `Limit of ${limit} webhooks reached for this plan.`,
      );
    }
    return repository.insertWebhook(tx, workspaceId, {
      id,
      url: input.url,
      events,
      is_active: input.isActive ?? true,
      description: input.description ?? '',
      secret: secrets.encrypt(signingSecret, id),
      created_at: now,
      updated_at: now,
    });
  });
  return { row, signingSecret };
}

async function update(
  { clock }: WebhookDeps,
  tx: Tx,
  workspaceId: string,
  id: string,
  change: WebhookChange & { patterns: string[] | undefined },
): Promise<void> {
  const now = clock.now();
  const row = await repository.lockWebhook(tx, workspaceId, id);
  if (row === undefined) throw notFound();
  const url = change.url ?? row.url;
  const isActive = change.isActive ?? row.is_active;
  const isAnew = url !== row.url || (isActive && !row.is_active);
  await repository.updateWebhook(tx, workspaceId, id, {
    url,
    events: change.patterns ?? row.events,
    description: change.description ?? row.description,
    is_active: isActive,
    updated_at: now,
    ...(isAnew ? HEALTHY : {}),
  });
  if (!isActive) await cancelPendingDeliveries(tx, workspaceId, id, now);
}

/** Drops what waits for an attempt and writes it down as CANCELED. Waits for no lock of a job. */
export async function cancelPendingDeliveries(
  tx: Tx,
  workspaceId: string,
  id: string,
  now: Date,
): Promise<void> {
  const jobs = await deletePendingJobs(tx, workspaceId, id);
  const rows = jobs.map((job) => ({ ...job, id: newId('dlv') }));
  await repository.logCanceled(tx, id, rows, DISABLED_REASON, now);
}

/** @throws {AppError} BAD_REQUEST, field `url` (docs/concepts/webhooks.md#url-rules). */
async function checkUrl(outbound: Pick<Outbound, 'checkUrl'>, url: string): Promise<void> {
  try {
    await outbound.checkUrl(url, { maxLength: MAX_URL_LENGTH });
  } catch (error) {
    if (!(error instanceof GuardError)) throw error;
    throw badRequest('url', `Webhooks cannot be delivered to this URL: ${error.reason}.`);
  }
}
