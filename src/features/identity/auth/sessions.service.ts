import type { Mode, TeamRole } from '../../../kernel/access.ts';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS, MINUTE_MS } from '../../../kernel/durations.ts';
import { AppError, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Plan } from '../../../kernel/plans.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import { hashSecret, newSecret } from '../../../platform/tokens.ts';
import type { AccountCredentials } from './accounts.ts';
import { type CachedCredential, createCredentialCache } from './credential-cache.ts';
import type { SessionRow } from './sessions.repository.ts';
import * as repository from './sessions.repository.ts';

/** Valid dashboard session. */
export interface Session {
  id: string;
  role: 'USER' | 'ADMIN';
  emailVerified: boolean;
  passwordCheckedMs: number;
  own: SessionAccount;
  teams: readonly SessionAccount[];
}

/** Account that the session may act for. */
interface SessionAccount {
  accountId: string;
  teamRole: TeamRole;
  plan: Plan;
  workspaces: Readonly<Record<Mode, string>>;
}

/** Client of a request. */
export interface RequestOrigin {
  ip: string;
  userAgent: string;
}

/** Dashboard sessions by cookie (docs/decisions/authentication.md#sessions). */
export interface Sessions {
  /**
   * Starts a session.
   *
   * @param also writes in the same transaction.
   * @returns its ID and its cookie token, which is not stored.
   */
  start(
    account: Pick<AccountCredentials, 'id' | 'token_epoch'>,
    from: RequestOrigin,
    also: (tx: Tx) => Promise<void>,
  ): Promise<{ id: string; token: string }>;
  /**
   * Verifies a session token; synchronous when it was seen within 5 s.
   *
   * @returns null when the token is unknown, ended or expired, of a suspended account, or older than the
   *   account's last change of password.
   */
  verify(
    token: string,
    from: RequestOrigin & { accountId: string | null },
  ): Session | null | Promise<Session | null>;
  /** Returns the CSRF token that the session's pages send back. */
  csrfToken(id: string): string;
  isCsrfToken(id: string, sent: string): boolean;
  /** Lists the teams of a person. */
  teamsOf(userId: string): Promise<{ id: string; name: string; teamRole: TeamRole }[]>;
  /**
   * Returns when an unused session ends. @throws {AppError} UNAUTHORIZED when it has ended in the meantime.
   */
  expiresAt(accountId: string, id: string): Promise<Date>;
  list(accountId: string, page: PageRequest): Promise<SessionRow[]>;
  /**
   * Ends a session: it is rejected immediately on this node and within 5 s on others. @throws {AppError}
   * NOT_FOUND.
   */
  end(accountId: string, id: string): Promise<void>;
  /** Ends every session of the account but `keep`. Call `forget` after the commit. */
  endAll(tx: Tx, accountId: string, keep: string | null): Promise<void>;
  /** Keeps the session valid after its own password change. Call `forget` after the commit. */
  renew(tx: Tx, id: string): Promise<void>;
  /** Records that the password was just checked. */
  notePassword(id: string): Promise<void>;
  /** Clears cached sessions on every node. */
  forget(): void;
  /** Registers a listener for changes of sessions. */
  onChanged(listener: () => void): void;
  /** Deletes expired sessions. */
  cleanUp(): Promise<void>;
}

const IDLE_MS = 14 * DAY_MS;
const LIFE_MS = 90 * DAY_MS;
/** Minimum interval between two updates of the last use. */
const NOTED_MS = 5 * MINUTE_MS;
/** Maximum sessions per account; the next sign-in ends the oldest. */
const MAX_SESSIONS = 100;
const MAX_USER_AGENT_LENGTH = 300;
const CHANGED_TOPIC = 'user-sessions';
const CSRF = 'session csrf';

interface Deps {
  db: Db;
  clock: Clock;
  secrets: Pick<Secrets, 'sign' | 'verify'>;
  bus: Pick<Bus, 'publish' | 'subscribe'>;
  /** Registers a listener for possible changes of accounts. */
  onAccountsChanged(listener: () => void): void;
}

