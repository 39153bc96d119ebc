import type { LedgerAccountTable, LedgerTransactionTable } from '../../../platform/db/tables.generated.ts';

export type Provider = LedgerAccountTable['provider'];
export type AccountKind = LedgerAccountTable['kind'];
export type SaleKind = NonNullable<LedgerTransactionTable['sale_kind']>;

/** Sold item and its purchase. */
export interface Sale {
  purchaseId: string;
  kind: SaleKind;
  /** The tier of a SUBSCRIPTION, the product of a BOOKING, the video of a VIDEO. */
  itemId: string;
}

interface Happening {
  workspaceId: string;
  provider: Provider;
  /** Payment or payout that caused it: each of its movements is recorded once. */
  source: string;
  at: Date;
}

/** Movement of a sale; amounts are whole cents. */
interface SaleMovement extends Happening {
  sale: Sale;
  /** Part of the buyer's money: 0 when a discount covers the whole price, positive otherwise. */
  amountCents: number;
}

/**
 * Money movement (docs/decisions/money.md#the-ledger). `feeCents` is the platform's part of `amountCents`:
 * the fee earned on a charge, or the fee returned to the creator with a refund or a lost dispute.
 */
export type Movement =
  | (SaleMovement & { kind: 'CHARGE' | 'REFUND' | 'DISPUTE_LOST'; feeCents: number })
  | (SaleMovement & { kind: 'DISPUTE_OPENED' | 'DISPUTE_WON' })
  | (Happening & { kind: 'PAYOUT' | 'PAYOUT_FAILED'; amountCents: number })
  /** Credit of the platform to the creator; a debit when negative. */
  | (Happening & { kind: 'ADJUSTMENT'; amountCents: number });

/** Amount that a movement posts to each account; negative amounts are taken from it. */
export type Postings = Partial<Record<AccountKind, number>>;

/** Amounts that a movement adds to the rollups of a quarter-hour. */
export interface RevenueDelta {
  grossCents: number;
  feeCents: number;
  refundCents: number;
  count: number;
}

/**
 * Returns the balanced entries of a movement.
 *
 * @throws {RangeError} for invalid amounts.
 */
export function postingsOf(movement: Movement): Postings {
  const { kind, amountCents: amount } = movement;
  assertCents(amount, kind === 'ADJUSTMENT' ? -Number.MAX_SAFE_INTEGER : 0);
  switch (kind) {
    case 'CHARGE':
      return split(-1, amount, feeOf(movement));
    case 'REFUND':
      return split(1, amount, feeOf(movement));
    case 'DISPUTE_OPENED':
      return { CREATOR: -amount, DISPUTED: amount };
    case 'DISPUTE_WON':
      return { DISPUTED: -amount, CREATOR: amount };
    case 'DISPUTE_LOST': {
      const fee = feeOf(movement);
      return { DISPUTED: -amount, BUYERS: amount, FEES: -fee, CREATOR: fee };
    }
    case 'PAYOUT':
      return { CREATOR: -amount, PAID_OUT: amount };
    case 'PAYOUT_FAILED':
      return { PAID_OUT: -amount, CREATOR: amount };
    case 'ADJUSTMENT':
      return { FEES: -amount, CREATOR: amount };
  }
}

/** Splits an amount between the buyers, the creator and the platform; `sign` is that of the buyers' side. */
function split(sign: 1 | -1, amount: number, fee: number): Postings {
  return { BUYERS: sign * amount, CREATOR: -sign * (amount - fee), FEES: -sign * fee };
}

function feeOf({ amountCents, feeCents }: { amountCents: number; feeCents: number }): number {
  assertCents(feeCents, 0);
  if (feeCents > amountCents) throw new RangeError(`a fee of ${feeCents} cents is more than its payment`);
  return feeCents;
}

function assertCents(cents: number, least: number): void {
  if (!Number.isSafeInteger(cents) || cents < least)
    throw new RangeError(`${cents} is not an amount in cents of at least ${least}`);
}

/**
 * Returns the revenue of a movement; null when it is not revenue. A disputed payment counts until the dispute
 * is lost.
 */
export function revenueOf(movement: Movement): { sale: Sale; sums: RevenueDelta } | null {
  switch (movement.kind) {
    case 'CHARGE': {
      const { sale, amountCents: grossCents, feeCents } = movement;
      return { sale, sums: { grossCents, feeCents, refundCents: 0, count: 1 } };
    }
    case 'REFUND':
    case 'DISPUTE_LOST': {
      const { sale, amountCents: refundCents, feeCents } = movement;
      return { sale, sums: { grossCents: 0, feeCents: 0 - feeCents, refundCents, count: 0 } };
    }
    default:
      return null;
  }
}
