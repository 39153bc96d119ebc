import type { Sql } from 'postgres';
import type { TeamRole } from '../../src/kernel/access.ts';
import { dateFromMs, systemClock } from '../../src/kernel/clock.ts';
import { newId } from '../../src/kernel/ids.ts';
import type { Plan } from '../../src/kernel/plans.ts';
import type { Container } from '../../src/main/container.ts';
import type { IngestSession } from '../../src/media/contract/index.ts';
import type { Db } from '../../src/platform/db/index.ts';

export interface AccountOptions {
  email?: string;
  plan?: Plan;
  /** Default true. */
  verified?: boolean;
}

export interface TestAccount {
  id: string;
  email: string;
  /** Workspace ids. */
  live: string;
  test: string;
}

/** Parameters of `ApiKeys.create`; FULL_ACCESS by default. */
export interface KeyOptions extends Partial<Omit<Parameters<Container['apiKeys']['create']>[0], 'email'>> {
  account?: TestAccount;
}

/**
 * Inserts an account with its two workspaces, without the slow password hash, which is only needed to sign
 * in.
 */
export async function insertAccount(db: Db, options: AccountOptions = {}): Promise<TestAccount> {
  const id = newId('usr');
  const account = { id, email: options.email ?? `${id}@example.com`, live: newId('wsp'), test: newId('wsp') };
  await db
    .insertInto('account')
    .values({
      id,
      email: account.email,
      username: id,
      password_hash: '-',
      name: null,
      plan: options.plan ?? 'VIP',
      email_verified_at: options.verified === false ? null : systemClock.now(),
      suspended_at: null,
    })
    .execute();
  await db
    .insertInto('workspace')
    .values([
      { id: account.live, account_id: id, mode: 'live' },
      { id: account.test, account_id: id, mode: 'test' },
    ])
    .execute();
  return account;
}

/**
 * Adds an account's holder to the team of another one, without an invitation. @returns the ID of the member.
 */
export async function joinTeam(
  db: Db,
  {
    accountId,
    userId,
    teamRole,
  }: { accountId: string; userId: string; teamRole: Exclude<TeamRole, 'OWNER'> },
): Promise<string> {
  const row = { id: newId('mem'), account_id: accountId, user_id: userId, team_role: teamRole };
  await db
    .insertInto('team_member')
    .values({ ...row, joined_at: dateFromMs(0) })
    .execute();
  return row.id;
}

/** An encoder connection as the media plane announces it. */
export function ingestSession(streamId: string, options: Partial<IngestSession> = {}): IngestSession {
  return {
    sessionId: newId('ing'),
    streamId,
    nodeId: 'node-1',
    protocol: 'rtmp',
    startedAt: systemClock.now(),
    grant: { streamId, maxHeight: 2160, maxFps: 60 },
    ...options,
  };
}

export interface StoredBody {
  id: string;
  type: string;
  created: number;
  livemode: boolean;
  data: Record<string, unknown>;
}

/** The bodies of the four broadcast events (docs/concepts/streams.md#states) of one stream, oldest first. */
export async function streamEvents(sql: Sql, streamId: string): Promise<StoredBody[]> {
  const rows = await sql<{ body: StoredBody }[]>`
    select body::json as body from event where body::json->'data'->>'streamId' = ${streamId}
      and type in ('stream.live', 'stream.ended', 'stream.broadcast_started', 'stream.broadcast_stopped')
      and type in ('stream.live', 'stream.ended', 'stream.broadcast_started', 'stream.broadcast_stopped')
    order by seq`;
  return rows.map((row) => row.body);
}
