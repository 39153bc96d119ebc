import type { Sql } from 'postgres';
import { type Clock, dateFromMs } from '../../kernel/clock.ts';
import { newUuid } from '../../kernel/ids.ts';
import type { Secrets } from '../secrets.ts';
import { deadlineOf } from './deadline.ts';
import { type Claim, type IdempotentOutcome, isSameBody, type StoredResponse } from './idempotent.ts';

export type LeasedRun = (idempotentRunId: string) => Promise<StoredResponse>;

/** Longer than any handler takes; after a crash, a repetition runs after this. */
const LEASE_MS = 30_000;
const RETENTION_MS = 24 * 3_600_000;

/**
 * Claims a key that is new, expired or without a running request. The operation continues under its ID,
 * unless another body uses the key after a run that ended without a response. A run that never ended blocks
 * other bodies, since its effects are unknown.
 */
const LEASE = `
  insert into idempotency_record as held (id, workspace_id, fingerprint, expires_at, leased_until, operation_id)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (id) do update set
    fingerprint = excluded.fingerprint, status = null, body = null,
    expires_at = excluded.expires_at, leased_until = excluded.leased_until,
    operation_id = case when held.expires_at > $7 and held.fingerprint in (excluded.fingerprint, $8)
      then coalesce(held.operation_id, excluded.operation_id) else excluded.operation_id end
  where held.expires_at <= $7 or (held.status is null and (
    held.leased_until is null or (held.leased_until <= $7 and held.fingerprint in (excluded.fingerprint, $8))))
  returning operation_id`;
const FINGERPRINT = 'select fingerprint from idempotency_record where id = $1';
const ANSWER = `
  update idempotency_record set status = $3, body = $4, leased_until = null, expires_at = $5
  where id = $1 and operation_id = $2 and status is null`;
const FREE = `
  update idempotency_record set leased_until = null
  where id = $1 and operation_id = $2 and status is null and leased_until = $3`;

interface Options {
  sql: Sql;
  clock: Clock;
  secrets: Pick<Secrets, 'encrypt'>;
}

/** Runs that hold no transaction (docs/decisions/idempotency.md#leases). */
export function createLeasedRecords({ sql, clock, secrets }: Options) {
  const { answerOf } = deadlineOf(sql);
  const take = async ({ id, request }: Claim, until: Date): Promise<string | null> => {
    const now = clock.now();
    const expiresAt = dateFromMs(now.getTime() + RETENTION_MS);
    const { workspaceId, fingerprint, legacyFingerprint } = request;
    const parameters = [id, workspaceId, fingerprint, expiresAt, until, newUuid(), now, legacyFingerprint];
    const lease = sql.unsafe<{ operation_id: string }[]>(LEASE, parameters, { prepare: true });
    const [row] = await answerOf(lease);
    return row?.operation_id ?? null;
  };
  const isOthers = async ({ id, request }: Claim): Promise<boolean> => {
    const found = sql.unsafe<{ fingerprint: Uint8Array }[]>(FINGERPRINT, [id], { prepare: true });
    const [row] = await answerOf(found);
    return row !== undefined && !isSameBody(request, row.fingerprint);
  };
  return {
    /**
     * Tries to claim the key once and runs the request with it. @returns null when another process runs it.
     */
    async attempt(claim: Claim, run: LeasedRun): Promise<IdempotentOutcome | null> {
      const until = dateFromMs(clock.ms() + LEASE_MS);
      const idempotentRunId = await take(claim, until);
      if (idempotentRunId === null) return (await isOthers(claim)) ? { kind: 'reused' } : null;
      let response: StoredResponse;
      try {
        response = await run(idempotentRunId);
      } catch (error) {
        await answerOf(sql.unsafe(FREE, [claim.id, idempotentRunId, until]));
        throw error;
      }
      const body = secrets.encrypt(response.body, claim.name);
      const expiresAt = dateFromMs(clock.ms() + RETENTION_MS);
      await answerOf(sql.unsafe(ANSWER, [claim.id, idempotentRunId, response.status, body, expiresAt]));
      return { kind: 'stored', response };
    },
  };
}
