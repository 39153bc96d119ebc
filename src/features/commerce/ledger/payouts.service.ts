import type { AppendEvent, Events } from '../../../events/index.ts';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import { AppError, badRequest } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { isSuspended, lockWorkspace } from '../../../platform/db/workspace.ts';
import { advancePayout, movementOf } from './payout-sync.service.ts';
import type { PayoutRow, PayoutStatus } from './payouts.repository.ts';
import * as repository from './payouts.repository.ts';
import type { Ledger } from './service.ts';

interface Deps {
  db: Db;
  events: Events;
  clock: Clock;
  ledger: Ledger;
  /**
   * Pays out the balance of a workspace at its own provider; null when there is none.
   *
   * @throws {AppError} as `start`.
   */
  startElsewhere(workspaceId: string, amountCents: number | null): Promise<PayoutRow | null>;
}

export interface PayoutRequest {
  workspaceId: string;
  /** Default: the whole balance. */
  amountCents?: number;
  outcome?: 'PAID' | 'FAILED';
}

/**
 * Payouts to the bank of a creator. Those of the sandbox are made here; those of Stripe are made there and
 * synced.
 */
export interface Payouts {
  list(
    workspaceId: string,
    statuses: readonly PayoutStatus[] | undefined,
    page: PageRequest,
  ): Promise<PayoutRow[]>;
  /**
   * Pays out immediately, regardless of the age of the balance. A payout that the sandbox's bank rejects
   * fails immediately.
   *
   * @throws {AppError} BAD_REQUEST for an unknown workspace, or more than the balance; CONFLICT where nothing
   *   can be paid out; SERVICE_UNAVAILABLE.
   */
  start(order: PayoutRequest): Promise<PayoutRow>;
  /**
   * Performs the sandbox's automatic payouts: once per UTC day, of balances two days old; payouts arrive a
   * day later.
   */
  run(): Promise<void>;
}

/** Minimum age of charges that the sandbox pays out. */
const AGE_MS = 2 * DAY_MS;
const TRANSIT_MS = DAY_MS;
const MAX_CENTS = 2_147_483_647;

export function createPayouts({ db, events, clock, ledger, startElsewhere }: Deps): Payouts {
  const send = async (tx: Tx, workspaceId: string, amountCents: number) => {
    const now = clock.now();
    const id = newId('pyo');
    const row = await repository.insertPayout(tx, {
      id,
      workspace_id: workspaceId,
      provider: 'SANDBOX',
      provider_ref: `sandbox_${id}`,
      amount_cents: amountCents,
      status: 'IN_TRANSIT',
      failure_code: null,
      arrival_at: dateFromMs(now.getTime() + TRANSIT_MS),
      created_at: now,
    });
    await ledger.record(tx, movementOf(row, 'PAYOUT', now));
    return row;
  };
  const arrive = async (tx: Tx, append: AppendEvent, row: PayoutRow) => {
    const change = { status: 'PAID', failure_code: null, arrival_at: row.arrival_at } as const;
    await advancePayout(tx, append, ledger.record, row, change, clock.now());
  };
  const comeBack = (tx: Tx, append: AppendEvent, row: PayoutRow) => {
    const change = { status: 'FAILED', failure_code: 'account_closed', arrival_at: null } as const;
    return advancePayout(tx, append, ledger.record, row, change, clock.now());
  };

  return {
    list: (workspaceId, statuses, page) => repository.listPayouts(db, workspaceId, statuses, page),

    async start({ workspaceId, amountCents, outcome }) {
      if (!(await repository.isWorkspace(db, workspaceId))) {
        throw badRequest('workspaceId', 'Workspace not found.');
      }
      await assertNotHeld(db, workspaceId);
      const elsewhere = outcome === 'FAILED' ? null : await startElsewhere(workspaceId, amountCents ?? null);
      if (elsewhere !== null) return elsewhere;
      return events.transaction(async (tx, append) => {
        await lockWorkspace(tx, workspaceId);
        await assertNotHeld(tx, workspaceId);
        const { cents } = await repository.readCreatorBalance(tx, workspaceId, 'SANDBOX', clock.now());
        if (cents <= 0) throw conflict('No balance available for payout.');
        if (amountCents !== undefined && amountCents > cents) {
          throw badRequest('amountCents', 'amountCents exceeds the available balance.');
        }
        const row = await send(tx, workspaceId, amountCents ?? Math.min(cents, MAX_CENTS));
        return outcome === 'FAILED' ? comeBack(tx, append, row) : row;
      });
    },

    async run() {
      const today = dateFromMs(Math.floor(clock.ms() / DAY_MS) * DAY_MS);
      for (const id of await repository.listDueArrivals(db, clock.now())) {
        await events.transaction(async (tx, append) => {
          const row = await repository.lockPayout(tx, id);
          if (row !== undefined) await arrive(tx, append, row);
        });
      }
      for (const workspaceId of await repository.findUnpaid(db, today)) {
        await events.transaction(async (tx) => {
          await lockWorkspace(tx, workspaceId);
          if (await repository.wasPaidSince(tx, workspaceId, today)) return;
          const ripe = dateFromMs(clock.ms() - AGE_MS);
          const balance = await repository.readCreatorBalance(tx, workspaceId, 'SANDBOX', ripe);
          const cents = balance.cents - balance.freshCents;
          if (cents > 0) await send(tx, workspaceId, Math.min(cents, MAX_CENTS));
        });
      }
    },
  };
}

async function assertNotHeld(db: Db, workspaceId: string): Promise<void> {
  if (await isSuspended(db, workspaceId))
    throw conflict('The account is suspended; its payouts are on hold.');
}

function conflict(message: string): AppError {
  return new AppError('CONFLICT', { field: 'workspaceId', message });
}
