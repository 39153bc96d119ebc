import { sql } from 'kysely';
import { dateFromMs } from '../../../../kernel/clock.ts';
import type { Db, Tx } from '../../../../platform/db/index.ts';
import { CUSTOM_PLAN } from '../../../../platform/db/page.ts';
import type {
  DeliveryLogStatus as DeliveryStatus,
  DeliveryLogTrigger as DeliveryTrigger,
} from '../../../../platform/db/tables.generated.ts';

// The queue of all workspaces: the one place where a query does not begin with a workspace.

export interface DueWork {
  /** Webhooks that have a job to be claimed now. */
  due: string[];
  /** Milliseconds until the next job becomes due, or until the first lease ends; null when there is none. */
  nextInMs: number | null;
}

/**
 * Looks at the first job of each webhook only (a loose index scan), so a long backlog of one costs nothing.
 */
export async function findDue(db: Db): Promise<DueWork> {
  const { rows } = await sql<DueWork>`
    with recursive head (webhook_id, next_at) as (
      (select webhook_id, next_at from delivery_job order by webhook_id, next_at limit 1)
      union all
      select n.webhook_id, n.next_at from head cross join lateral (
        select j.webhook_id, j.next_at from delivery_job j where j.webhook_id > head.webhook_id
        order by j.webhook_id, j.next_at limit 1) n)
    select coalesce(array_agg(webhook_id) filter (where next_at <= c.now), '{}') as "due",
      (extract(epoch from min(next_at) filter (where next_at > c.now) - min(c.now)) * 1000)::float8 as "nextInMs"
    from head cross join (select clock_timestamp() as now) c`.execute(db);
  return rows[0] ?? { due: [], nextInMs: null };
}

export interface ClaimedJob {
  id: number;
  lease: number;
  webhookId: string;
  eventId: string;
  trigger: DeliveryTrigger;
  /** Attempts finished before this one. */
  attempt: number;
  /** Null when the webhook was deleted. */
  url: string | null;
  secret: Uint8Array | null;
  isActive: boolean | null;
  /** Type and body of the event; null when the event is older than the retention. */
  eventType: string | null;
  body: string | null;
}

/** Maximum jobs of one webhook to claim. */
export interface Slot {
  webhookId: string;
  cap: number;
}

type ClaimedRow = ClaimedJob & {
  /** When its event was made, to the microsecond; null when that was read with it. */
  eventAt: string | null;
  eventMs: number | null;
};

/**
 * All retries have ended by then (docs/decisions/events-and-deliveries.md#the-retry-schedule): older jobs are
 * replays, or have waited for a process.
 */
const RECENT = sql`(now() - interval '26 hours')`;

/**
 * Takes due jobs of the given webhooks, earliest first, under a lease, whose number is odd from here to the
 * finish. Other workers pass over them. The
 * number of attempts stays as it is until the attempt is finished, so a crash eats none of the seven.
 */
export async function claim(db: Db, slots: readonly Slot[], leaseSec: number): Promise<ClaimedJob[]> {
  const taken = await take(db, slots, leaseSec);
  const old = await eventsOf(db, taken);
  if (old.length === 0) return taken;
  const events = new Map(old.map((event) => [event.id, event]));
  return taken.map((job) => {
    if (job.eventAt === null) return job;
    const { type: eventType = null, body = null } = events.get(job.eventId) ?? {};
    return { ...job, eventType, body };
  });
}

