import { AppError, notFound } from '../../kernel/errors.ts';
import { newUuid } from '../../kernel/ids.ts';
import { choose, providerOf } from './choice.ts';
import type { PaymentPorts } from './ports.ts';
import { ProviderUnavailable } from './providers/provider.ts';
import type { Sandbox } from './providers/sandbox/sandbox.ts';
import * as repository from './repository.ts';
import { keepMethod, payerOf } from './settle.service.ts';

/** Cards that renewals are charged to, and what a bank does with the charges of the sandbox. */
export interface CardService {
  /**
   * Keeps another card of a customer.
   *
   * @param card sandbox: the number of a test card.
   * @returns where its holder is to go first; null when it is kept.
   * @throws {AppError} CONFLICT, in words, for a card that is not taken; SERVICE_UNAVAILABLE; NOT_FOUND.
   */
  save(customerId: string, card: string | null, returnUrl: string): Promise<string | null>;
  /** A card that was kept while its holder was at the provider. @returns whose it is; null when it is nobody's. */
  kept(hint: {
    provider: 'SANDBOX' | 'STRIPE';
    ref: string;
    accountRef: string | null;
  }): Promise<string | null>;
  /** The bank of a buyer in the sandbox. @throws {AppError} CONFLICT where nothing of the sandbox was paid. */
  dispute(workspaceId: string, purchaseId: string, step: 'OPEN' | 'WON' | 'LOST'): Promise<void>;
}

export function createCardService(ports: PaymentPorts, sandbox: Sandbox): CardService {
  const { db } = ports;
  return {
    save: (customerId, card, returnUrl) => save(ports, customerId, card, returnUrl),
    async kept({ provider, ...object }) {
      const found = await ports.providers[provider]?.fetchMethod(object);
      if (found == null) return null;
      const { customerId, method } = found;
      await db
        .transaction()
        .execute((tx) => keepMethod(ports, tx, { customerId, method, payment: { provider } }));
      return customerId;
    },
    async dispute(workspaceId, purchaseId, step) {
      const charge = await repository.findPaidCharge(db, purchaseId);
      const isOurs = charge?.workspace_id === workspaceId && charge.provider === 'SANDBOX';
      if (!isOurs || charge.provider_ref === null) {
        throw new AppError('CONFLICT', { message: 'Nothing that was paid in the sandbox can be disputed.' });
      }
      if (step === 'OPEN') await sandbox.dispute(charge.provider_ref);
      else await sandbox.decide(charge.provider_ref, step);
    },
  };
}

async function save(
  ports: PaymentPorts,
  customerId: string,
  card: string | null,
  returnUrl: string,
): Promise<string | null> {
  const customer = await repository.findCustomer(ports.db, customerId);
  if (customer === undefined) throw notFound();
  const { name, accountRef } = await choose(ports, ports.db, customer.workspace_id);
  const provider = providerOf(ports, { provider: name });
  const answer = await provider
    .saveMethod({
      key: `card:${newUuid()}`,
      workspaceId: customer.workspace_id,
      accountRef,
      customer: payerOf(provider, customer),
      returnUrl,
      cancelUrl: returnUrl,
      card,
    })
    .catch((error: unknown) => {
      if (!(error instanceof ProviderUnavailable)) throw error;
      const message = 'The payment provider does not answer: try again in a minute.';
      throw new AppError('SERVICE_UNAVAILABLE', { message });
    });
  if (answer.status === 'FAILED') throw new AppError('CONFLICT', { message: answer.message });
  if (answer.status === 'ACTION') return answer.url;
  const method = answer.status === 'SUCCEEDED' ? answer.method : null;
  if (method === null) {
    const message = 'The payment provider has not decided yet: look again in a minute.';
    throw new AppError('SERVICE_UNAVAILABLE', { message });
  }
  await ports.db
    .transaction()
    .execute((tx) => keepMethod(ports, tx, { customerId, method, payment: { provider: name } }));
  return null;
}
