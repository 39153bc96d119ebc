import type { Events } from '../../../events/index.ts';
import type { JobQueue } from '../../../jobs/job.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { Ledger } from '../ledger/index.ts';
import type { PaymentProvider } from './providers/provider.ts';

/** STRIPE is null where the operator has not set it up. */
export interface Providers {
  SANDBOX: PaymentProvider;
  STRIPE: PaymentProvider | null;
}

/** Dependencies of the payment services. */
export interface PaymentPorts {
  db: Db;
  events: Pick<Events, 'transaction'>;
  jobs: Pick<JobQueue, 'enqueue'>;
  clock: Clock;
  log: Pick<Logger, 'warn' | 'error'>;
  providers: Providers;
  ledger: Pick<Ledger, 'record' | 'mirrorPayout'>;
  config: {
    /** Hundredths of a percent. */
    PLATFORM_FEE_PERCENT: number;
    LIVEMODE: boolean;
  };
}