/** With the events of the last day: the statement names it, so that it opens no more partitions. */
async function take(db: Db, slots: readonly Slot[], leaseSec: number): Promise<ClaimedRow[]> {
  const ids = slots.map((slot) => slot.webhookId);
  const caps = slots.map((slot) => slot.cap);
  // The time is a sub-select: a bare clock_timestamp() could not bound the index scan. The IDs are an array:
  // for a join the planner, which cannot know how few they are, would read the whole table. The slots are
  // sub-selects: with the actual number the plan would seem better than the generic one, and be computed each
  // time.
  const { rows } = await sql<ClaimedRow>`
    with claimed as (
      update delivery_job j
      set next_at = clock_timestamp() + make_interval(secs => ${leaseSec}::int),
        lease = j.lease + 1 + (j.lease & 1)
      where j.id = any (array(
        select x.id from unnest((select ${ids}::text[]), (select ${caps}::int[])) as slot (webhook_id, cap)
        cross join lateral (
          select j.id from delivery_job j
          where j.webhook_id = slot.webhook_id and j.next_at <= (select clock_timestamp())
          order by j.next_at limit slot.cap for update skip locked) x))
      returning j.id, j.lease, j.webhook_id, j.event_id, j.event_created_at, j.trigger, j.attempt)
    select c.id, c.lease, c.webhook_id as "webhookId", c.event_id as "eventId", c.trigger, c.attempt,
      w.url, w.secret, w.is_active as "isActive", e.type as "eventType", e.body,
      o.at::text as "eventAt", floor(extract(epoch from o.at) * 1000)::float8 as "eventMs"
    from claimed c
    cross join lateral (select case when c.event_created_at < ${RECENT} then c.event_created_at end as at) o
    left join webhook w on w.id = c.webhook_id
    left join lateral (
      select type, body from event
      where id = c.event_id and created_at = c.event_created_at and created_at >= ${RECENT} limit 1) e on true
    order by c.id`.execute(db);
  return rows;
}

/** By a statement of its own, which knows between which times they are: it opens the partitions of these days. */
async function eventsOf(
  db: Db,
  jobs: readonly ClaimedRow[],
): Promise<{ id: string; type: string; body: string }[]> {
  const old = jobs.flatMap(({ eventId: id, eventAt: at, eventMs: ms }) =>
    at === null || ms === null ? [] : [{ id, at, ms }],
  );
  if (old.length === 0) return [];
  const times = old.map(({ ms }) => ms);
  const [low, high] = [dateFromMs(Math.min(...times)), dateFromMs(Math.max(...times) + 1)];
  const { rows } = await sql<{ id: string; type: string; body: string }>`
    ${CUSTOM_PLAN} select e.id, e.type, e.body
    from unnest(${old.map(({ id }) => id)}::uuid[], ${old.map(({ at }) => at)}::timestamptz[])
      as wanted (id, at)
    cross join lateral (
      select id, type, body from event
      where id = wanted.id and created_at = wanted.at and created_at >= ${low} and created_at <= ${high} offset 0) e`.execute(
    db,
  );
  return rows;
}

/** The end of one claim. */
export interface Finish {
  job: number;
  lease: number;
  /** Null removes the job without a trace: its webhook or its event is gone. */
  log: FinishLog | null;
  /** Seconds until the next attempt, null when there is none. */
  retrySec: number | null;
}

export interface FinishLog {
  id: string;
  eventType: string;
  status: DeliveryStatus;
  responseStatus: number | null;
  responseBody: string | null;
  latencyMs: number | null;
  errorMessage: string | null;
  /** ISO 8601: when the attempt ended. */
  at: string;
}

export interface Finished {
  job: number;
  workspaceId: string;
  /** Something was dialled, or was to be. */
  isAttempt: boolean;
  at: Date | null;
}

/**
 * Writes the log rows and the counters, and removes or reschedules the jobs, in one statement. A job whose
 * lease was lost is left unchanged. Running it again with identical input is idempotent. Rows are locked by
 * ID, jobs before webhooks, as in `deleteWebhook`, so that no deadlock occurs. An attempt whose webhook has
 * been deleted leaves no row in the log.
 *
 * @returns the jobs that this process still held.
 */
