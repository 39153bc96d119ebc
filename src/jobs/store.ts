/**
 * The statements on pg-boss's `job` table. pg-boss makes and keeps the tables; the claim is ours because its own
 * knows no turns between groups, the rest because it must be fenced and part of a caller's transaction.
 *
 * States: `created` and `retry` wait, `active` runs, the others have ended. `retry_count` grows with each claim:
 * it is the fence that a run proves its claim with. `output` keeps the counts of a job that has had troubles.
 */

import { sql } from 'kysely';
import type { Db, Tx } from '../platform/db/index.ts';
import { lockNamed } from '../platform/db/named-lock.ts';

/** Finished jobs are kept so long for whoever looks into a failure. */
const KEEP_SEC = 3 * 86_400;
/** pg-boss ends jobs that run or wait for too long; ours may. */
const NEVER_SEC = 2 ** 31 - 1;
const TEN_YEARS_SEC = 315_360_000;
/** One job of a key at a time, waiting or running; the index of this policy also serves the queries here. */
const POLICY = 'exclusive';

export interface NewJob {
  queue: string;
  payload: object;
  priority: number;
  group: string | null;
  key: string;
  delaySec: number;
  retries: number;
}

/** One claim of a job. */
export interface Claim {
  queue: string;
  id: string;
  fence: number;
}

interface ClaimRow {
  id: string;
  data: unknown;
  group: string;
  fence: number;
  failed: number;
  lost: number;
}

export interface ClaimedJob extends Claim {
  payload: unknown;
  /** Empty for a job of no group. */
  group: string;
  failed: number;
  lost: number;
}

/** Adds nothing when a job with the key waits or runs. */
export async function insert(tx: Tx, job: NewJob): Promise<void> {
  if (await tryInsert(tx, job)) return;
  const options = { policy: POLICY, retryLimit: job.retries, deleteAfterSeconds: KEEP_SEC };
  await sql`select pgboss.create_queue(${job.queue}::text, ${JSON.stringify(options)}::jsonb)
    where not exists (select from pgboss.queue where name = ${job.queue})`.execute(tx);
  // Whoever made the queue: another transaction may have done so between the two statements.
  await tryInsert(tx, job);
}

/** @returns false when the key is taken, or the queue not made yet. */
async function tryInsert(tx: Tx, job: NewJob): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into pgboss.job (name, data, priority, group_id, singleton_key, policy, retry_limit, start_after, created_on,
      keep_until, expire_seconds, deletion_seconds)
    select q.name, ${JSON.stringify(job.payload)}::jsonb, ${job.priority}, ${job.group}, ${job.key}, q.policy,
      ${job.retries}, clock_timestamp() + make_interval(secs => ${job.delaySec}), clock_timestamp(),
      clock_timestamp() + make_interval(secs => ${TEN_YEARS_SEC}), ${NEVER_SEC}, ${KEEP_SEC}
    from pgboss.queue q where q.name = ${job.queue}
    on conflict do nothing`.execute(tx);
  return numAffectedRows === 1n;
}

/** @returns whether there was one. */
export async function cancel(tx: Tx, queue: string, key: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update pgboss.job set state = 'cancelled', completed_on = clock_timestamp()
    where name = ${queue} and coalesce(singleton_key, '') = ${key} and state <= 'active' and policy = ${sql.lit(POLICY)}`.execute(
    tx,
  );
  return (numAffectedRows ?? 0n) > 0n;
}

