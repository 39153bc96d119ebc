import type { JobQueue, JobRun } from '../../../jobs/job.ts';
import type { Tx } from '../../../platform/db/index.ts';
import { deleteCustomersJob } from './jobs.ts';
import type { Providers } from './ports.ts';
import type { Payer } from './providers/provider.ts';

/** Customers per job, which takes some minutes of provider calls. */
const BATCH = 200;

/** IDs of the customer here and at the provider. */
type Forgotten = Pick<Payer, 'id' | 'ref'>;

/** Deletion of erased people's data at providers (docs/decisions/privacy.md#payment-providers). */
export interface CustomerDeletion {
  /** Enqueues the deletion, which is performed after the commit. */
  enqueue(tx: Tx, customers: readonly Forgotten[]): Promise<void>;
  run(run: JobRun<{ customers: Forgotten[] }>): Promise<void>;
}

export function createCustomerDeletion({
  jobs,
  providers,
}: {
  jobs: Pick<JobQueue, 'enqueue'>;
  providers: Providers;
}): CustomerDeletion {
  return {
    async enqueue(tx, customers) {
      for (let from = 0; from < customers.length; from += BATCH) {
        await jobs.enqueue(tx, deleteCustomersJob, { customers: customers.slice(from, from + BATCH) });
      }
    },
    async run({ payload: { customers }, signal }) {
      for (const customer of customers) {
        signal.throwIfAborted();
        await providers.STRIPE?.forgetCustomer(customer);
      }
    },
  };
}
