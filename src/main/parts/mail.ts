import {
  createMailbox,
  createMailCaps,
  createMailSender,
  type Mailbox,
  type MailCaps,
  mailRoutes,
} from '../../features/mail/index.ts';
import { createMailer, type Mailer } from '../../platform/mailer.ts';
import { type Built, EVERY } from '../part.ts';
import type { Base } from '../wiring.ts';

export function mailPart(base: Base): Built<{ mailbox: Mailbox; mailCaps: MailCaps }> {
  const { config } = base;
  const mailbox = createMailbox(base);
  let mailer: Mailer | null = null;
  return {
    gives: { mailbox, mailCaps: createMailCaps({ window: base.caps }) },
    part: {
      routes: () => mailRoutes({ mailbox, isSent: config.SMTP_URL !== undefined }),
      tasks() {
        mailer = config.SMTP_URL === undefined ? null : createMailer(config.SMTP_URL, config.MAIL_FROM);
        const sender = createMailSender({ ...base, mailer });
        return [
          { name: 'mail', everyMs: EVERY.second, run: () => sender.run() },
          { name: 'old mail', everyMs: EVERY.hour, run: () => mailbox.cleanUp() },
        ];
      },
      close: () => mailer?.close(),
    },
  };
}
