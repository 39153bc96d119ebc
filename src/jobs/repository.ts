/**
 * All SQL of the tables `job` and `job_turn`.
 *
 * A job is `waiting`, `active` (claimed by a worker that renews its lease), or has ended as `completed`, `failed` or
 * `canceled`. Each claim increments `fence`; a run proves with it that it still holds the job.
 */
import { sql } from 'kysely';
import { advisoryLock } from '../platform/db/advisory-lock.ts';
import type { Db, Tx } from '../platform/db/index.ts';

const RETENTION_DAYS = 3;

export interface NewJob {
  queue: string;
  payload: object;
  priority: number;
  /** Empty for a job without a group. */
  group: string;
  key: string | null;
  delaySec: number;
}

/** One claim of a job. */
export interface Claim {
  queue: string;
  id: string;
  fence: number;
}

export interface ClaimedJob extends Claim {
  payload: unknown;
  group: string;
  failed: number;
  lost: number;
}

/** Inserts the job, unless one with its key waits or runs. */
export async function insert(tx: Tx, job: NewJob): Promise<void> {
  const { queue, payload, priority, group, key, delaySec } = job;
  await sql`
    insert into job (name, payload, priority, group_id, singleton_key, run_after)
    values (${queue}, ${JSON.stringify(payload)}::jsonb, ${priority}, ${group}, ${key},
      clock_timestamp() + make_interval(secs => ${delaySec}))
    on conflict do nothing`.execute(tx);
}

/** Cancels the job with the key and reports whether there was one. */
export async function cancel(tx: Tx, queue: string, key: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update job set state = 'canceled', ended_at = clock_timestamp()
    where name = ${queue} and singleton_key = ${key} and state in ('waiting', 'active')`.execute(tx);
  return numAffectedRows === 1n;
}

/** Returns the queues that have a due job. */
export async function findDue(db: Db, queues: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select q.name from unnest(${[...queues]}::text[]) q (name) where exists (
      select from job j
      where j.name = q.name and j.state = 'waiting' and j.run_after <= clock_timestamp())`.execute(db);
  return rows.map(({ name }) => name);
}

/**
 * Claims the next due job of a queue, or returns null.
 *
 * Groups take turns by stride scheduling: a turn advances a group by 1 / (1 + priority), the group that is least
 * advanced is next, and a group without a position starts at the current one. The recursive query reads one index
 * entry per group, however many jobs a group has.
 *
 * @param busyGroups Groups that run as many jobs as they may.
 */
export async function claim(
  db: Db,
  queue: string,
  busyGroups: readonly string[] = [],
): Promise<ClaimedJob | null> {
  return db.transaction().execute(async (tx) => {
    // Two concurrent claims would serve the same turn.
    await advisoryLock(tx, `job ${queue}`);
    const { rows } = await sql<ClaimedJob>`
      with recursive groups (group_id) as (
        select min(group_id) from job where name = ${queue} and state = 'waiting'
        union all
        select (select min(j.group_id) from job j
          where j.name = ${queue} and j.state = 'waiting' and j.group_id > g.group_id)
        from groups g where g.group_id is not null),
      current as (select coalesce(max(served_pass), 0) as pass from job_turn where queue = ${queue}),
      pick as (
        select head.*, greatest(t.next_pass, c.pass) as pass
        from groups g
        cross join current c
        cross join lateral (
          select id, group_id, priority, created_at from job j
          where j.name = ${queue} and j.state = 'waiting' and j.group_id = g.group_id
            and j.run_after <= clock_timestamp()
          order by j.priority desc, j.created_at limit 1) head
        left join job_turn t on t.queue = ${queue} and t.group_id = g.group_id
        where g.group_id <> all(${[...busyGroups]}::text[])
        order by greatest(t.next_pass, c.pass), head.priority desc, head.created_at limit 1),
      turn as (
        insert into job_turn (queue, group_id, served_pass, next_pass)
        select ${queue}, group_id, pass, pass + 1.0 / (1 + greatest(priority, 0)) from pick
        on conflict (queue, group_id) do update
          set served_pass = excluded.served_pass, next_pass = excluded.next_pass)
      update job set state = 'active', heartbeat_at = clock_timestamp(), fence = fence + 1
      from pick where job.id = pick.id and job.state = 'waiting'
      returning job.id, job.name as queue, job.group_id as group, job.payload, job.fence, job.failed_count as failed,
        job.lost_count as lost`.execute(tx);
    return rows[0] ?? null;
  });
}

/** Deletes the positions of groups that would start at the current one anyway. */
export async function pruneGroupTurns(db: Db): Promise<void> {
  await sql`delete from job_turn t using (
      select queue, max(served_pass) as pass from job_turn group by queue) n
    where t.queue = n.queue and t.next_pass <= n.pass and t.served_pass < n.pass`.execute(db);
}

