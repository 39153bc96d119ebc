import type { LedgerAccountTable, LedgerTransactionTable } from '../../../platform/db/tables.generated.ts';

export type Provider = LedgerAccountTable['provider'];
export type AccountKind = LedgerAccountTable['kind'];
export type SaleKind = NonNullable<LedgerTransactionTable['sale_kind']>;

/** What was sold. */
export interface Sale {
  purchaseId: string;
  kind: SaleKind;
  /** The tier of a SUBSCRIPTION, the product of a BOOKING, the video of a VIDEO. */
  itemId: string;
}

interface Happening {
  workspaceId: string;
  provider: Provider;
  /** The payment or payout that moved it: each of its movements is written once. */
  source: string;
  at: Date;
}

/** Of a sale; amounts are whole cents. */
interface SaleMovement extends Happening {
  sale: Sale;
  /** Of the buyer's money: 0 for a sale that a discount made free, positive otherwise. */
  amountCents: number;
}

/**
 * What can move money (docs/decisions/money.md#the-ledger). `feeCents` is the platform's part of `amountCents`: of a
 * charge what it earns, of a refund or a lost dispute what goes back to the creator with it.
 */
export type Movement =
  | (SaleMovement & { kind: 'CHARGE' | 'REFUND' | 'DISPUTE_LOST'; feeCents: number })
  | (SaleMovement & { kind: 'DISPUTE_OPENED' | 'DISPUTE_WON' })
  | (Happening & { kind: 'PAYOUT' | 'PAYOUT_FAILED'; amountCents: number })
  /** What the platform gives the creator; negative: takes. */
  | (Happening & { kind: 'ADJUSTMENT'; amountCents: number });

/** What a movement puts into each account; negative: takes out of it. */
export type Postings = Partial<Record<AccountKind, number>>;

/** What a movement adds to the sums of a quarter-hour. */
export interface RevenueDelta {
  grossCents: number;
  feeCents: number;
  refundCents: number;
  count: number;
}

/** The entries of a movement: they sum to nothing. @throws {RangeError} for amounts that are none. */
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

/** Between the buyers, and the creator and the platform; `sign` is that of the buyers' side. */
function split(sign: 1 | -1, amount: number, fee: number): Postings {
  return { BUYERS: sign * amount, CREATOR: -sign * (amount - fee), FEES: -sign * fee };
}

function feeOf({ amountCents, feeCents }: { amountCents: number; feeCents: number }): number {
  assertCents(feeCents, 0);
  if (feeCents > amountCents) throw new RangeError(`a fee of ${feeCents} cents is more than its payment`);
  return feeCents;
}

function assertCents(cents: number, least: number): void {
  if (!Number.isSafeInteger(cents) || cents < least) throw new RangeError(`${cents} is no amount in cents`);
}

/** Null: it is no revenue. A payment that is disputed counts until the dispute is lost. */
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
