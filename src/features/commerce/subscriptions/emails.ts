import { formatMoney, INTERVAL_LABELS } from '../../../kernel/format-money.ts';
import type { EmailContextRow } from './repository.ts';
import { nextTerms, type SubscriptionRow } from './rules.ts';

/** Plain-text emails to members, so that no content is interpreted as markup. */

export interface Mail {
  kind: string;
  to: string;
  subject: string;
  text: string;
}

/** Recipient and subject of an email. */
export interface EmailContext extends EmailContextRow {
  row: SubscriptionRow;
  /** The member page. */
  page: string;
}

const day = (date: Date, { row }: EmailContext) =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: row.timezone }).format(date);

function mail(kind: string, about: EmailContext, subject: string, lines: readonly string[]): Mail {
  const { email, creator_name: name, username, page, mode } = about;
  const test = mode === 'test' ? ['This is a test mode subscription. No money moves.'] : [];
  const paragraphs = [
    ...test,
    ...lines,
    `To see your subscriptions, card and receipts with a link we email you, go to:\n\n${page}`,
    `${name ?? username}, by Marquee`,
  ];
  return { kind, to: email, subject, text: `${paragraphs.join('\n\n')}\n` };
}

const what = ({ tier_name: tier, creator_name: name, username }: EmailContext) =>
  `${tier} of ${name ?? username}`;
const card = ({ row: { payment_method: method } }: EmailContext) =>
  method === null ? 'your card' : `your ${method.brand} card that ends in ${method.last4}`;

/** Declined renewal. */
interface Declined {
  priceCents: number;
  failureCode: string | null;
  /** Time of the next try; null after the last one. */
  next: Date | null;
}

export function paymentFailedEmail(about: EmailContext, { priceCents, failureCode, next }: Declined): Mail {
  const isAsked = failureCode === 'AUTHENTICATION_REQUIRED' || about.row.payment_method === null;
  if (next !== null && isAsked) return confirmMail(about, priceCents, next);
  const lines =
    next === null
      ? ['The final payment attempt failed, so your subscription has ended. You were not charged.']
      : [
          `We will retry on ${day(next, about)}. You keep your access until then. On the page below you can pay now, or save another card to retry immediately.`,
        ];
  return mail(
    next === null ? 'subscription-expired' : 'subscription-card-failed',
    about,
    next === null ? `Your subscription to ${what(about)} has ended` : 'Your card was declined',
    [
      `The renewal of ${what(about)}, ${formatMoney(priceCents)}, could not be charged to ${card(about)}.`,
      ...lines,
    ],
  );
}

/** Creates the email for a charge that the member has to confirm, or for which no card was ever given. */
function confirmMail(about: EmailContext, priceCents: number, next: Date): Mail {
  const { row } = about;
  if (row.payment_method === null) {
    return mail('subscription-confirm', about, `Continue your subscription to ${what(about)}?`, [
      `No card is saved for ${what(about)}. ${formatMoney(priceCents)} per ${INTERVAL_LABELS[row.interval]} is now due. No card is charged unless you agree.`,
      `To continue, open the page below and press "Pay now". Otherwise, or if you did not start this subscription, do nothing: it ends automatically, and nothing is charged.`,
    ]);
  }
  return mail('subscription-confirm', about, 'Confirm your payment', [
    `Your bank requires you to confirm the renewal of ${what(about)} for ${formatMoney(priceCents)} with ${card(about)}.`,
    `Open the page below and press "Pay now". You keep your access until ${day(next, about)}, when we retry automatically.`,
  ]);
}

export function cardExpiringEmail(about: EmailContext): Mail {
  return mail('subscription-card-expiring', about, 'Your card is about to expire', [
    `Your subscription to ${what(about)} renews on ${day(about.row.current_period_end, about)}, and ${card(about)} is about to expire or has expired. Save another card on the page below.`,
  ]);
}

export function renewalReminderEmail(about: EmailContext): Mail {
  const { row } = about;
  return mail('subscription-renews', about, `Your subscription to ${what(about)} renews soon`, [
    `On ${day(row.current_period_end, about)} your subscription to ${what(about)} renews for a year, and ${card(about)} is charged ${formatMoney(row.pending_price_cents ?? row.price_cents)}${row.payment_method === null ? ' if you agree at that time' : ''}.`,
    'To avoid the charge, cancel on the page below before that date.',
  ]);
}

/**
 * Creates the email about another price of the next period; where a switch is planned, also about the price
 * of staying.
 */
export function priceChangeEmail(about: EmailContext): Mail {
  const { row, planned_name: planned } = about;
  const { priceCents, interval } = nextTerms(row);
  // A declined charge is repeated with the next try, after the end of the period.
  const from = day(row.next_charge_at ?? row.current_period_end, about);
  const own = (cents: number) =>
    `${what(about)} costs ${formatMoney(cents)} a ${INTERVAL_LABELS[row.interval]} instead of ${formatMoney(row.price_cents)}`;
  const stays = row.migrated_price_cents === null ? null : own(row.migrated_price_cents);
  const lines =
    planned === null
      ? [`From ${from} on, ${own(priceCents)}.`]
      : [
          `From ${from} on, you have ${planned} for ${formatMoney(priceCents)} a ${INTERVAL_LABELS[interval]}.`,
          ...(stays === null
            ? []
            : [`If ${planned} is full by then, your tier does not change, and ${stays}.`]),
        ];
  return mail('subscription-price', about, `Your price for ${what(about)} is changing`, [
    ...lines,
    'To avoid the charge, cancel on the page below before that date.',
  ]);
}

/**
 * Creates the email that asks a member to agree to a switch with a charge, where the subscription has no
 * card.
 */
export function switchMail(
  about: EmailContext,
  { tierName, priceCents, dueCents }: { tierName: string; priceCents: number; dueCents: number },
): Mail {
  const { row } = about;
  return mail('subscription-agree', about, `Do you want to switch to ${tierName}?`, [
    `A change of your subscription to ${what(about)} to ${tierName}, for ${formatMoney(priceCents)} per ${INTERVAL_LABELS[row.interval]}, was requested. ${formatMoney(dueCents)} would be due now. No card is saved for this subscription, so nothing was charged, and nothing will be charged unless you agree.`,
    `To switch, open the page below, save a card, and choose ${tierName}. Otherwise, or if you did not start this subscription, do nothing.`,
  ]);
}

/** Creates the email about a subscription that has ended, or will end with the period. */
export function subscriptionCanceledEmail(about: EmailContext): Mail {
  const { row } = about;
  const lines = row.cancel_at_period_end
    ? [
        `Your subscription to ${what(about)} ends on ${day(row.current_period_end, about)}. You keep your access until then, and you can resume it on the page below.`,
      ]
    : [`Your subscription to ${what(about)} has ended. You will not be charged again.`];
  return mail('subscription-canceled', about, `Your subscription to ${what(about)} was canceled`, lines);
}
