import { dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import type { Tx } from '../../../platform/db/index.ts';
import { emailContext, mailMember } from './changes.ts';
import * as mails from './emails.ts';
import type { SubscriptionPorts } from './ports.ts';
import * as repository from './repository.ts';
import type { SubscriptionRow } from './rules.ts';
import * as rules from './rules.ts';

/** Emails sent before a change: another price, a yearly renewal, an expiring card. */
export interface ReminderEmails {
  send(): Promise<void>;
  /** Sends one member the email about another price now. */
  sendPrice(id: string): Promise<void>;
}

const BATCH = 100;
/**
 * Batches of price emails per run. Charges wait for these emails, so a change for thousands of members needs
 * several.
 */
const PRICE_BATCHES = 10;
const AHEAD_DAYS = 9;

export function createReminderEmails(ports: SubscriptionPorts): ReminderEmails {
  const { db, clock, log } = ports;
  /** Handles each row in its own transaction, under its lock, so that the email is sent once. */
  const each = async (ids: readonly string[], tell: (tx: Tx, row: SubscriptionRow) => Promise<void>) => {
    for (const id of ids) {
      const telling = db.transaction().execute(async (tx) => {
        const row = await repository.lockAnySkipLocked(tx, id);
        if (row !== undefined && row.ended_at === null) await tell(tx, row);
      });
      // A failed email does not delay other emails or charges.
      await telling.catch((error: unknown) =>
        log.warn({ err: error, subscriptionId: id }, 'a member could not be notified'),
      );
    }
  };
  const tellOfPrice = async (tx: Tx, row: SubscriptionRow) => {
    if (!rules.hasUnnotifiedPrice(row) || row.payment_id !== null) return;
    if (!(await mailMember(ports, tx, mails.priceChangeEmail(await emailContext(ports, tx, row))))) return;
    await repository.updateSubscription(tx, row.id, { price_change_notified_at: clock.now() });
  };
  const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);
  return {
    sendPrice: (id) => each([id], tellOfPrice),
    async send() {
      await tellOfPrices();
      const until = dateFromMs(clock.ms() + AHEAD_DAYS * DAY_MS);
      await each(idsOf(await repository.listDueRenewalReminders(db, until, BATCH)), async (tx, row) => {
        if (!rules.remindsOfRenewal(row, clock.now())) return;
        await mailMember(ports, tx, mails.renewalReminderEmail(await emailContext(ports, tx, row)));
        await repository.updateSubscription(tx, row.id, { renewal_reminder_period: row.next_period_month });
      });
      await tellOfCards();
    },
  };

  async function tellOfPrices() {
    for (let batch = 0; batch < PRICE_BATCHES; batch++) {
      const ids = idsOf(await repository.listUnnotifiedPriceChanges(db, BATCH));
      await each(ids, tellOfPrice);
      if (ids.length < BATCH) return;
    }
  }

  async function tellOfCards() {
    const now = clock.now();
    const month = { year: now.getUTCFullYear(), month: now.getUTCMonth() + 1 };
    const rows = await repository.listExpiring(db, month, BATCH);
    const cards = new Map(rows.map(({ id, card }) => [id, card]));
    await each([...cards.keys()], async (tx, row) => {
      const card = cards.get(row.id);
      if (card === undefined || card === row.card_expiry_notified_for) return;
      await mailMember(ports, tx, mails.cardExpiringEmail(await emailContext(ports, tx, row)));
      await repository.updateSubscription(tx, row.id, { card_expiry_notified_for: card });
    });
  }
}
