import type { NoticeText } from '../../../events/catalogue.ts';
import { type EventConsumer, onAny } from '../../../events/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Tx } from '../../../platform/db/index.ts';
import * as repository from './repository.ts';
import { actionUrlOf, channelsFor } from './rules.ts';
import { toChoice } from './service.ts';

/** Queues an email in the transaction of the change that causes it. */
interface Mailbox {
  enqueue(tx: Tx, mail: { kind: string; to: string; subject: string; text: string }): Promise<void>;
}

interface Deps {
  mailbox: Mailbox;
  clock: Clock;
  config: { PUBLIC_URL: string };
}

/**
 * The consumer of events that notifies the account of the workspace, over the channels that it wants, in the
 * same transaction.
 */
export function createNotifier({ mailbox, clock, config }: Deps): EventConsumer {
  return onAny(async (tx, { definition, type, workspaceId, data }) => {
    const { notice } = definition;
    const words = notice?.words(data);
    if (notice === undefined || words == null) return;
    const recipient = await repository.findRecipient(tx, workspaceId);
    if (recipient === undefined) return;
    const { accountId, mode, email, preference } = recipient;
    // One list shows the notifications of both modes.
    const title = mode === 'test' ? `${words.title} (test mode)` : words.title;
    const { body, resource } = words;
    const actionUrl = actionUrlOf(config.PUBLIC_URL, resource, mode);
    const channels = channelsFor(type, notice.severity, toChoice(preference));
    if (channels.inApp) {
      await repository.insertNotification(tx, {
        id: newId('ntf', clock),
        account_id: accountId,
        type,
        title,
        body,
        severity: notice.severity,
        resource_type: resource.type,
        resource_id: resource.id,
        action_url: actionUrl,
        read_at: null,
        created_at: clock.now(),
      });
    }
    if (channels.email && email !== null) {
      const settingsUrl = `${config.PUBLIC_URL}/dashboard/account`;
      const text = mailText({ title, body, resource }, { actionUrl, settingsUrl });
      await mailbox.enqueue(tx, { kind: type, to: email, subject: title, text });
    }
  });
}

interface Links {
  actionUrl: string | null;
  settingsUrl: string;
}

function mailText({ title, body, resource }: NoticeText, { actionUrl, settingsUrl }: Links): string {
  return `${title}.

${body}

It is about ${resource.id}${actionUrl === null ? '.' : `:\n${actionUrl}`}

To choose which notifications are emailed to you, go to:
${settingsUrl}
`;
}
