import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { Logger } from '../../../platform/logger.ts';
import { EmailRejectedError, type Mailer } from '../../../platform/mailer.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import type { MailRow } from './repository.ts';
import * as repository from './repository.ts';

export interface EmailSender {
  /** Sends due emails; a failed one is retried later. */
  run(): Promise<void>;
}

/** Waits between attempts; after the last one the mail has failed. */
const RETRY_SEC = [60, 300, 1800, 7200, 21_600];
/** Longer than an attempt can take. */
const LEASE_MS = 120_000;
const BATCH = 10;

interface Deps {
  db: Db;
  secrets: Pick<Secrets, 'decrypt'>;
  clock: Clock;
  log: Logger;
  /** Null keeps each mail in the development mailbox. */
  mailer: Mailer | null;
}

export function createEmailSender({ db, secrets, clock, log, mailer }: Deps): EmailSender {
  const deliver = async (mail: MailRow) => {
    if (mail.body === null)
      return repository.finishMail(db, mail.id, 'FAILED', clock.now(), 'it has no text');
    if (mailer === null) {
      await repository.finishMail(db, mail.id, 'KEPT', clock.now());
      log.info(
        { mailId: mail.id, kind: mail.kind },
        'SMTP_URL is not set: read the email with "marquee mail show"',
      );
      return;
    }
    const open = (part: Uint8Array | null) => (part === null ? null : secrets.decrypt(part, mail.id));
    await mailer.send({
      id: mail.id,
      to: mail.recipient,
      subject: mail.subject,
      text: secrets.decrypt(mail.body, mail.id),
      calendar: open(mail.calendar),
      unsubscribeUrl: open(mail.unsubscribe_url),
    });
    await repository.finishMail(db, mail.id, 'SENT', clock.now());
  };

  const fail = async (mail: MailRow, error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    const waitSec = error instanceof EmailRejectedError ? undefined : RETRY_SEC[mail.attempts - 1];
    log.warn(
      { mailId: mail.id, kind: mail.kind, attempt: mail.attempts, reason },
      'an email could not be sent',
    );
    if (waitSec === undefined) return repository.finishMail(db, mail.id, 'FAILED', clock.now(), reason);
    await repository.retryMail(db, mail.id, dateFromMs(clock.ms() + waitSec * 1000), reason);
  };

  return {
    async run() {
      const lease = dateFromMs(clock.ms() + LEASE_MS);
      const mails = await repository.claimMails(db, clock.now(), lease, BATCH);
      await Promise.all(mails.map((mail) => deliver(mail).catch((error: unknown) => fail(mail, error))));
    },
  };
}
