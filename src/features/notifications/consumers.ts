import type { NoticeWords } from '../../events/catalogue.ts';
import { type EventConsumer, onEvery } from '../../events/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import type { Tx } from '../../platform/db/index.ts';
import * as repository from './repository.ts';
import { channelsFor } from './rules.ts';
import { toChoice } from './service.ts';

/** Queues a mail in the transaction of the change that it tells of. */
interface Mailbox {
  enqueue(tx: Tx, mail: { kind: string; to: string; subject: string; text: string }): Promise<void>;
}

interface Deps {
  mailbox: Mailbox;
  clock: Clock;
}

/**
 * The consumer of events that notifies the account of the workspace, over the channels that it wants, in the
 * same transaction.
 */
export function createNotifier({ mailbox, clock }: Deps): EventConsumer {
  return onEvery(async (tx, { definition, type, workspaceId, data }) => {
    const { notice } = definition;
    const words = notice?.words(data);
    if (notice === undefined || words == null) return;
    const recipient = await repository.findRecipient(tx, workspaceId);
    if (recipient === undefined) return;
    const { accountId, mode, email, preference } = recipient;
    // Notifications of both modes stand in one list.
    const title = mode === 'test' ? `${words.title} (test mode)` : words.title;
    const { body, resource } = words;
    const channels = channelsFor(type, notice.severity, toChoice(preference));
    if (channels.inApp) {
      await repository.insertNotification(tx, {
        id: newId('ntf'),
        account_id: accountId,
        type,
        title,
        body,
        severity: notice.severity,
        resource_type: resource.type,
        resource_id: resource.id,
        action_url: null,
        read_at: null,
        created_at: clock.now(),
      });
    }
    if (channels.email && email !== null) {
      const text = mailText({ title, body, resource });
      await mailbox.enqueue(tx, { kind: type, to: email, subject: title, text });
    }
  });
}

function mailText({ title, body, resource }: NoticeWords): string {
  return `${title}.

${body}

It is about ${resource.id}. Which notifications are mailed is set with PUT /notifications/preferences.
`;
}
