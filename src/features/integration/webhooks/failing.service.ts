import { type Events, nextSequence } from '../../../events/index.ts';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { Logger } from '../../../platform/logger.ts';
import { WEBHOOK_TOPIC } from './delivery/worker.ts';
import { webhookFailing } from './events.ts';
import * as repository from './repository.ts';
import { cancelPendingDeliveries } from './service.ts';

interface Deps {
  db: Db;
  events: Events;
  clock: Clock;
  bus: Pick<Bus, 'publish'>;
  log: Logger;
  /** Days without a success after which a webhook is switched off; 0 never does. */
  autoDisableDays: number;
}

/**
 * Failures in a row from which a webhook is considered failing
 * (docs/decisions/events-and-deliveries.md#types).
 */
const FAILURES = 20;

/**
 * Notifies of webhooks that keep failing, deactivates them if the operator configured it, and cancels jobs
 * that a delivery in flight left for an inactive webhook.
 */
export interface FailureMonitor {
  run(): Promise<void>;
}

export function createFailureMonitor(deps: Deps): FailureMonitor {
  const { db, clock, autoDisableDays: days } = deps;
  return {
    async run() {
      const daysAgo = (count: number) => dateFromMs(clock.ms() - count * DAY_MS);
      for (const webhook of await repository.listUnnotifiedFailing(db, {
        failures: FAILURES,
        since: daysAgo(1),
      })) {
        await emitFailing(deps, webhook);
      }
      for (const { id, workspace_id } of await repository.inactiveWithJobs(db)) {
        await db.transaction().execute((tx) => cancelPendingDeliveries(tx, workspace_id, id, clock.now()));
      }
      if (days === 0) return;
      const long = await repository.listLongFailing(db, { failures: FAILURES, since: daysAgo(days), days });
      for (const webhook of long) await switchOff(deps, webhook);
    },
  };
}

interface Found {
  id: string;
  workspace_id: string;
}

/** `webhook.failing` to the other webhooks, once for each run of failures. */
async function emitFailing({ events, clock }: Deps, { id, workspace_id }: Found): Promise<void> {
  await events.transaction(async (tx, append) => {
    const row = await repository.lockWebhook(tx, workspace_id, id);
    if (row === undefined || row.failing_since === null || row.failing_notified_at !== null) return;
    await repository.updateWebhook(tx, workspace_id, id, { failing_notified_at: clock.now() });
    const { url, consecutive_failures: consecutiveFailures } = row;
    const sequence = await nextSequence(tx, 'webhook', id);
    const data = { webhookId: id, url, consecutiveFailures, sequence };
    await append(webhookFailing, workspace_id, data);
  });
}

async function switchOff(deps: Deps, { id, workspace_id }: Found): Promise<void> {
  const { db, clock, bus, log } = deps;
  const isOff = await db.transaction().execute(async (tx) => {
    const now = clock.now();
    const row = await repository.lockWebhook(tx, workspace_id, id);
    if (row === undefined || row.failing_since === null || !row.is_active) return false;
    await repository.updateWebhook(tx, workspace_id, id, { is_active: false, updated_at: now });
    await cancelPendingDeliveries(tx, workspace_id, id, now);
    return true;
  });
  if (!isOff) return;
  bus.publish(WEBHOOK_TOPIC, id);
  log.warn({ webhookId: id }, 'a failing webhook was disabled');
}
