/** Ledger: money movements, balances, revenue and payouts. */
export type { ProviderPayout } from './payout-sync.service.ts';
export type { Revenue } from './revenue.service.ts';
export type { Ledger } from './service.ts';
