import { randomBytes } from 'node:crypto';
import type { EventCatalogue } from '../../../events/catalogue.ts';
import { findEvent, type RetainedEvent } from '../../../events/event-store.ts';
import { DELIVERIES_TOPIC, type Events, nextSequence } from '../../../events/index.ts';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { AppError, badRequest, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { DeliveryLogStatus as DeliveryStatus } from '../../../platform/db/tables.generated.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { Outbound } from '../../../platform/outbound/index.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import type { UsageEvents } from '../../insight/usage-events/index.ts';
import { createAttempt } from './delivery/attempt.ts';
import { finishCounted } from './delivery/record-results.ts';
import { recover } from './delivery/recover.repository.ts';
import { insertClaimed } from './delivery/repository.ts';
import { afterAttempt } from './delivery/schedule.ts';
import { renderDelivery } from './delivery/signature.ts';
import { webhookFailing, webhookSecretRotated, webhookTest } from './events.ts';
import { parsePatterns } from './patterns.ts';
import type { WebhookRow } from './repository.ts';
import * as repository from './repository.ts';

interface Deps {
  db: Db;
  facts: Pick<UsageEvents, 'append'>;
  events: Events;
  catalogue: EventCatalogue;
  outbound: Outbound;
  secrets: Secrets;
  clock: Clock;
  bus: Pick<Bus, 'publish'>;
  log: Logger;
  timeoutMs: number;
}

/** Outcome of the only attempt of a test or a replay. */
export interface SingleOutcome {
  deliveryId: string;
  eventId: string;
  status: DeliveryStatus;
  responseStatus: number | null;
  latencyMs: number | null;
  errorMessage: string | null;
}

/** A request as it would be sent, and whether it would be (docs/concepts/webhooks.md#simulation). */
export interface Simulation {
  deliveryUrl: string;
  wouldDeliver: boolean;
  renderedRequest: {
    method: 'POST';
    url: string;
    headers: Record<string, string>;
    body: { id: string; type: string; created: number; data: object };
    /** The exact bytes that the signature is computed over. */
    bodyString: string;
  };
  note: string;
}

export interface RecoverInput {
  /** ISO 8601. */
  since: string;
  until?: string;
  events?: string[];
}

/** Deliveries that partners send manually. Each ID is looked up in the workspace: NOT_FOUND otherwise. */
export interface WebhookAttempts {
  /** Sends a synthetic `webhook.test`, regardless of `events` and `isActive`, and waits for the response. */
  test(workspaceId: string, id: string): Promise<SingleOutcome>;
  /**
   * Sends the event of a past delivery again: identical ID and body, a fresh signature, the current url and
   * secret. A pending retry of it is unchanged.
   *
   * @throws {AppError} NOT_FOUND also when the event has expired.
   */
  replay(workspaceId: string, id: string, deliveryId: string): Promise<SingleOutcome>;
  /**
   * Renders and signs a request, and sends nothing.
   *
   * @param payload laid over the sample data of the type.
   * @throws {AppError} UNKNOWN_EVENT.
   */
  simulate(workspaceId: string, id: string, type: string, payload?: object): Promise<Simulation>;
  /**
   * Plans what the webhook has not received of a time again, with all attempts.
   *
   * @returns how many deliveries were planned.
   * @throws {AppError} BAD_REQUEST naming the input, CONFLICT when the webhook is switched off.
   */
  recover(workspaceId: string, id: string, input: RecoverInput): Promise<number>;
}

/** Longer than an attempt and its finish take: until then no worker repeats the attempt. */
const LEASE_MARGIN_SEC = 20;
const NOTE =
  'Nothing was sent. Real deliveries have no SVC-Event-Timestamp header and include livemode in the body; read t from SVC-Signature.';

export function createAttempts(
  deps: Deps,
  get: (workspaceId: string, id: string) => Promise<WebhookRow>,
): WebhookAttempts {
  const { db, events, secrets, clock, catalogue } = deps;
  const attemptOnce = singleAttempts(deps);

  return {
    async test(workspaceId, id) {
      const at = clock.now();
      const { webhook, event, job } = await events.transaction(async (tx, append) => {
        const row = await lockTarget(tx, workspaceId, id);
        const sequence = await nextSequence(tx, 'webhook', id);
        const testedAt = at.toISOString();
        const data = { webhookId: id, message: 'This is a test event.', testedAt, sequence };
        const eventId = await append(webhookTest, workspaceId, data, { at });
        const stored = await findEvent(tx, workspaceId, eventId);
        if (stored === undefined) throw new Error('the test event was not stored');
        return { webhook: row, event: stored, job: await attemptOnce.plan(tx, row, stored, null) };
      });
      return attemptOnce.make(webhook, event, job);
    },

    async replay(workspaceId, id, deliveryId) {
      const delivery = await repository.findDelivery(db, workspaceId, id, deliveryId);
      if (delivery === undefined) throw notFound();
      const event = await findEvent(db, workspaceId, delivery.event_id);
      if (event === undefined) {
        const message = 'The event of this delivery has expired. Events are retained for 30 days.';
        throw new AppError('NOT_FOUND', { message });
      }
      const { webhook, job } = await db.transaction().execute(async (tx) => {
        const row = await lockTarget(tx, workspaceId, id);
        return { webhook: row, job: await attemptOnce.plan(tx, row, event, deliveryId) };
      });
      return attemptOnce.make(webhook, event, job);
    },

    async simulate(workspaceId, id, type, payload = {}) {
      const webhook = await get(workspaceId, id);
      const definition = catalogue.get(type);
      if (definition === undefined) throw new AppError('UNKNOWN_EVENT', { field: 'event' });
      const timestamp = Math.floor(clock.ms() / 1000);
      const eventId = `evt_dry_${randomBytes(16).toString('hex')}`;
      const body = { id: eventId, type, created: timestamp, data: { ...definition.sample, ...payload } };
      const bodyString = JSON.stringify(body);
      const secret = secrets.decrypt(webhook.secret, id);
      const content = { url: webhook.url, secret, eventId, eventType: type, body: bodyString };
      const { method, url, headers } = renderDelivery(content, timestamp);
      return {
        deliveryUrl: webhook.url,
        wouldDeliver: webhook.is_active && catalogue.matches(webhook.events, type),
        renderedRequest: {
          method,
          url,
          headers: { ...headers, 'SVC-Event-Timestamp': String(timestamp) },
          body,
          bodyString,
        },
        note: NOTE,
      };
    },

    recover: (workspaceId, id, input) => recoverMissed(deps, workspaceId, id, input),
  };
}

/** Target of an attempt and its signing secret. */
type Target = Pick<WebhookRow, 'id' | 'workspace_id' | 'url' | 'secret'>;

/** Locked: nothing may be signed with a secret that is being replaced. @throws {AppError} NOT_FOUND. */
async function lockTarget(tx: Tx, workspaceId: string, id: string): Promise<Target> {
  const row = await repository.lockWebhook(tx, workspaceId, id);
  if (row === undefined) throw notFound();
  return row;
}

/** One attempt that is made here and now, and written down as any other. */
function singleAttempts(deps: Deps) {
  const { clock, timeoutMs } = deps;
  const attempt = createAttempt(deps);
  const leaseSec = Math.ceil(timeoutMs / 1000) + LEASE_MARGIN_SEC;
  return {
    plan: (tx: Tx, webhook: Target, event: RetainedEvent, replayOf: string | null) =>
      insertClaimed(tx, {
        workspaceId: webhook.workspace_id,
        webhookId: webhook.id,
        eventId: event.id,
        eventCreatedAt: event.created_at,
        trigger: replayOf === null ? 'TEST' : 'REPLAY',
        replayOf,
        leaseSec,
      }),

    /** @throws {AppError} NOT_FOUND when the webhook has been deleted in the meantime. */
    async make(
      webhook: Target,
      event: RetainedEvent,
      job: { id: number; lease: number },
    ): Promise<SingleOutcome> {
      const { url, secret, id: webhookId } = webhook;
      const { id: eventId, type: eventType, body } = event;
      const result = await attempt({ webhookId, url, secret, eventId, eventType, body });
      const { success, ...answer } = result;
      const { status, retrySec } = afterAttempt(success, 1, 'REPLAY', []);
      const id = newId('dlv', clock);
      const at = dateFromMs(clock.ms()).toISOString();
      const log = { id, eventType, status, at, ...answer };
      const [done] = await finishCounted(deps, [{ job: job.id, lease: job.lease, retrySec, log }]);
      if (done === undefined) throw notFound();
      const { responseStatus, latencyMs, errorMessage } = answer;
      return { deliveryId: id, eventId, status, responseStatus, latencyMs, errorMessage };
    },
  };
}

async function recoverMissed(
  deps: Deps,
  workspaceId: string,
  id: string,
  input: RecoverInput,
): Promise<number> {
  const { db, catalogue, clock, bus } = deps;
  const since = instant(input.since);
  const until = input.until === undefined ? clock.now() : instant(input.until);
  const queued = await db.transaction().execute(async (tx) => {
    const webhook = await repository.lockWebhook(tx, workspaceId, id);
    if (webhook === undefined) throw notFound();
    if (until < since) throw badRequest('until', 'until must not be before since.');
    const wanted = parsePatterns(catalogue, input.events ?? []);
    if (!webhook.is_active) {
      throw new AppError('CONFLICT', { field: 'isActive', message: 'Enable the webhook first.' });
    }
    return recover(tx, {
      workspaceId,
      webhookId: id,
      since,
      until,
      patterns: webhook.events,
      wanted,
      never: [webhookTest.type],
      notToItself: [webhookFailing.type, webhookSecretRotated.type],
    });
  });
  if (queued > 0) bus.publish(DELIVERIES_TOPIC);
  return queued;
}

/** Any offset that RFC 3339 has; the schema has checked the form. */
function instant(text: string): Date {
  return dateFromMs(Temporal.Instant.from(text).epochMilliseconds);
}
