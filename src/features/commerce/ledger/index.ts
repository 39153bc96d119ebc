/** Ledger: money movements, balances, revenue and payouts. */
export { createLedgerCheck, type LedgerCheck } from './check.service.ts';
export { payoutEvents } from './events.ts';
export type { ProviderPayout } from './payout-sync.service.ts';
export { createPayouts } from './payouts.service.ts';
export { createRevenue, type NamesOf } from './revenue.service.ts';
export { revenueRoutes } from './routes.ts';
export type { Movement, Sale } from './rules.ts';
export { createLedger, type Ledger } from './service.ts';
