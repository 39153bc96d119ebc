import {
  createEmailSender,
  createMailbox,
  createMailCaps,
  type Mailbox,
  type MailCaps,
  mailRoutes,
} from '../../features/integration/mail/index.ts';
import { createMailer, type Mailer } from '../../platform/mailer.ts';
import { INTERVALS, type ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

export function mailPart(base: BaseContext): ModuleWithExports<{ mailbox: Mailbox; mailCaps: MailCaps }> {
  const { config } = base;
  const mailbox = createMailbox(base);
  let mailer: Mailer | null = null;
  return {
    exports: { mailbox, mailCaps: createMailCaps({ window: base.caps }) },
    module: {
      routes: () => mailRoutes({ mailbox, isSent: config.SMTP_URL !== undefined }),
      tasks() {
        mailer = config.SMTP_URL === undefined ? null : createMailer(config.SMTP_URL, config.MAIL_FROM);
        const sender = createEmailSender({ ...base, mailer });
        return [
          { name: 'mail', everyMs: INTERVALS.second, run: () => sender.run() },
          { name: 'old mail', everyMs: INTERVALS.hour, run: () => mailbox.cleanUp() },
        ];
      },
      close: () => mailer?.close(),
    },
  };
}
