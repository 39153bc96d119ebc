import { dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS, HOUR_MS } from '../../../kernel/durations.ts';
import { AppError, badRequest } from '../../../kernel/errors.ts';
import { newUuid } from '../../../kernel/ids.ts';
import type { ProviderPayout } from '../ledger/index.ts';
import * as accounts from './accounts.repository.ts';
import type { PaymentPorts } from './ports.ts';
import { providerOf } from './provider-selection.ts';
import { type ObjectHandle, type ProviderName, ProviderUnavailableError } from './providers/provider.ts';
import { callProviderOrFail } from './settle.service.ts';

type Mirrored = Awaited<ReturnType<PaymentPorts['ledger']['mirrorPayout']>>;

/** Payouts that a provider makes from the accounts of creators, synced to the ledger. */
export interface PayoutService {
  /** Syncs a payout named by a provider event; payouts of unknown or former accounts are ignored. */
  follow(provider: ProviderName, object: ObjectHandle): Promise<void>;
  /** Syncs payouts whose events were lost; each account is checked once per hour. Called by the worker. */
  sweep(): Promise<void>;
  /**
   * Pays out now what the provider holds for a workspace.
   *
   * @param amountCents null: all that can be paid out.
   * @returns null where the workspace has no account with a provider of its own.
   * @throws {AppError} BAD_REQUEST, field `amountCents`; CONFLICT, field `workspaceId`; SERVICE_UNAVAILABLE.
   */
  start(workspaceId: string, amountCents: number | null): Promise<Mirrored | null>;
}

const BATCH = 50;
const PAUSE_MS = HOUR_MS;
/** Time within which a bank may return a payout. */
const BACK_MS = 14 * DAY_MS;

export function createPayoutService(ports: PaymentPorts): PayoutService {
  const { db, clock, events, ledger } = ports;
  const mirror = (payout: ProviderPayout) =>
    events.transaction((tx, append) => ledger.mirrorPayout(tx, append, payout));
  return {
    async follow(name, object) {
      const account = await accounts.findAccountByRef(db, name, object.accountRef ?? '');
      if (account === undefined) return;
      const payout = await providerOf(ports, account).fetchPayout(object);
      if (payout === null) return;
      await mirror({ workspaceId: account.workspace_id, provider: name, ref: object.ref, ...payout });
    },
    async sweep() {
      const now = clock.now();
      const due = await accounts.listUnseen(db, dateFromMs(now.getTime() - PAUSE_MS), BATCH);
      for (const account of due) {
        const { provider, workspace_id: workspaceId, provider_ref: accountRef } = account;
        const since = dateFromMs(now.getTime() - BACK_MS);
        const shown = await providerOf(ports, account).payoutsSince(accountRef, since).catch(noneWhileDown);
        if (shown === null) return;
        for (const payout of shown) await mirror({ workspaceId, provider, ...payout });
        await accounts.updateAccount(db, workspaceId, { payouts_synced_at: now });
      }
    },
    async start(workspaceId, amountCents) {
      const account = await accounts.findAccount(db, workspaceId);
      if (account === undefined || account.provider === 'SANDBOX') return null;
      const provider = providerOf(ports, account);
      const { provider_ref: accountRef } = account;
      // If the response is lost, `sweep` finds the payout.
      const key = `payout:${newUuid()}`;
      const answer = await callProviderOrFail(() => provider.payOut({ key, accountRef, amountCents }));
      if (answer.status === 'TOO_MUCH') {
        throw badRequest('amountCents', 'amountCents exceeds the available balance.');
      }
      if (answer.status === 'REFUSED') {
        throw new AppError('CONFLICT', { field: 'workspaceId', message: answer.message });
      }
      return mirror({ workspaceId, provider: provider.name, ...answer.payout });
    },
  };
}

function noneWhileDown(error: unknown): null {
  if (error instanceof ProviderUnavailableError) return null;
  throw error;
}
