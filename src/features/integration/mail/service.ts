import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import type { MailRow } from './repository.ts';
import * as repository from './repository.ts';

export interface NewEmail {
  /** Kind of the email, for the log and the mailbox: `verify-email`. */
  kind: string;
  to: string;
  subject: string;
  text: string;
  /** Calendar entry for the recipient: an iCalendar object (RFC 5545). */
  calendar?: string;
  /** URL to unsubscribe from a list by a POST that needs no page (RFC 8058). */
  unsubscribeUrl?: string;
}

/** A mail as the operator reads it. */
export interface StoredEmail {
  id: string;
  kind: string;
  to: string;
  subject: string;
  status: MailRow['status'];
  attempts: number;
  lastError: string | null;
  createdAt: Date;
}

export interface Mailbox {
  /**
   * Queues an email in the transaction of the change that causes it; the worker sends it after the commit.
   */
  enqueue(tx: Tx, mail: NewEmail): Promise<void>;
  /** Newest first, at most 100. */
  list(): Promise<StoredEmail[]>;
  /** `text` and `calendar` are null once an SMTP server has taken the mail. @throws {AppError} NOT_FOUND. */
  get(id: string): Promise<StoredEmail & { text: string | null; calendar: string | null }>;
  /** Drops mails that are done with and older than 30 days. */
  cleanUp(): Promise<void>;
}

const LIST_MAX = 100;
const RETENTION_MS = 30 * 86_400_000;

interface Deps {
  db: Db;
  secrets: Pick<Secrets, 'encrypt' | 'decrypt'>;
  clock: Clock;
}

export function createMailbox({ db, secrets, clock }: Deps): Mailbox {
  return {
    async enqueue(tx, { kind, to, subject, text, calendar: entry, unsubscribeUrl }) {
      const id = newId('mail');
      const body = secrets.encrypt(text, id);
      const seal = (part: string | undefined) => (part === undefined ? null : secrets.encrypt(part, id));
      const parts = { calendar: seal(entry), unsubscribe_url: seal(unsubscribeUrl) };
      const mail = { id, kind, recipient: to, subject, body, ...parts, created_at: clock.now() };
      await repository.insertMail(tx, mail);
    },
    list: async () => (await repository.listMails(db, LIST_MAX)).map(toStored),
    async get(id) {
      const row = await repository.findMail(db, id);
      if (row === undefined) throw notFound();
      const open = (sealed: Uint8Array | null) => (sealed === null ? null : secrets.decrypt(sealed, id));
      return { ...toStored(row), text: open(row.body), calendar: open(row.calendar) };
    },
    cleanUp: () => repository.deleteMailsBefore(db, dateFromMs(clock.ms() - RETENTION_MS)),
  };
}

function toStored(row: MailRow): StoredEmail {
  return {
    id: row.id,
    kind: row.kind,
    to: row.recipient,
    subject: row.subject,
    status: row.status,
    attempts: row.attempts,
    lastError: row.last_error,
    createdAt: row.created_at,
  };
}
