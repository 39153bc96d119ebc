import type { AppendEvent, Events } from '../../../events/index.ts';
import type { Mode } from '../../../kernel/access.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { BookingSales } from '../../booking/bookings/index.ts';
import type { MailCaps, NewEmail } from '../../integration/mail/index.ts';
import type { DiscountCodes } from '../discount-codes/index.ts';
import type { CardService, Payments } from '../payments/index.ts';
import type { Subscriptions } from '../subscriptions/index.ts';
import type { TierCapacity, Tiers } from '../tiers/index.ts';

/** Video for sale; `priceCents` is null where it is not. */
export interface PurchasableVideo {
  title: string;
  priceCents: number | null;
}

/** Dependencies of checkouts. */
export interface CheckoutPorts {
  db: Db;
  events: Pick<Events, 'transaction'>;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  payments: Payments;
  cards: Pick<CardService, 'collect'>;
  mailCaps: Pick<MailCaps, 'mayMail'>;
  subscriptions: Pick<Subscriptions, 'begin' | 'trialDaysFor'>;
  tiers: Pick<Tiers, 'get' | 'keep'>;
  places: TierCapacity;
  bookings: BookingSales;
  discountCodes: Pick<DiscountCodes, 'quote' | 'keep' | 'uses'>;
  mailbox: { enqueue(tx: Tx, mail: NewEmail): Promise<void> };
  /** @throws {AppError} NOT_FOUND. */
  videoOf(workspaceId: string, id: string): Promise<PurchasableVideo>;
  /** Returns the path of a creator's member page. */
  memberPath(creator: { username: string; mode: Mode }): string;
  /** Reports whether buyers may be redirected to the URL (docs/concepts/checkout.md#redirect-urls). */
  mayLeadTo(caller: { workspaceId: string; mode: Mode }, url: URL): Promise<boolean>;
  /** Returns the number of a test card, without spaces; null for any other text. */
  testCardOf(text: string | null): string | null;
  /** URL without a trailing slash. */
  publicUrl: string;
}

/** Transaction and the function that appends its events. */
export interface TransactionContext {
  tx: Tx;
  append: AppendEvent;
}