export async function finish(db: Db, batch: readonly Finish[]): Promise<Finished[]> {
  const input = JSON.stringify(batch.map(toInput));
  const jobs = batch.map(({ job }) => job);
  const { rows } = await sql<Finished>`
    with done as materialized (
      select j.id as job, j.workspace_id, j.webhook_id, j.event_id, j.trigger, j.replay_of,
        j.attempt + 1 as attempt, x.id, x."eventType", x.status, x."responseStatus", x."responseBody", x."latencyMs", x."errorMessage",
        x."at", clock_timestamp() + make_interval(secs => x."retrySec") as next_at
      from json_to_recordset(${input}::json) as x (job bigint, lease int, id text, "eventType" text,
        status text, "responseStatus" int, "responseBody" text, "latencyMs" int, "errorMessage" text,
        "at" timestamptz, "retrySec" float8)
      join delivery_job j on j.id = x.job and j.lease = x.lease
      where j.id = any (${jobs}::bigint[])
      order by j.id for update of j),
    locked as materialized (
      select id from webhook where id = any (array(select webhook_id from done))
      order by id for no key update),
    logged as (
      insert into delivery_log (id, workspace_id, webhook_id, event_id, event_type, trigger, attempt, status,
        response_status, response_body, latency_ms, error_message, next_attempt_at, replay_of, created_at)
      select id, workspace_id, webhook_id, event_id, "eventType", trigger, attempt, status,
        "responseStatus", "responseBody", "latencyMs", "errorMessage", next_at, replay_of, "at"
      from done where id is not null and webhook_id in (select id from locked)),
    removed as (delete from delivery_job where id = any (array(select job from done where next_at is null))),
    again as (
      update delivery_job j set attempt = done.attempt, next_at = done.next_at, lease = j.lease + 1
      from done where j.id = done.job and done.next_at is not null),
    ranked as (
      select webhook_id, status = 'SUCCESS' as success, "responseStatus", "latencyMs", "at",
        row_number() over (partition by webhook_id order by "at", job) as n
      from done where status in ('SUCCESS', 'FAILED', 'EXHAUSTED')),
    summary as (
      select webhook_id, count(*) as total, count(*) filter (where success) as successes,
        count(*) - coalesce(max(n) filter (where success), 0) as trailing_failures,
        max("at") filter (where success) as last_success, max("at") filter (where not success) as last_failure,
        min("at") filter (where not success) as first_failure,
        (array_agg("responseStatus" order by n desc))[1] as last_status,
        coalesce(sum("latencyMs") filter (where "responseStatus" is not null), 0) as latency_ms,
        count(*) filter (where "responseStatus" is not null) as answers
      from ranked group by webhook_id),
    counted as (
      update webhook w set
        total_deliveries = w.total_deliveries + s.total,
        success_count = w.success_count + s.successes,
        failure_count = w.failure_count + s.total - s.successes,
        consecutive_failures = s.trailing_failures
          + case when s.successes > 0 then 0 else w.consecutive_failures end,
        failing_since = case when s.trailing_failures = 0 then null
          when s.successes > 0 then s.last_failure else coalesce(w.failing_since, s.first_failure) end,
        failing_notified_at = case when s.successes > 0 then null else w.failing_notified_at end,
        last_success_at = greatest(w.last_success_at, s.last_success),
        last_failure_at = greatest(w.last_failure_at, s.last_failure),
        last_status = s.last_status,
        latency_total_ms = w.latency_total_ms + s.latency_ms,
        latency_count = w.latency_count + s.answers
      from summary s where w.id = s.webhook_id and w.id = any (array(select id from locked)))
    select job, workspace_id as "workspaceId", "at",
      coalesce(status in ('SUCCESS', 'FAILED', 'EXHAUSTED'), false) as "isAttempt"
    from done`.execute(db);
  return rows;
}

/** Every field is listed because this runs for each delivery; missing fields become null. */
function toInput({ job, lease, retrySec, log }: Finish) {
  if (log === null) return { job, lease };
  const { id, eventType, at, status, responseStatus, responseBody, latencyMs, errorMessage } = log;
  return {
    job,
    lease,
    id,
    eventType,
    at,
    status,
    responseStatus,
    responseBody,
    latencyMs,
    errorMessage: errorMessage ?? undefined,
    retrySec: retrySec ?? undefined,
  };
}

/** Vacuums the ended jobs, unless another vacuum is running. */
export async function vacuum(db: Db): Promise<void> {
  await sql`vacuum (skip_locked, truncate false) delivery_job`.execute(db);
}

