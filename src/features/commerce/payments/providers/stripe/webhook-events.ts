import type { Stripe } from 'stripe';
import type { ProviderEventKind } from '../../../../../platform/db/tables.generated.ts';
import type { ProviderEvent } from '../provider.ts';

/** Event types to enable for the webhook endpoint at Stripe (docs/guides/money.md#set-up-stripe). */
const KINDS: Record<string, ProviderEventKind | undefined> = {
  'checkout.session.completed': 'PAYMENT',
  'checkout.session.async_payment_succeeded': 'PAYMENT',
  'checkout.session.async_payment_failed': 'PAYMENT',
  'checkout.session.expired': 'PAYMENT',
  'payment_intent.succeeded': 'PAYMENT',
  'payment_intent.payment_failed': 'PAYMENT',
  'payment_intent.canceled': 'PAYMENT',
  'refund.created': 'REFUND',
  'refund.updated': 'REFUND',
  'refund.failed': 'REFUND',
  'charge.dispute.created': 'DISPUTE',
  'charge.dispute.updated': 'DISPUTE',
  'charge.dispute.closed': 'DISPUTE',
  'payout.created': 'PAYOUT',
  'payout.updated': 'PAYOUT',
  'payout.paid': 'PAYOUT',
  'payout.failed': 'PAYOUT',
  'payout.canceled': 'PAYOUT',
  'account.updated': 'ACCOUNT',
};

export const HANDLED_EVENT_TYPES: readonly string[] = Object.keys(KINDS);

/** Maps a Stripe event to the object it concerns; its data is not trusted, the object is fetched. */
export function toProviderEvent({ id, type, account, data }: Stripe.Event): ProviderEvent | 'OTHER' {
  const { object } = data;
  const kind = KINDS[type];
  const objectRef = 'id' in object && typeof object.id === 'string' ? object.id : undefined;
  if (kind === undefined || objectRef === undefined) return 'OTHER';
  const isCard = kind === 'PAYMENT' && 'mode' in object && object.mode === 'setup';
  return { id, kind: isCard ? 'CARD' : kind, objectRef, accountRef: account ?? null };
}
