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

/** A sign-in to the dashboard that is good. */
export interface Session {
  id: string;
  role: 'USER' | 'ADMIN';
  emailVerified: boolean;
  passwordCheckedMs: number;
  own: SessionAccount;
  teams: readonly SessionAccount[];
}

/** An account that it may act for. */
interface SessionAccount {
  accountId: string;
  teamRole: TeamRole;
  plan: Plan;
  workspaces: Readonly<Record<Mode, string>>;
}

/** Where a request comes from. */
export interface RequestOrigin {
  ip: string;
  userAgent: string;
}

/** The cookies of the dashboard (docs/decisions/authentication.md#sessions). */
export interface Sessions {
  /**
   * @param also what belongs to the same transaction.
   * @returns its id, and the token of its cookie, which is kept nowhere.
   */
  start(
    account: Pick<AccountCredentials, 'id' | 'token_epoch'>,
    from: RequestOrigin,
    also: (tx: Tx) => Promise<void>,
  ): Promise<{ id: string; token: string }>;
  /**
   * At once when it was seen within 5 s.
   *
   * @returns null when the token is unknown, ended or over, of a suspended account, or older than the account's last
   * change of password.
   */
  verify(
    token: string,
    from: RequestOrigin & { accountId: string | null },
  ): Session | null | Promise<Session | null>;
  /** What its pages send back to prove that they are ours. */
  csrfToken(id: string): string;
  isCsrfToken(id: string, sent: string): boolean;
  /** The teams that a person is in. */
  teamsOf(userId: string): Promise<{ id: string; name: string; teamRole: TeamRole }[]>;
  /** When it ends unless it is used. @throws {AppError} UNAUTHORIZED when it has ended meanwhile. */
  expiresAt(accountId: string, id: string): Promise<Date>;
  list(accountId: string, page: PageRequest): Promise<SessionRow[]>;
  /** Refused at once on this node, within 5 s on every other. @throws {AppError} NOT_FOUND. */
  end(accountId: string, id: string): Promise<void>;
  /** Ends every session of the account but `keep`. Call `forget` after the commit. */
  endAll(tx: Tx, accountId: string, keep: string | null): Promise<void>;
  /** It changes the password itself, and stays. Call `forget` after the commit. */
  renew(tx: Tx, id: string): Promise<void>;
  /** The password was checked just now. */
  notePassword(id: string): Promise<void>;
  /** What is remembered of sessions is read again, on every node. */
  forget(): void;
  /** Calls it after each change of sessions. */
  onChanged(listener: () => void): void;
  /** Drops what is over. */
  cleanUp(): Promise<void>;
}

const IDLE_MS = 14 * DAY_MS;
const LIFE_MS = 90 * DAY_MS;
/** A use is written down at most so often. */
const NOTED_MS = 5 * MINUTE_MS;
/** Of one account; the next sign-in ends the oldest. */
const MOST = 100;
const MOST_OF_AGENT = 300;
const CHANGED_TOPIC = 'user-sessions';
const CSRF = 'session csrf';

interface Deps {
  db: Db;
  clock: Clock;
  secrets: Pick<Secrets, 'sign' | 'verify'>;
  bus: Pick<Bus, 'publish' | 'subscribe'>;
  /** Calls it when an account may have changed. */
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
        await repository.deleteOldestSessions(tx, account.id, MOST);
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
    user_agent: from.userAgent.slice(0, MOST_OF_AGENT),
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
      userAgent: from.userAgent.slice(0, MOST_OF_AGENT),
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
