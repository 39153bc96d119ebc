import { AppError } from '../../../kernel/errors.ts';
import type { Db } from '../../../platform/db/index.ts';
import { getWorkspaceOwner } from '../../../platform/db/workspace.ts';
import * as accounts from './accounts.repository.ts';
import type { PaymentPorts } from './ports.ts';
import { type PaymentProvider, type ProviderName, ProviderUnavailableError } from './providers/provider.ts';
import type { PaymentRow } from './repository.ts';

/** Provider that moves the money of a workspace. */
export interface SelectedProvider {
  name: ProviderName;
  /** The creator's account at the provider; the sandbox needs none. */
  accountRef: string | null;
}

type Needs = Pick<PaymentPorts, 'providers' | 'config'>;

/**
 * Returns the provider name: the sandbox in test mode; Stripe in live mode, or the sandbox without it outside
 * production.
 */
export async function nameOf({ providers, config }: Needs, db: Db, workspaceId: string) {
  const { mode } = await getWorkspaceOwner(db, workspaceId);
  if (mode === 'test') return 'SANDBOX';
  if (providers.STRIPE !== null) return 'STRIPE';
  return config.LIVEMODE ? null : 'SANDBOX';
}

/** @throws {AppError} CONFLICT where the workspace cannot take money. */
export async function selectProvider(needs: Needs, db: Db, workspaceId: string): Promise<SelectedProvider> {
  const name = await nameOf(needs, db, workspaceId);
  if (name === null) {
    throw new AppError('CONFLICT', { message: 'Payments are not set up on this platform.' });
  }
  if (name === 'SANDBOX') return { name, accountRef: null };
  const account = await accounts.findAccount(db, workspaceId);
  if (account?.provider !== name || !account.charges_enabled) {
    const message =
      'The creator cannot accept payments yet: the account with the payment provider is incomplete.';
    throw new AppError('CONFLICT', { message });
  }
  return { name, accountRef: account.provider_ref };
}

/** @throws {ProviderUnavailableError} when the operator has removed it since. */
export function providerOf(
  { providers }: Pick<PaymentPorts, 'providers'>,
  row: Pick<PaymentRow, 'provider'>,
): PaymentProvider {
  const provider = row.provider === 'NONE' ? null : providers[row.provider];
  if (provider === null) throw new ProviderUnavailableError(`${row.provider} is not set up`);
  return provider;
}
