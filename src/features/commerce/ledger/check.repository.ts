import { sql } from 'kysely';
import type { Db } from '../../../platform/db/index.ts';
import type { AccountKind, Provider } from './rules.ts';

/** Finds unbalanced transactions; the database rejects them, so there should be none. */
export async function findUnbalanced(db: Db): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select transaction_id as id from ledger_entry group by 1 having sum(amount_cents) <> 0 order by 1 limit 100`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

/** Movement that differs between the ledger and the payments; null where one of them has none. */
export interface LedgerMismatch {
  source: string;
  kind: string;
  bookedCents: number | null;
  paidCents: number | null;
}

/** Finds payments whose movements differ from the ledger, in one snapshot of both. */
export async function findMismatches(db: Db): Promise<LedgerMismatch[]> {
  const { rows } = await sql<LedgerMismatch>`
    with paid as (
      select id as source, type as kind, abs(amount_cents)::bigint as cents from payment
      where type in ('CHARGE', 'REFUND') and status = 'SUCCEEDED'
      union all
      select id, 'DISPUTE_OPENED', abs(amount_cents)::bigint from payment where type = 'DISPUTE'
      union all
      select id, 'DISPUTE_' || outcome, abs(amount_cents)::bigint from payment
      where type = 'DISPUTE' and outcome is not null
    ), booked as (
      select t.source, t.kind, coalesce(abs(sum(e.amount_cents) filter (
        where a.kind = case when t.kind in ('CHARGE', 'REFUND') then 'BUYERS' else 'DISPUTED' end)), 0)::bigint as cents
      from ledger_transaction t
        join workspace w on w.id = t.workspace_id
        left join ledger_entry e on e.transaction_id = t.id
        left join ledger_account a on a.id = e.account_id
      where t.sale_kind is not null
      group by t.id
    )
    select coalesce(paid.source, booked.source) as source, coalesce(paid.kind, booked.kind) as kind,
      booked.cents as "bookedCents", paid.cents as "paidCents"
    from paid full join booked on booked.source = paid.source and booked.kind = paid.kind
    where paid.cents is distinct from booked.cents order by 1, 2 limit 100`.execute(db);
  return rows;
}

/** Finds the IDs of payouts whose state differs from the ledger. */
export async function findMismatchedPayouts(db: Db): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select p.id from payout p,
      lateral (select coalesce(sum(e.amount_cents), 0) as cents, count(*) as entries
        from ledger_transaction t
          join ledger_entry e on e.transaction_id = t.id
          join ledger_account a on a.id = e.account_id and a.kind = 'PAID_OUT'
        where t.source = p.id) booked
    where booked.cents <> case when p.currency = 'USD' and p.status not in ('FAILED', 'CANCELED')
        then p.amount_cents else 0 end
      or (p.currency = 'USD' and booked.entries = 0)
    order by 1 limit 100`.execute(db);
  return rows.map(({ id }) => id);
}

export interface ProviderBalance {
  workspaceId: string;
  bookedCents: number;
  heldCents: number;
}

/**
 * Finds workspaces whose sandbox balance, by the sandbox's own record, differs from the ledger; those with a
 * pending payment or provider event are left out.
 */
export async function findMismatchedBalances(db: Db): Promise<ProviderBalance[]> {
  const { rows } = await sql<ProviderBalance>`
    with held as (
      select workspace_id, sum(case when dispute_status in ('OPEN', 'LOST') then 0
        else amount_cents - refunded_cents end)::bigint as cents
      from sandbox_payment where status = 'SUCCEEDED' group by 1
    ), gone as (
      select workspace_id, sum(amount_cents)::bigint as cents from payout
      where provider = 'SANDBOX' and status not in ('FAILED', 'CANCELED') group by 1
    ), booked as (
      select a.workspace_id, sum(e.amount_cents)::bigint as cents
      from ledger_account a join ledger_entry e on e.account_id = a.id
      where a.provider = 'SANDBOX' and a.kind in ('CREATOR', 'FEES') group by 1
    )
    select w.id as "workspaceId", coalesce(booked.cents, 0)::bigint as "bookedCents",
      (coalesce(held.cents, 0) - coalesce(gone.cents, 0))::bigint as "heldCents"
    from workspace w
      left join held on held.workspace_id = w.id
      left join gone on gone.workspace_id = w.id
      left join booked on booked.workspace_id = w.id
    where coalesce(booked.cents, 0) <> coalesce(held.cents, 0) - coalesce(gone.cents, 0)
      and not exists (select from payment where workspace_id = w.id and status = 'PENDING'
        and type <> 'DISPUTE')
      and not exists (select from provider_event where provider = 'SANDBOX' and handled_at is null)
    order by 1 limit 100`.execute(db);
  return rows;
}

/** Returns the account balances of a workspace; empty accounts are omitted. */
export async function readBalances(
  db: Db,
  workspaceId: string,
): Promise<{ provider: Provider; kind: AccountKind; cents: number }[]> {
  const { rows } = await sql<{ provider: Provider; kind: AccountKind; cents: number }>`
    select provider, kind, sum(amount_cents)::bigint as cents
    from ledger_account join ledger_entry on account_id = id
    where workspace_id = ${workspaceId} group by 1, 2 having sum(amount_cents) <> 0 order by 1, 2`.execute(
    db,
  );
  return rows;
}
