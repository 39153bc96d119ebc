import { AppError, notFound } from '../../../kernel/errors.ts';
import { newUuid } from '../../../kernel/ids.ts';
import type { PaymentMethod } from '../../../platform/db/json-columns.ts';
import type { PaymentPorts } from './ports.ts';
import { providerOf, selectProvider } from './provider-selection.ts';
import { type PaymentResult, ProviderUnavailableError } from './providers/provider.ts';
import type { Sandbox } from './providers/sandbox/sandbox.ts';
import * as repository from './repository.ts';
import { payerOf } from './settle.service.ts';

/** Card stored without a charge, or the URL where its holder enters it. */
export type GivenCard = { method: PaymentMethod } | { url: string };

/** Card that its holder entered on a page of the provider. */
export interface CollectedCard {
  customerId: string;
  method: PaymentMethod;
  /** Checkout of the card; null on the member page. */
  checkoutId: string | null;
}

/** Storage of cards without a charge, and the bank's decisions about sandbox charges. */
export interface CardService {
  /**
   * Stores a card, only at the provider.
   *
   * @param asked.card sandbox: the number of a test card.
   * @param asked.checkoutId of the card's checkout; null on the member page.
   * @throws {AppError} CONFLICT, with a message, for a card that is rejected; SERVICE_UNAVAILABLE; NOT_FOUND.
   */
  collect(
    customerId: string,
    asked: { card: string | null; checkoutId: string | null; returnUrl: string },
  ): Promise<GivenCard>;
  /**
   * Returns the card of a provider event.
   *
   * @returns null where the card does not belong to this platform.
   */
  collected(hint: {
    provider: 'SANDBOX' | 'STRIPE';
    ref: string;
    accountRef: string | null;
  }): Promise<CollectedCard | null>;
  /** Decides a dispute as the bank of a sandbox buyer. */
  dispute(workspaceId: string, purchaseId: string, step: 'OPEN' | 'WON' | 'LOST'): Promise<void>;
}

export function createCardService(ports: PaymentPorts, sandbox: Sandbox): CardService {
  const { db } = ports;
  return {
    collect: (customerId, asked) => collect(ports, customerId, asked),
    async collected({ provider, ...object }) {
      const found = await ports.providers[provider]?.fetchMethod(object);
      if (found?.usedFor == null) return null;
      const { customerId, method, usedFor } = found;
      const checkoutId = usedFor === 'MEMBER_PAGE' ? null : usedFor.checkoutId;
      return { customerId, checkoutId, method: { provider, ...method } };
    },
    async dispute(workspaceId, purchaseId, step) {
      const charge = await repository.findPaidCharge(db, purchaseId);
      const isOurs = charge?.workspace_id === workspaceId && charge.provider === 'SANDBOX';
      if (!isOurs || charge.provider_ref === null) {
        throw new AppError('CONFLICT', { message: 'Only sandbox payments can be disputed.' });
      }
      const { provider_ref: ref } = charge;
      const isDone = step === 'OPEN' ? await sandbox.dispute(ref) : await sandbox.decide(ref, step);
      if (isDone) return;
      const message =
        step === 'OPEN' ? 'This charge is already disputed or refunded.' : 'This charge has no open dispute.';
      throw new AppError('CONFLICT', { message });
    },
  };
}

async function collect(
  ports: PaymentPorts,
  customerId: string,
  { card, checkoutId, returnUrl }: { card: string | null; checkoutId: string | null; returnUrl: string },
): Promise<GivenCard> {
  const customer = await repository.findCustomer(ports.db, customerId);
  if (customer === undefined) throw notFound();
  const { name, accountRef } = await selectProvider(ports, ports.db, customer.workspace_id);
  const provider = providerOf(ports, { provider: name });
  const answer: PaymentResult = await provider
    .saveMethod({
      key: `card:${newUuid()}`,
      workspaceId: customer.workspace_id,
      accountRef,
      customer: payerOf(provider, customer),
      usedFor: checkoutId === null ? 'MEMBER_PAGE' : { checkoutId },
      returnUrl,
      cancelUrl: returnUrl,
      card,
    })
    .catch((error: unknown) => {
      if (!(error instanceof ProviderUnavailableError)) throw error;
      const message = 'The payment provider is not responding. Try again in a minute.';
      throw new AppError('SERVICE_UNAVAILABLE', { message });
    });
  if (answer.status === 'FAILED') throw new AppError('CONFLICT', { message: answer.message });
  if (answer.status === 'ACTION') return { url: answer.url };
  if (answer.status === 'SUCCEEDED' && answer.method !== null) {
    return { method: { provider: name, ...answer.method } };
  }
  const message = 'The payment is still pending at the payment provider. Check again in a minute.';
  throw new AppError('SERVICE_UNAVAILABLE', { message });
}
