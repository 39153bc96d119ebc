import { AppError } from '../../../kernel/errors.ts';
import type { Simulation } from './schemas.ts';
import type { Subscriptions } from './service.ts';

/** Simulated events of subscriptions in test mode (docs/concepts/subscriptions.md#simulation). */
export interface Simulations {
  /** @throws {AppError} NOT_FOUND; CONFLICT where the event is not possible now. */
  run(workspaceId: string, id: string, event: Simulation): Promise<void>;
}

interface Deps {
  subscriptions: Subscriptions;
  /**
   * Simulates the bank's decision about the newest charge of a purchase.
   *
   * @throws {AppError} CONFLICT.
   */
  dispute(workspaceId: string, purchaseId: string, step: 'OPEN' | 'WON' | 'LOST'): Promise<void>;
}

/** Test cards of the sandbox. */
const GOOD_CARD = '4242424242424242';
const BAD_CARD = '4000000000000002';

const DISPUTES = { DISPUTED: 'OPEN', DISPUTE_WON: 'WON', DISPUTE_LOST: 'LOST' } as const;

export function createSimulations({ subscriptions, dispute }: Deps): Simulations {
  return {
    async run(workspaceId, id, event) {
      const row = await subscriptions.get(workspaceId, id);
      if (event === 'MEMBER_CANCELED') {
        await subscriptions.cancel(workspaceId, id, { atPeriodEnd: true, by: 'MEMBER_CANCELED' });
      } else if (event === 'RENEWED' || event === 'PAYMENT_FAILED' || event === 'PERIOD_ENDED') {
        if (event !== 'PERIOD_ENDED' && row.cancel_at_period_end)
          throw impossible('The subscription is canceled and does not renew.');
        const card = { RENEWED: GOOD_CARD, PAYMENT_FAILED: BAD_CARD, PERIOD_ENDED: null }[event];
        // The worker, too, sends this email before a charge.
        await subscriptions.letters.sendPrice(id);
        if (!(await subscriptions.renewals.renewEarly(id, card))) {
          throw impossible('The subscription has ended, is disputed, or is being charged.');
        }
      } else {
        const purchaseId = row.upgrades.at(-1)?.purchaseId ?? row.purchase_id;
        if (purchaseId === null) throw impossible('The current period has not been paid.');
        await dispute(workspaceId, purchaseId, DISPUTES[event]);
      }
    },
  };
}

function impossible(message: string): AppError {
  return new AppError('CONFLICT', { message });
}