/** Renews the leases and returns the claims that are still held and those that were canceled. */
export async function renewLeases(
  db: Db,
  claims: readonly Claim[],
): Promise<{ held: Set<Claim>; canceled: Set<Claim> }> {
  const { rows } = await sql<{ index: number; state: string }>`
    with claim as (
      select * from unnest(${claims.map(({ id }) => id)}::uuid[], ${claims.map(({ fence }) => fence)}::int[])
        with ordinality c (id, fence, index)),
    renewed as (
      update job j set heartbeat_at = clock_timestamp() from claim c
      where j.id = c.id and j.fence = c.fence and j.state = 'active'
      returning c.index)
    select c.index, case when c.index in (select index from renewed) then 'held' else j.state end as state
    from claim c join job j on j.id = c.id`.execute(db);
  const claimsIn = (state: string) =>
    new Set(claims.filter((_, i) => rows.some((row) => row.index === i + 1 && row.state === state)));
  return { held: claimsIn('held'), canceled: claimsIn('canceled') };
}

/** Locks the job's row and reports whether the claim still holds. */
export async function lockClaim(tx: Tx, { id, fence }: Claim): Promise<boolean> {
  const { rows } = await sql`
    select 1 from job where id = ${id} and state = 'active' and fence = ${fence} for no key update`.execute(
    tx,
  );
  return rows.length > 0;
}

/** Result of an attempt: the job's next state, and what the row records of its attempts. */
export interface Outcome {
  state: 'completed' | 'failed' | 'waiting';
  /** Pause before the next attempt. */
  delaySec?: number;
  failed: number;
  lost: number;
  error?: string;
}

/** Ends an attempt. Returns false and changes nothing when the claim no longer holds. */
export async function finishRun(db: Db, { id, fence }: Claim, outcome: Outcome): Promise<boolean> {
  const { state, delaySec = 0, failed, lost, error = null } = outcome;
  const isWaiting = state === 'waiting';
  const { numAffectedRows } = await sql`
    update job set state = ${state}, failed_count = ${failed}, lost_count = ${lost}, error = ${error},
      run_after = case when ${isWaiting} then clock_timestamp() + make_interval(secs => ${delaySec}) else run_after end,
      ended_at = case when ${isWaiting} then null else clock_timestamp() end
    where id = ${id} and state = 'active' and fence = ${fence}`.execute(db);
  return numAffectedRows === 1n;
}

/**
 * Requeues active jobs whose lease has expired and returns their number.
 *
 * @param leaseSec 0 requeues every active job.
 */
export async function requeueExpired(db: Db, leaseSec: number): Promise<number> {
  const { numAffectedRows } = await sql`
    update job set state = 'waiting', run_after = clock_timestamp(), lost_count = lost_count + 1,
      error = 'The process that ran the job disappeared.'
    where state = 'active' and heartbeat_at <= clock_timestamp() - make_interval(secs => ${leaseSec})`.execute(
    db,
  );
  return Number(numAffectedRows ?? 0n);
}

export interface QueueDepth {
  name: string;
  waiting: number;
  active: number;
}

/** Counts the waiting and the active jobs of each queue. */
export async function depths(db: Db, queues: readonly string[]): Promise<QueueDepth[]> {
  const { rows } = await sql<QueueDepth>`
    select q.name,
      (select count(*) from job where name = q.name and state = 'waiting') as waiting,
      (select count(*) from job where name = q.name and state = 'active') as active
    from unnest(${[...queues]}::text[]) q (name)`.execute(db);
  return rows;
}

/** Reports whether a queue has jobs that have been due for a minute, and no worker that runs one of its jobs. */
export async function hasStalledQueue(db: Db): Promise<boolean> {
  const { rows } = await sql`
    select 1 from job w
    where w.state = 'waiting' and w.run_after < clock_timestamp() - interval '1 minute'
      and not exists (
        select from job a where a.name = w.name and a.state = 'active'
          and a.heartbeat_at > clock_timestamp() - interval '30 seconds')
    limit 1`.execute(db);
  return rows.length > 0;
}

/** Deletes jobs that ended longer ago than the retention. */
export async function deleteEnded(db: Db): Promise<void> {
  await sql`delete from job
    where ended_at < now() - make_interval(days => ${RETENTION_DAYS})`.execute(db);
}

/** Deletes jobs whose payload or group names one of the IDs, including active ones, which can no longer confirm. */
export async function deleteJobsReferencing(db: Db, ids: readonly string[], exceptId: string): Promise<void> {
  const isNamed = ids.map((id) => sql`strpos(payload::text, ${id}) > 0 or group_id = ${id}`);
  await sql`delete from job where id <> ${exceptId} and (${sql.join(isNamed, sql` or `)})`.execute(db);
}
