import type { DeclineCode } from '../provider.ts';

/** What a test card does (docs/guides/money.md#test-cards). */
interface TestCard {
  /** For the page that lists them. */
  does: string;
  /** On the page. Absent: it pays. */
  charge?: { declines: DeclineCode } | 'ACTION' | 'LATE' | 'TWICE' | 'DISPUTE';
  /** At renewals. Absent: as on the page. */
  saved?: { declines: DeclineCode } | 'PAYS';
}

/** The numbers that the sandbox takes; all others are refused, kept nowhere and logged nowhere. */
export const TEST_CARDS: Readonly<Record<string, TestCard>> = {
  '4242424242424242': { does: 'Pays.' },
  '4000000000000002': { does: 'Is declined.', charge: { declines: 'CARD_DECLINED' } },
  '4000000000009995': { does: 'Has too little money.', charge: { declines: 'INSUFFICIENT_FUNDS' } },
  '4000000000003220': {
    does: 'Asks for a second factor, and again at each renewal.',
    charge: 'ACTION',
    saved: { declines: 'AUTHENTICATION_REQUIRED' },
  },
  '4000000000000259': { does: 'Pays, and is disputed a moment later.', charge: 'DISPUTE', saved: 'PAYS' },
  '4000000000000341': { does: 'Pays, and is declined at renewals.', saved: { declines: 'CARD_DECLINED' } },
  '4000000000000119': { does: 'Pays, but the provider answers too late.', charge: 'LATE' },
  '4000000000000077': { does: 'Pays, and the provider tells of it twice.', charge: 'TWICE' },
};

/** @returns the number of a test card without its spaces; null for any other text. */
export function testCardOf(text: string | null): string | null {
  const digits = text?.replace(/[\s-]/g, '') ?? '';
  return Object.hasOwn(TEST_CARDS, digits) ? digits : null;
}

export const DECLINES: Readonly<Record<DeclineCode, string>> = {
  CARD_DECLINED: 'The bank declined the card.',
  INSUFFICIENT_FUNDS: 'There is not enough money on the card.',
  CARD_EXPIRED: 'The card has expired.',
  AUTHENTICATION_REQUIRED: 'The bank wants the owner of the card to confirm the payment.',
  AUTHENTICATION_FAILED: 'The payment was not confirmed at the bank.',
  CARD_MISSING: 'No saved card to charge.',
  EXPIRED: 'The time to pay is over.',
  CANCELED: 'The payment was canceled.',
  REFUND_REFUSED: 'There is not so much left to give back.',
  PROVIDER_ERROR: 'The payment provider could not make the payment.',
};
