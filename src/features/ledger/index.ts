/** The books: what moved money, where it is, revenue and payouts. */
export type { Movement, Sale } from './rules.ts';
export { createLedger, type Ledger } from './service.ts';