/** Releases claimed jobs immediately, for a worker that stops before their attempts ended. */
export async function release(db: Db, jobs: readonly { id: number; lease: number }[]): Promise<void> {
  const ids = jobs.map((job) => job.id);
  const leases = jobs.map((job) => job.lease);
  await sql`
    update delivery_job j set next_at = clock_timestamp(), lease = j.lease + 1
    from unnest(${ids}::bigint[], ${leases}::int[]) as x (id, lease)
    where j.id = x.id and j.lease = x.lease`.execute(db);
}

/**
 * Gives every claimed job back: for the first process on a database that no other worker uses, after one that
 * was killed. Elsewhere the leases end by themselves.
 */
export async function releaseAllClaims(db: Db): Promise<void> {
  await sql`update delivery_job set next_at = clock_timestamp(), lease = lease + 1 where lease % 2 = 1`.execute(
    db,
  );
}

/** One job for each active webhook of the workspace that subscribes to the type, but for `except`. */
export async function enqueue(
  tx: Tx,
  event: { id: string; workspaceId: string; createdAt: Date },
  patterns: string[],
  except: string | null,
): Promise<void> {
  await sql`
    insert into delivery_job (workspace_id, webhook_id, event_id, event_created_at)
    select workspace_id, id, ${event.id}::uuid, ${event.createdAt}::timestamptz from webhook
    where workspace_id = ${event.workspaceId} and is_active
      and (events = '{}' or events && ${patterns}::text[])
      and id is distinct from ${except}::text`.execute(tx);
}

export interface SingleJob {
  workspaceId: string;
  webhookId: string;
  eventId: string;
  eventCreatedAt: Date;
  trigger: 'TEST' | 'REPLAY';
  replayOf: string | null;
  leaseSec: number;
}

/**
 * Inserts a job already claimed for the caller, who performs the attempt itself: a worker performs it only
 * when the caller dies.
 */
export async function insertClaimed(tx: Tx, job: SingleJob): Promise<{ id: number; lease: number }> {
  const { rows } = await sql<{ id: number; lease: number }>`
    insert into delivery_job (workspace_id, webhook_id, event_id, event_created_at, trigger, replay_of, lease,
      next_at)
    values (${job.workspaceId}, ${job.webhookId}, ${job.eventId}::uuid, ${job.eventCreatedAt}::timestamptz,
      ${job.trigger}, ${job.replayOf}, 1, clock_timestamp() + make_interval(secs => ${job.leaseSec}::int))
    returning id, lease`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error('the job was not inserted');
  return row;
}

export interface WaitingJob {
  workspaceId: string;
  eventId: string;
  eventType: string;
  trigger: DeliveryTrigger;
  attempt: number;
}

/** Removes what waits for an attempt of this webhook; attempts under way are left to end. */
export async function deletePendingJobs(
  tx: Tx,
  workspaceId: string,
  webhookId: string,
): Promise<WaitingJob[]> {
  const { rows } = await sql<WaitingJob>`
    with waiting as materialized (
      select id from delivery_job
      where workspace_id = ${workspaceId} and webhook_id = ${webhookId} and lease & 1 = 0
      order by id for update skip locked),
    taken as (delete from delivery_job j using waiting w where j.id = w.id returning j.*)
    select t.workspace_id as "workspaceId", t.event_id as "eventId", e.type as "eventType", t.trigger, t.attempt
    from taken t join event e on e.id = t.event_id and e.created_at = t.event_created_at
    order by t.id`.execute(tx);
  return rows;
}

/** Returns the current data of a webhook that was changed after the claim. */
export async function currentTarget(
  db: Db,
  webhookId: string,
): Promise<{ url: string; secret: Uint8Array; isActive: boolean } | undefined> {
  const { rows } = await sql<{ url: string; secret: Uint8Array; isActive: boolean }>`
    select url, secret, is_active as "isActive" from webhook where id = ${webhookId}`.execute(db);
  return rows[0];
}
