import { createMailer, type Mailer } from '../../../platform/mailer.ts';
import { type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import { createMailCaps, type MailCaps } from './caps.ts';
import { mailRoutes } from './routes.ts';
import { createEmailSender } from './sender.service.ts';
import { createMailbox, type Mailbox } from './service.ts';

interface MailDeps extends Pick<Platform, 'caps' | 'clock' | 'config' | 'db' | 'log' | 'secrets'> {}

export function createMailModule(deps: MailDeps): FeatureModule & { mailbox: Mailbox; mailCaps: MailCaps } {
  const { config } = deps;
  const mailbox = createMailbox(deps);
  let mailer: Mailer | null = null;
  return {
    mailbox,
    mailCaps: createMailCaps({ window: deps.caps }),
    routes: () => mailRoutes({ mailbox, isSent: config.SMTP_URL !== undefined }),
    tasks() {
      mailer = config.SMTP_URL === undefined ? null : createMailer(config.SMTP_URL, config.MAIL_FROM);
      const sender = createEmailSender({ ...deps, mailer });
      return [
        { name: 'mail', everyMs: INTERVALS.second, run: () => sender.run() },
        { name: 'mail cleanup', everyMs: INTERVALS.hour, run: () => mailbox.cleanUp() },
      ];
    },
    close: () => mailer?.close(),
  };
}
