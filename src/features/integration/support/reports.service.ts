import type { Clock } from '../../../kernel/clock.ts';
import { parseEmail } from '../../../kernel/email.ts';
import { badRequest, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import * as repository from './repository.ts';
import { MAX_REPORT, type Reported, reportedOf } from './rules.ts';

/** Input of the report form. */
export interface ReportIn {
  reason: string;
  message: string;
  /** '' where they leave none. */
  email: string;
}

/** Reports of public pages: ABUSE tickets without an account (docs/concepts/support.md#reports). */
export interface Reports {
  /**
   * @param subject `vid_…`, `str_…` or `@username`.
   * @throws {AppError} BAD_REQUEST with the field; NOT_FOUND for subjects without a form.
   */
  report(subject: string, input: ReportIn): Promise<void>;
}

interface Deps {
  db: Db;
  clock: Clock;
  mailbox: {
    enqueue(tx: Tx, mail: { kind: string; to: string; subject: string; text: string }): Promise<void>;
  };
  config: { ABUSE_EMAIL: string | undefined; PUBLIC_URL: string };
  /** Reports whether the reported resource exists, regardless of its visibility. */
  exists(reported: Reported): Promise<boolean>;
}

export function createReports({ db, clock, mailbox, config, exists }: Deps): Reports {
  return {
    async report(subject, { reason, message, email }) {
      const reported = reportedOf(subject);
      if (reported === null) throw notFound();
      const text = message.trim();
      if (text.length > MAX_REPORT) {
        throw badRequest('message', `The report must not exceed ${MAX_REPORT} characters.`);
      }
      if (text === '' && reason === 'Something else') {
        throw badRequest('message', 'Describe the problem.');
      }
      const reporter = email.trim() === '' ? null : parseEmail(email);
      if (reporter === null && email.trim() !== '') {
        throw badRequest('email', 'Enter a valid email address, or leave it empty.');
      }
      // The response does not reveal whether the resource exists.
      if (!(await exists(reported))) return;
      const now = clock.now();
      await db.transaction().execute(async (tx) => {
        const ticket = await repository.insertTicket(tx, {
          ...{ id: newId('tkt', clock), account_id: null, workspace_id: null },
          number: await repository.nextReport(tx),
          subject: reason,
          ...{ category: 'ABUSE', priority: 'NORMAL', status: 'OPEN', request_id: null, resolved_at: null },
          ...{ last_message_at: now, created_at: now },
          reporter_email: reporter,
          reported_type: reported.type,
          reported_id: reported.id,
        });
        const said = text === '' ? reason : text;
        const row = { id: newId('tkm'), ticket_id: ticket.id, message: said, created_at: now };
        await repository.insertMessage(tx, { ...row, author: 'PARTNER' });
        if (config.ABUSE_EMAIL === undefined) return;
        await mailbox.enqueue(tx, {
          kind: 'report',
          to: config.ABUSE_EMAIL,
          subject: `Report: ${reason}`,
          text: mailText({ url: config.PUBLIC_URL + reported.path, reason, said, id: ticket.id, reporter }),
        });
      });
    },
  };
}

interface ReportEmail {
  url: string;
  reason: string;
  said: string;
  id: string;
  reporter: string | null;
}

function mailText({ url, reason, said, id, reporter }: ReportEmail): string {
  return `${url} was reported.

${reason}

${said}

${reporter === null ? 'The reporter left no email address.' : `Replies are sent to ${reporter}.`}
It is ticket ${id}: marquee support show --id ${id}
`;
}
