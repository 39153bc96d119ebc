import { maintainPartitions } from '../events/partitions.ts';
import { createMailSender } from '../features/mail/index.ts';
import { createDeliveryWorker } from '../features/webhooks/index.ts';
import { startSchedule } from '../jobs/schedule.ts';
import { createMailer } from '../platform/mailer.ts';
import type { Container } from './container.ts';

const SWEEP_MS = 500;
const MAIL_MS = 1000;
const MINUTE_MS = 60_000;
const DOMAINS_MS = 15_000;
const HOUR_MS = 3_600_000;

/** The worker role: webhook deliveries, mail, and what time does to streams, keys and partitions. */
export function startWorker(container: Container): { stop(): Promise<void> } {
  const { sql, clock, log, signals, config, metrics, auth, mailbox, idempotency } = container;
  const mailer = config.SMTP_URL === undefined ? null : createMailer(config.SMTP_URL, config.MAIL_FROM);
  const mails = createMailSender({ ...container, mailer });
  const deliveries = createDeliveryWorker({
    ...container,
    logger: log,
    config: { retrySeconds: config.WEBHOOK_RETRY_SECONDS, timeoutMs: config.WEBHOOK_TIMEOUT_MS },
    metrics: {
      attempt: (status, latencyMs) => metrics.delivery(status, (latencyMs ?? 0) / 1000),
      lost: (count) => metrics.deliveriesLost(count),
    },
  });
  deliveries.start();
  const schedule = startSchedule(
    [
      { name: 'stream sweep', everyMs: SWEEP_MS, run: () => signals.sweep() },
      {
        name: 'mail',
        everyMs: MAIL_MS,
        run: async () => {
          await auth.links.sendRequested();
          await mails.run();
        },
      },
      { name: 'signing keys', everyMs: HOUR_MS, run: () => auth.tokens.rotateKeys() },
      {
        name: 'sign-in clean-up',
        everyMs: HOUR_MS,
        run: async () => {
          await Promise.all([auth.links.cleanUp(), auth.twoFactor.cleanUp(), mailbox.cleanUp()]);
        },
      },
      { name: 'integration domains', everyMs: DOMAINS_MS, run: () => container.domains.checkDue() },
      { name: 'expiring keys', everyMs: HOUR_MS, run: () => container.apiKeys.announceExpiring() },
      { name: 'old notifications', everyMs: HOUR_MS, run: () => container.notifications.cleanUp() },
      {
        name: 'failing webhooks',
        everyMs: MINUTE_MS,
        run: () => container.failureWatch.run(),
      },
      {
        name: 'event partitions',
        everyMs: HOUR_MS,
        run: async () => {
          await maintainPartitions(sql, clock);
        },
      },
      {
        name: 'idempotency sweep',
        everyMs: HOUR_MS,
        run: async () => {
          await idempotency.sweep();
        },
      },
    ],
    log,
  );
  return {
    async stop() {
      await Promise.all([schedule.stop(), deliveries.stop()]);
      mailer?.close();
    },
  };
}
