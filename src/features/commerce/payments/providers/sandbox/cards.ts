import type { DeclineCode } from '../provider.ts';

/** Test card and its behavior (docs/guides/money.md#test-cards). */
interface TestCard {
  /** Description on the page that lists the cards. */
  does: string;
  /** Behavior on the checkout page. Absent: it pays. */
  charge?: { declines: DeclineCode } | 'ACTION' | 'LATE' | 'TWICE' | 'DISPUTE';
  /** Behavior at renewals. Absent: as on the page. */
  saved?: { declines: DeclineCode } | 'PAYS';
}

/** Numbers that the sandbox accepts; all others are rejected, and neither stored nor logged. */
export const TEST_CARDS: Readonly<Record<string, TestCard>> = {
  '4242424242424242': { does: 'Succeeds.' },
  '4000000000000002': { does: 'Is declined.', charge: { declines: 'CARD_DECLINED' } },
  '4000000000009995': { does: 'Declined: insufficient funds.', charge: { declines: 'INSUFFICIENT_FUNDS' } },
  '4000000000003220': {
    does: 'Requires authentication, and again at each renewal.',
    charge: 'ACTION',
    saved: { declines: 'AUTHENTICATION_REQUIRED' },
  },
  '4000000000000259': { does: 'Succeeds, then is disputed.', charge: 'DISPUTE', saved: 'PAYS' },
  '4000000000000341': {
    does: 'Succeeds, but is declined at renewals.',
    saved: { declines: 'CARD_DECLINED' },
  },
  '4000000000000119': { does: "Succeeds, but the provider's response times out.", charge: 'LATE' },
  '4000000000000077': { does: 'Succeeds, and the provider sends the event twice.', charge: 'TWICE' },
};

/** @returns the number of a test card without its spaces; null for any other text. */
export function testCardOf(text: string | null): string | null {
  const digits = text?.replace(/[\s-]/g, '') ?? '';
  return Object.hasOwn(TEST_CARDS, digits) ? digits : null;
}

export const DECLINES: Readonly<Record<DeclineCode, string>> = {
  CARD_DECLINED: 'The bank declined the card.',
  INSUFFICIENT_FUNDS: 'The card has insufficient funds.',
  CARD_EXPIRED: 'The card has expired.',
  AUTHENTICATION_REQUIRED: 'The bank requires the cardholder to confirm the payment.',
  AUTHENTICATION_FAILED: 'The payment was not confirmed with the bank.',
  CARD_MISSING: 'No saved card to charge.',
  EXPIRED: 'The payment has expired.',
  CANCELED: 'The payment was canceled.',
  REFUND_REFUSED: 'The amount exceeds what can be refunded.',
  PROVIDER_ERROR: 'The payment provider could not process the payment.',
};
