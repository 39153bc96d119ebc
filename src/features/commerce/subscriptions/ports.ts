import type { AppendEvent, Events } from '../../../events/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { MailCaps } from '../../integration/mail/index.ts';
import type { Payments } from '../payments/index.ts';
import type { TierCapacity } from '../tiers/index.ts';

/** Dependencies of subscriptions. */
export interface SubscriptionPorts {
  db: Db;
  events: Pick<Events, 'transaction'>;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  payments: Pick<
    Payments,
    | 'abandon'
    | 'begin'
    | 'paymentOf'
    | 'purchaseOf'
    | 'settle'
    | 'refund'
    | 'savedMethodOf'
    | 'saveMethod'
    | 'unpaidOf'
  >;
  places: TierCapacity;
  mailbox: {
    enqueue(tx: Tx, mail: { kind: string; to: string; subject: string; text: string }): Promise<void>;
  };
  mailCaps: Pick<MailCaps, 'mayMail'>;
  /** Returns the URL of the member page. */
  memberPage(creator: { username: string; mode: 'live' | 'test' }): string;
  publicUrl: string;
}

/** Transaction and the function that appends its events. */
export interface TransactionContext {
  tx: Tx;
  append: AppendEvent;
}