export function createSessions(deps: Deps): Sessions {
  const { db, clock, secrets, bus } = deps;
  const known = createCredentialCache<Session>(deps, CHANGED_TOPIC);
  return {
    async start(account, from, also) {
      const id = newId('uss');
      const token = newSecret();
      await db.transaction().execute(async (tx) => {
        await repository.insertSession(tx, newRow(account, { id, token }, from, clock.now()));
        await repository.deleteOldestSessions(tx, account.id, MAX_SESSIONS);
        await also(tx);
      });
      return { id, token };
    },
    verify(token, from) {
      const hash = hashSecret(token);
      const name = hash.toString('base64');
      return known.get(name) ?? known.read(name, () => check(deps, hash, from));
    },
    csrfToken: (id) => secrets.sign(CSRF, id),
    isCsrfToken: (id, sent) => secrets.verify(CSRF, id, sent),
    teamsOf: async (userId) =>
      (await repository.listTeams(db, userId)).map(
        ({ account_id: id, name, username, team_role: teamRole }) => ({
          id,
          name: name ?? username,
          teamRole,
        }),
      ),
    async expiresAt(accountId, id) {
      const row = await repository.findSession(db, accountId, id);
      if (row === undefined) throw new AppError('UNAUTHORIZED');
      return dateFromMs(endOf(row));
    },
    list: (accountId, page) => repository.listSessions(db, accountId, alive(clock), page),
    async end(accountId, id) {
      if (!(await repository.deleteSession(db, accountId, id))) throw notFound();
      bus.publish(CHANGED_TOPIC);
    },
    endAll: (tx, accountId, keep) => repository.deleteSessionsOf(tx, accountId, keep),
    renew: (tx, id) => repository.renewSession(tx, id, clock.now()),
    async notePassword(id) {
      await repository.setPasswordChecked(db, id, clock.now());
      bus.publish(CHANGED_TOPIC);
    },
    forget: () => bus.publish(CHANGED_TOPIC),
    onChanged: (listener) => void bus.subscribe(CHANGED_TOPIC, listener),
    cleanUp: () => repository.deleteExpiredSessions(db, alive(clock)),
  };
}

function newRow(
  { id: accountId, token_epoch: epoch }: Pick<AccountCredentials, 'id' | 'token_epoch'>,
  { id, token }: { id: string; token: string },
  from: RequestOrigin,
  now: Date,
): SessionRow {
  return {
    id,
    account_id: accountId,
    hash: hashSecret(token),
    token_epoch: epoch,
    created_at: now,
    last_seen_at: now,
    password_checked_at: now,
    ip: plainAddress(from.ip),
    user_agent: from.userAgent.slice(0, MAX_USER_AGENT_LENGTH),
  };
}

const plainAddress = (ip: string) => ip.replace(/^::ffff:(?=\d+\.)/i, '');

function endOf(row: Pick<SessionRow, 'created_at' | 'last_seen_at'>): number {
  return Math.min(row.created_at.getTime() + LIFE_MS, row.last_seen_at.getTime() + IDLE_MS);
}

function alive(clock: Clock): repository.SessionExpiry {
  const now = clock.ms();
  return { seenAfter: dateFromMs(now - IDLE_MS), createdAfter: dateFromMs(now - LIFE_MS) };
}

async function check(
  { db, clock }: Deps,
  hash: Buffer,
  from: RequestOrigin & { accountId: string | null },
): Promise<CachedCredential<Session> | null> {
  const row = await repository.findByHash(db, hash);
  const now = clock.ms();
  if (row === undefined || row.suspended_at !== null || row.token_epoch !== row.account_epoch) return null;
  if (endOf(row) <= now) return null;
  const isNoted = now - row.last_seen_at.getTime() < NOTED_MS;
  if (!isNoted) {
    const use = {
      at: clock.now(),
      ip: plainAddress(from.ip),
      userAgent: from.userAgent.slice(0, MAX_USER_AGENT_LENGTH),
    };
    await repository.touchSession(db, row.id, use, dateFromMs(now - NOTED_MS));
  }
  const teams = await repository.listTeams(db, row.account_id);
  const chosen = [row, ...teams].find(({ account_id: id }) => id === (from.accountId ?? row.account_id));
  if (chosen !== undefined && now - (chosen.last_active_at?.getTime() ?? 0) >= NOTED_MS) {
    const who = { accountId: chosen.account_id, userId: row.account_id };
    await repository.touchTeamActivity(db, who, clock.now(), dateFromMs(now - NOTED_MS));
  }
  return {
    value: toSession(row, teams),
    untilMs: endOf(isNoted ? row : { ...row, last_seen_at: clock.now() }),
  };
}

function toSession(row: repository.GrantRow, teams: readonly repository.TeamRow[]): Session {
  return {
    id: row.id,
    role: row.role,
    emailVerified: row.email_verified_at !== null,
    passwordCheckedMs: row.password_checked_at.getTime(),
    own: toAccount({ ...row, team_role: 'OWNER' }),
    teams: teams.map(toAccount),
  };
}

function toAccount(
  row: Pick<repository.TeamRow, 'account_id' | 'plan' | 'live_id' | 'test_id'> & { team_role: TeamRole },
): SessionAccount {
  return {
    accountId: row.account_id,
    teamRole: row.team_role,
    plan: row.plan,
    workspaces: { live: row.live_id, test: row.test_id },
  };
}
