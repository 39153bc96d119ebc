import { MINUTE_MS } from '../../../kernel/durations.ts';
import { AppError } from '../../../kernel/errors.ts';
import * as repository from './accounts.repository.ts';
import type { PaymentPorts } from './ports.ts';
import { nameOf, providerOf } from './provider-selection.ts';
import {
  type AccountState,
  type PaymentProvider,
  type ProviderName,
  ProviderUnavailableError,
} from './providers/provider.ts';
import { callProviderOrFail } from './settle.service.ts';

export interface ConnectStatus extends AccountState {
  /** Provider of the workspace; null where the operator has configured none. */
  provider: ProviderName | null;
  connected: boolean;
}

/** The creator's account with the provider (docs/concepts/payments.md#payment-account). */
export interface ConnectAccounts {
  /** Returns the last known state at the provider. */
  status(workspaceId: string): Promise<ConnectStatus>;
  /**
   * Returns the onboarding link of the account; the account is created where there is none.
   *
   * @throws {AppError} CONFLICT where no provider is set up; SERVICE_UNAVAILABLE when it does not answer.
   */
  onboard(who: { workspaceId: string; email: string }): Promise<{ url: string; expiresAt: Date }>;
  /**
   * Returns a link to the provider's own pages.
   *
   * @throws {AppError} CONFLICT without an account; as `onboard`.
   */
  dashboard(workspaceId: string): Promise<{ url: string }>;
  /** Updates the capabilities of the account from the provider. */
  refresh(provider: ProviderName, accountRef: string): Promise<void>;
}

interface Deps extends PaymentPorts {
  publicUrl: string;
}

const NOTHING: ConnectStatus = {
  provider: null,
  connected: false,
  chargesEnabled: false,
  payoutsEnabled: false,
  detailsSubmitted: false,
  requirementsDue: [],
  country: null,
};

/**
 * Stores the current capabilities of an account from the provider.
 *
 * @throws {ProviderUnavailableError}
 */
async function refresh(ports: PaymentPorts, row: repository.AccountRow): Promise<void> {
  const state = await providerOf(ports, row).accountState(row.provider_ref);
  await repository.updateAccount(ports.db, row.workspace_id, {
    charges_enabled: state.chargesEnabled,
    payouts_enabled: state.payoutsEnabled,
    details_submitted: state.detailsSubmitted,
    requirements_due: state.requirementsDue,
    country: state.country,
    checked_at: ports.clock.now(),
  });
}

/** Refreshes an incomplete account after a minute, because the event of its completion may be lost. */
async function upToDate(
  ports: PaymentPorts,
  row: repository.AccountRow | undefined,
): Promise<repository.AccountRow | undefined> {
  const { db, clock } = ports;
  if (row === undefined || (row.charges_enabled && row.payouts_enabled)) return row;
  if (clock.ms() - row.checked_at.getTime() < MINUTE_MS) return row;
  try {
    await refresh(ports, row);
  } catch (error) {
    if (!(error instanceof ProviderUnavailableError)) throw error;
    return row;
  }
  return repository.findAccount(db, row.workspace_id);
}

/**
 * Refreshes the account of a workspace, where it has one.
 *
 * @throws {AppError} SERVICE_UNAVAILABLE.
 */
export async function refreshOwn(ports: PaymentPorts, workspaceId: string): Promise<void> {
  const row = await repository.findAccount(ports.db, workspaceId);
  const name = await nameOf(ports, ports.db, workspaceId);
  if (row !== undefined && row.provider === name) await callProviderOrFail(() => refresh(ports, row));
}

export function createConnectAccounts(deps: Deps): ConnectAccounts {
  const { db, clock, providers } = deps;

  const chosen = async (workspaceId: string): Promise<PaymentProvider | null> => {
    const name = await nameOf(deps, db, workspaceId);
    return name === null ? null : providers[name];
  };
  const needed = async (workspaceId: string): Promise<PaymentProvider> => {
    const provider = await chosen(workspaceId);
    if (provider !== null) return provider;
    throw new AppError('CONFLICT', { message: 'Payments are not set up on this platform.' });
  };

  return {
    async refresh(name, accountRef) {
      const row = await repository.findAccountByRef(db, name, accountRef);
      if (row !== undefined) await refresh(deps, row);
    },
    async status(workspaceId) {
      const provider = await chosen(workspaceId);
      if (provider === null) return NOTHING;
      if (provider.name === 'SANDBOX') {
        const state = await provider.accountState('');
        return { provider: provider.name, connected: true, ...state };
      }
      const row = await upToDate(deps, await repository.findAccount(db, workspaceId));
      if (row?.provider !== provider.name) return { ...NOTHING, provider: provider.name };
      return {
        provider: provider.name,
        connected: true,
        chargesEnabled: row.charges_enabled,
        payoutsEnabled: row.payouts_enabled,
        detailsSubmitted: row.details_submitted,
        requirementsDue: row.requirements_due,
        country: row.country,
      };
    },
    async onboard({ workspaceId, email }) {
      const provider = await needed(workspaceId);
      return callProviderOrFail(async () => {
        const known = await repository.findAccount(db, workspaceId);
        const isKnown = known?.provider === provider.name;
        const made = isKnown ? known.provider_ref : await provider.createAccount({ workspaceId, email });
        const row = await repository.upsertAccount(db, {
          workspace_id: workspaceId,
          provider: provider.name,
          provider_ref: made,
          checked_at: clock.now(),
          created_at: clock.now(),
        });
        await refresh(deps, row);
        const page = `${deps.publicUrl}/dashboard/monetization/payouts`;
        return provider.onboardingLink({ accountRef: row.provider_ref, returnUrl: page, refreshUrl: page });
      });
    },
    async dashboard(workspaceId) {
      const provider = await needed(workspaceId);
      const row = await repository.findAccount(db, workspaceId);
      if (provider.name !== 'SANDBOX' && row?.provider !== provider.name) {
        throw new AppError('CONFLICT', { message: 'No payment account has been set up yet.' });
      }
      return callProviderOrFail(() => provider.dashboardLink(row?.provider_ref ?? ''));
    },
  };
}
