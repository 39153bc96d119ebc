import { maintainPartitions } from '../events/partitions.ts';
import { importJob } from '../features/imports/index.ts';
import { createMailSender } from '../features/mail/index.ts';
import { createTranscodeNode } from '../features/videos/index.ts';
import { createDeliveryWorker } from '../features/webhooks/index.ts';
import type { JobWorker } from '../jobs/job.ts';
import { startSchedule } from '../jobs/schedule.ts';
import { startJobWorkers } from '../jobs/worker.ts';
import { startJobUpkeep } from '../platform/db/pgboss.ts';
import { createMailer } from '../platform/mailer.ts';
import type { Container } from './container.ts';

const SWEEP_MS = 500;
const MAIL_MS = 1000;
const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const DOMAINS_MS = 15_000;
const RECORDINGS_MS = 15_000;
const HOUR_MS = 3_600_000;
const NODE_MS = 10_000;
/** They wait for other servers most of the time. */
const IMPORTS_AT_ONCE = 4;

/** Who does which job, and how many at once. */
function jobWorkers({ config, processing, recordingAssembly, runImport }: Container): JobWorker[] {
  return [
    ...processing.workers(config.TRANSCODE_CONCURRENCY),
    recordingAssembly,
    { job: importJob, concurrency: IMPORTS_AT_ONCE, run: runImport },
  ];
}

/** The worker role: jobs, webhook deliveries, mail, and what time does to streams, keys and partitions. */
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
  const upkeep = startJobUpkeep(sql, (error) => log.warn({ err: error }, 'the upkeep of jobs failed'));
  const jobs = startJobWorkers({ ...container, workers: jobWorkers(container) });
  const node = createTranscodeNode(container, config.TRANSCODE_CONCURRENCY);
  const schedule = startSchedule(
    [
      { name: 'stream sweep', everyMs: SWEEP_MS, run: () => signals.sweep() },
      { name: 'recordings', everyMs: RECORDINGS_MS, run: () => container.recordings.sweep() },
      { name: 'obsolete recordings', everyMs: HOUR_MS, run: () => container.recordings.cleanUp() },
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
      { name: 'planned publications', everyMs: SECOND_MS, run: () => container.videos.publishDue() },
      { name: 'old recordings', everyMs: HOUR_MS, run: () => container.videos.deleteOldRecordings() },
      { name: 'deleted videos', everyMs: HOUR_MS, run: () => container.videoPurge.run() },
      { name: 'counted viewers', everyMs: HOUR_MS, run: () => container.audience.forgetViewers() },
      { name: 'old notifications', everyMs: HOUR_MS, run: () => container.notifications.cleanUp() },
      { name: 'uploads', everyMs: MINUTE_MS, run: () => container.uploads.sweep() },
      {
        name: 'transcode node',
        everyMs: NODE_MS,
        run: async () => {
          // A node without a usable ffmpeg takes no encodes, and does not count as one that does.
          const isAble = await container.checkTools().then(
            () => true,
            () => false,
          );
          await (isAble ? node.heartbeat() : node.leave());
        },
      },
      { name: 'left scratch files', everyMs: HOUR_MS, run: () => container.processing.clearScratch() },
      { name: 'quiet processings', everyMs: MINUTE_MS, run: () => container.processing.sweep() },
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
      await Promise.all([schedule.stop(), deliveries.stop(), jobs.stop()]);
      await node.leave();
      await upkeep.stop();
      mailer?.close();
    },
  };
}
