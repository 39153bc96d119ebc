import type { AppendEvent, Events } from '../../../events/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { MailCaps } from '../../integration/mail/index.ts';
import type { Payments } from '../payments/index.ts';
import type { TierCapacity } from '../tiers/index.ts';

/** What subscriptions are built on. */
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
  /** Where a member looks after what they have: the address of the page. */
  memberPage(creator: { username: string; mode: 'live' | 'test' }): string;
  publicUrl: string;
}

/** A transaction, and what it appends. */
export interface TransactionContext {
  tx: Tx;
  append: AppendEvent;
}
