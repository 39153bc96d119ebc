import type { EventConsumer } from '../../events/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import type { Tx } from '../../platform/db/index.ts';
import * as repository from './repository.ts';
import { channelsFor, NOTICE_TYPES, type Notice, noticeOf } from './rules.ts';
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
  const notified: ReadonlySet<string> = new Set(NOTICE_TYPES);
  return async (tx, { type, workspaceId, data }) => {
    if (!notified.has(type)) return;
    const recipient = await repository.findRecipient(tx, workspaceId);
    if (recipient === undefined) return;
    const { accountId, mode, email, preference } = recipient;
    const notice = noticeOf({ type, data, mode });
    if (notice === null) return;
    const channels = channelsFor(type, toChoice(preference));
    if (channels.inApp) {
      const { severity, title, body, resource } = notice;
      await repository.insertNotification(tx, {
        id: newId('ntf'),
        account_id: accountId,
        type,
        title,
        body,
        severity,
        resource_type: resource.type,
        resource_id: resource.id,
        action_url: null,
        read_at: null,
        created_at: clock.now(),
      });
    }
    if (channels.email && email !== null) {
      await mailbox.enqueue(tx, { kind: type, to: email, subject: notice.title, text: mailText(notice) });
    }
  };
}

function mailText({ title, body, resource }: Notice): string {
  return `${title}.

${body}

It is about ${resource.id}. Which notifications are mailed is set with PUT /notifications/preferences.
`;
}