/** Those of the queues that have a job to be run now. */
export async function findDue(db: Db, queues: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select q.name from unnest(${[...queues]}::text[]) q (name) where exists (
      select from pgboss.job j where j.name = q.name and j.state < 'active' and not j.blocked
        and j.start_after <= clock_timestamp())`.execute(db);
  return rows.map(({ name }) => name);
}

/**
 * Takes the next job of a queue; null when none is due. The group whose turn it is comes first: each turn moves a
 * group on by 1 / (1 + priority), and one that has not waited before starts where the others are.
 *
 * @param busyGroups have as many as they may: their jobs wait.
 */
export async function claim(
  db: Db,
  queue: string,
  busyGroups: readonly string[] = [],
): Promise<ClaimedJob | null> {
  return db.transaction().execute(async (tx) => {
    // One claim after the other: two at once would see the same turn.
    await lockNamed(tx, `job ${queue}`);
    const { rows } = await sql<ClaimRow>`
      with now_at as (select coalesce(max(served_pass), 0) as pass from job_turn where queue = ${queue}),
      head as (
        select distinct on (coalesce(group_id, '')) id, coalesce(group_id, '') as group_id, priority, created_on
        from pgboss.job
        where name = ${queue} and state < 'active' and not blocked and start_after <= clock_timestamp()
          and coalesce(group_id, '') <> all(${[...busyGroups]}::text[])
        order by coalesce(group_id, ''), priority desc, created_on),
      pick as (
        select h.id, h.group_id, h.priority, greatest(t.next_pass, n.pass) as pass
        from head h cross join now_at n left join job_turn t on t.queue = ${queue} and t.group_id = h.group_id
        order by greatest(t.next_pass, n.pass), h.priority desc, h.created_on limit 1),
      turn as (
        insert into job_turn (queue, group_id, served_pass, next_pass)
        select ${queue}, group_id, pass, pass + 1.0 / (1 + greatest(priority, 0)) from pick
        on conflict (queue, group_id) do update
          set served_pass = excluded.served_pass, next_pass = excluded.next_pass)
      update pgboss.job j set state = 'active', started_on = clock_timestamp(), heartbeat_on = clock_timestamp(),
        retry_count = j.retry_count + (j.started_on is not null)::int
      from pick where j.name = ${queue} and j.id = pick.id and j.state < 'active'
      returning j.id, j.data, coalesce(j.group_id, '') as group, j.retry_count as fence,
        coalesce((j.output ->> 'failed')::int, 0) as failed, coalesce((j.output ->> 'lost')::int, 0) as lost`.execute(
      tx,
    );
    const row = rows[0];
    if (row === undefined) return null;
    const { id, data, group, fence, failed, lost } = row;
    return { queue, id, group, fence, payload: data, failed, lost };
  });
}

/** Groups that would start where the others are anyway. */
export async function forgetTurns(db: Db): Promise<void> {
  await sql`delete from job_turn t using (
      select queue, max(served_pass) as pass from job_turn group by queue) n
    where t.queue = n.queue and t.next_pass <= n.pass and t.served_pass < n.pass`.execute(db);
}

/** Renews the leases. @returns those that are still held, and those that were cancelled. */
export async function touch(
  db: Db,
  claims: readonly Claim[],
): Promise<{ held: Set<Claim>; cancelled: Set<Claim> }> {
  const { rows } = await sql<{ index: number; state: string }>`
    with given as (
      select * from unnest(${claims.map((one) => one.queue)}::text[], ${claims.map((one) => one.id)}::uuid[],
        ${claims.map((one) => one.fence)}::int[]) with ordinality g (name, id, fence, index)),
    touched as (
      update pgboss.job j set heartbeat_on = clock_timestamp() from given g
      where j.name = g.name and j.id = g.id and j.retry_count = g.fence and j.state = 'active'
      returning g.index)
    select g.index, case when g.index in (select index from touched) then 'held' else j.state::text end as state
    from given g join pgboss.job j on j.name = g.name and j.id = g.id`.execute(db);
  const of = (state: string) => {
    const found = new Set(rows.filter((row) => row.state === state).map(({ index }) => index));
    return new Set(claims.filter((_, i) => found.has(i + 1)));
  };
  return { held: of('held'), cancelled: of('cancelled') };
}

/** Locks the job's row. @returns whether the claim holds. */
export async function confirm(tx: Tx, { queue, id, fence }: Claim): Promise<boolean> {
  const { rows } = await sql`select 1 from pgboss.job
    where name = ${queue} and id = ${id} and state = 'active' and retry_count = ${fence} for no key update`.execute(
    tx,
  );
  return rows.length > 0;
}

/** How a try ended. */
export interface Outcome {
  state: 'completed' | 'failed' | 'retry';
  /** Until the next try. */
  delaySec?: number;
  /** Tries that count, and those that ended without a word. */
  failed: number;
  lost: number;
  error?: string;
}

/** @returns false when the claim did not hold any more: nothing was changed. */
export async function endRun(db: Db, { queue, id, fence }: Claim, outcome: Outcome): Promise<boolean> {
  const { state, delaySec = 0, ...rest } = outcome;
  const { numAffectedRows } = await sql`
    update pgboss.job set state = ${state}::pgboss.job_state, output = ${JSON.stringify(rest)}::jsonb,
      start_after = case when ${state} = 'retry' then clock_timestamp() + make_interval(secs => ${delaySec})
        else start_after end,
      completed_on = case when ${state} = 'retry' then null else clock_timestamp() end
    where name = ${queue} and id = ${id} and state = 'active' and retry_count = ${fence}`.execute(db);
  return numAffectedRows === 1n;
}

/**
 * Gives back the running jobs of these queues whose lease is over.
 *
 * @param leaseSec 0 gives back all of them.
 * @returns how many.
 */
export async function giveBackLost(db: Db, queues: readonly string[], leaseSec: number): Promise<number> {
  const { numAffectedRows } = await sql`
    update pgboss.job set state = 'retry', start_after = clock_timestamp(),
      output = jsonb_build_object('failed', coalesce((output ->> 'failed')::int, 0),
        'lost', coalesce((output ->> 'lost')::int, 0) + 1, 'error', 'its process was gone')
    where name = any(${[...queues]}::text[]) and state = 'active' and policy = ${sql.lit(POLICY)}
      and heartbeat_on <= clock_timestamp() - make_interval(secs => ${leaseSec})`.execute(db);
  return Number(numAffectedRows ?? 0n);
}

export interface QueueDepth {
  name: string;
  waiting: number;
  active: number;
}

/** Of the queues that ever had a job. */
export async function depths(db: Db): Promise<QueueDepth[]> {
  const { rows } = await sql<QueueDepth>`
    select q.name, count(j.id) filter (where j.state < 'active') as waiting,
      count(j.id) filter (where j.state = 'active') as active
    from pgboss.queue q left join pgboss.job j
      on j.name = q.name and j.state <= 'active' and j.policy = ${sql.lit(POLICY)}
    where q.policy = ${sql.lit(POLICY)} group by q.name`.execute(db);
  return rows;
}

/** Is there a queue whose due jobs nobody has taken for a minute, and in which nothing runs? */
export async function isUnattended(db: Db): Promise<boolean> {
  const { rows } = await sql`
    select 1 from pgboss.queue q where exists (
        select from pgboss.job j where j.name = q.name and j.state < 'active' and not j.blocked
          and j.start_after < clock_timestamp() - interval '1 minute')
      and not exists (
        select from pgboss.job j where j.name = q.name and j.state = 'active' and j.policy = ${sql.lit(POLICY)}
          and j.heartbeat_on > clock_timestamp() - interval '30 seconds')`.execute(db);
  return rows.length > 0;
}

/** Jobs whose payload names one of the ids are gone, also those that run: they cannot confirm what they did. */
export async function forgetNaming(db: Db, ids: readonly string[], exceptId: string): Promise<void> {
  const named = ids.map((id) => sql`strpos(data::text, ${id}) > 0 or group_id = ${id}`);
  await sql`delete from pgboss.job where id <> ${exceptId} and (${sql.join(named, sql` or `)})`.execute(db);
}
