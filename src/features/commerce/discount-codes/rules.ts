import { badRequest } from '../../../kernel/errors.ts';

/** Discount of a code: one of the two fields is null. */
export interface Discount {
  percent_off: number | null;
  amount_cents_off: number | null;
}

const MAX_LENGTH = 64;

/** Normalizes a code for storage and comparison: upper case, without surrounding spaces. */
export function normalizeCode(text: string): string {
  return text.trim().toUpperCase();
}

/** @throws {AppError} BAD_REQUEST, field `code`. */
export function parseCode(text: string): string {
  const code = normalizeCode(text);
  // Some letters become two in upper case.
  const length = [...code].length;
  if (length >= 1 && length <= MAX_LENGTH) return code;
  throw badRequest('code', `code must have 1 to ${MAX_LENGTH} characters.`);
}

/** @throws {AppError} BAD_REQUEST, field `percentOff`. */
export function assertOneDiscount({ percent_off, amount_cents_off }: Discount): void {
  if ((percent_off === null) !== (amount_cents_off === null)) return;
  throw badRequest('percentOff', 'Exactly one of percentOff and amountCentsOff is required.');
}

/** Returns the discount on a price, in cents: percentages are rounded down, and no price falls below 0. */
export function discountOf(priceCents: number, { percent_off, amount_cents_off }: Discount): number {
  if (percent_off !== null) return Math.floor((priceCents * percent_off) / 100);
  return Math.min(priceCents, amount_cents_off ?? 0);
}

interface CodeState {
  is_active: boolean;
  expires_at: Date | null;
  max_uses: number | null;
  used_count: number;
}

export const STATUSES = ['ACTIVE', 'EXHAUSTED', 'EXPIRED', 'DISABLED'] as const;

/** Returns the status of a code: DISABLED takes precedence over EXPIRED, and EXPIRED over EXHAUSTED. */
export function statusOf(code: CodeState, now: Date): (typeof STATUSES)[number] {
  if (!code.is_active) return 'DISABLED';
  if (code.expires_at !== null && code.expires_at <= now) return 'EXPIRED';
  return code.max_uses !== null && code.used_count >= code.max_uses ? 'EXHAUSTED' : 'ACTIVE';
}
