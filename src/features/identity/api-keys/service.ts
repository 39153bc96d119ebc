import { type AppendEvent, type Events, nextSequence } from '../../../events/index.ts';
import {
  type Authority,
  type Caller,
  intersect,
  keyIdOf,
  type Mode,
  ROLE_PERMISSIONS,
  type Scope,
} from '../../../kernel/access.ts';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import { lookupEmail } from '../../../kernel/email.ts';
import { AppError, badRequest, notFound, quotaExceeded } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import { PLANS } from '../../../kernel/plans.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { lockWorkspace, workspaceOf } from '../../../platform/db/workspace.ts';
import type { Logger } from '../../../platform/logger.ts';
import { apiKeyCreated, apiKeyExpiring, apiKeyRevoked } from './events.ts';
import { assertWithinMintCeiling, type KeyGrant } from './mint-ceiling.rules.ts';
import type { KeyFilter, KeyOwner, KeyRow, KeySummary, NewApiKey } from './repository.ts';
import * as repository from './repository.ts';
import * as rules from './rules.ts';
import type { KeySecurityEmails } from './security-emails.ts';
import { createKeyUsage } from './usage.ts';
import { createKeyVerifier, type KeyVerifier } from './verifier.service.ts';

/**
 * Requests a minute of a key created in the dashboard or by the operator
 * (docs/decisions/api-keys.md#limits-of-a-key).
 */
const DASHBOARD_RATE_LIMIT = 10_000;
/** Requests a minute of a key that another key minted (docs/decisions/api-keys.md#limits-of-a-key). */
const MINTED_RATE_LIMIT = 1000;
/** Lead time of `api_key.expiring`; keys with a shorter life do not emit it. */
const EXPIRING_MS = 7 * DAY_MS;

export interface KeyInput {
  email: string;
  scope: Scope;
  name?: string | undefined;
  permissions?: string[] | undefined;
  mode?: Mode | undefined;
  rateLimitPerMinute?: number | undefined;
  dailyQuota?: number | null | undefined;
  expiresAt?: Date | null | undefined;
  ipAllowlist?: string[] | undefined;
  domainAllowlist?: string[] | undefined;
  /** Given key instead of a random one. */
  key?: string | undefined;
}

/** Input of `POST /me/api-keys`; an absent field means unrestricted. */
export interface MintInput {
  name: string;
  scope: Scope;
  permissions: string[];
  mode?: Mode;
  ipAllowlist: string[];
  domainAllowlist: string[];
  /** ISO 8601. */
  expiresAt: string | null;
  dailyQuota: number | null;
}

/**
 * Actor of a key operation. In live mode it manages the keys of both workspaces, in test mode those of its
 * own.
 */
export type KeyOperator = Pick<Caller, 'accountId' | 'workspaceId' | 'actor' | 'mode'>;

/** Key with its secret, which is shown only once. */
interface MadeKey {
  row: KeyRow;
  key: string;
}

/** API keys, limited to those visible to the actor: other IDs are NOT_FOUND. */
export interface ApiKeys extends KeyVerifier {
  /**
   * Creates a key for the operator, without plan limit or ceiling.
   *
   * @throws {AppError} NOT_FOUND (unknown account), BAD_REQUEST naming the malformed restriction.
   */
  create(input: KeyInput): Promise<{ id: string; key: string }>;
  /** Lists keys for the operator: of every account, or of the one with this email address. */
  list(email?: string): Promise<KeySummary[]>;
  /** Revokes any key, for the operator. @throws {AppError} NOT_FOUND. */
  revoke(id: string): Promise<void>;
  /** @throws {AppError} BAD_REQUEST naming the malformed input, MINT_CEILING_EXCEEDED, QUOTA_EXCEEDED. */
  mint(by: KeyOperator, input: MintInput): Promise<MadeKey>;
  listOwn(by: KeyOperator, filter: KeyFilter, page: PageRequest): Promise<KeyRow[]>;
  getOwn(by: KeyOperator, id: string): Promise<KeyRow>;
  /** Returns the number that counts against the plan: neither revoked nor expired. */
  countUsable(workspaceId: string): Promise<number>;
  /** Revokes a key: it is rejected immediately on this node and within 5 s on others. Idempotent. */
  revokeOwn(by: KeyOperator, id: string): Promise<void>;
  /**
   * Replaces the secret of a key. The old one stays valid for `overlapSec`.
   *
   * @throws {AppError} MINT_CEILING_EXCEEDED for a key with more access; CONFLICT when it is revoked or
   *   expired.
   */
  rotate(by: KeyOperator, id: string, overlapSec: number): Promise<MadeKey>;
  /**
   * Returns the current rights of the actor, locked until the transaction ends. They may have changed since
   * the request was authorized. The last argument names another member whose keys `revokeMadeBy` locks
   * afterwards.
   *
   * @throws {AppError} KEY_DISABLED, UNAUTHORIZED for an invalid credential; PERMISSION_DENIED for a former
   *   member.
   */
  rightsNow(tx: Tx, by: KeyOperator, otherUserId?: string): Promise<Authority>;
  /**
   * Revokes the keys that a member created for an account, in the transaction of the removal. Call `forget`
   * after the commit.
   */
  revokeMadeBy(tx: Tx, append: AppendEvent, accountId: string, userId: string): Promise<void>;
  /** Emits `api_key.expiring` for keys that expire soon. */
  announceExpiring(): Promise<void>;
  /** Writes pending uses. */
  close(): Promise<void>;
}

interface Deps {
  db: Db;
  events: Pick<Events, 'transaction'>;
  clock: Clock;
  bus: Bus;
  notices: KeySecurityEmails;
  log: Pick<Logger, 'warn'>;
}

export function createApiKeys(deps: Deps): ApiKeys {
  const { db, events, clock, log } = deps;
  const usage = createKeyUsage({ write: (uses) => repository.recordKeyUse(db, uses), clock, log });
  const verifier = createKeyVerifier({ ...deps, usage });

  const revoke = async (lock: (tx: Tx) => Promise<KeyRow | undefined>) => {
    await events.transaction(async (tx, append) => {
      const row = await lock(tx);
      if (row === undefined) throw notFound();
      if (row.revoked_at !== null) return;
      await repository.setRevoked(tx, row.id, clock.now());
      await emit(tx, append, apiKeyRevoked, row);
    });
    verifier.forget();
  };
  const getOwn = async (by: KeyOperator, id: string) => {
    const row = await repository.findKey(db, ownerOf(by), id);
    if (row === undefined) throw notFound();
    return row;
  };

  return {
    ...verifier,
    async create(input) {
      const made = await createForOperator(deps, input);
      // A given key may have been tried before.
      if (input.key !== undefined) verifier.forget();
      return made;
    },
    list: (email) => repository.listKeys(db, email),
    revoke: (id) => revoke((tx) => repository.lockAnyKey(tx, id)),
    mint: (by, input) => mint(deps, by, input),
    listOwn: (by, filter, page) =>
      repository.listOwnKeys(db, ownerOf(by), { ...filter, now: clock.now() }, page),
    getOwn,
    countUsable: (workspaceId) => repository.countActiveKeys(db, workspaceId, clock.now()),
    revokeOwn: (by, id) => revoke((tx) => repository.lockKey(tx, ownerOf(by), id)),
    async rotate(by, id, overlapSec) {
      const made = await rotate(deps, by, id, overlapSec);
      verifier.forget();
      return made;
    },
    async rightsNow(tx, by, otherUserId) {
      const id = keyIdOf(by);
      if (id !== null && otherUserId !== undefined) {
        await repository.lockKeyAndChildren(tx, by.accountId, { id, userId: otherUserId });
      }
      const { scope, permissions } = await actingGrant(tx, by, 'PERMISSION_DENIED');
      return { scope, permissions };
    },
    async revokeMadeBy(tx, append, accountId, userId) {
      for (const row of await repository.lockKeysCreatedBy(tx, accountId, userId)) {
        await repository.setRevoked(tx, row.id, clock.now());
        await emit(tx, append, apiKeyRevoked, row);
      }
      await repository.expireRetiredSecretsOf(tx, { accountId, userId, at: clock.now() });
    },
    announceExpiring: () => announceExpiring(deps),
    close: () => usage.close(),
  };
}

function ownerOf({ accountId, workspaceId, mode }: KeyOperator): KeyOwner {
  return { accountId, workspaceId: mode === 'live' ? null : workspaceId };
}

async function emit(
  tx: Tx,
  append: AppendEvent,
  event: typeof apiKeyCreated,
  row: Pick<KeyRow, 'id' | 'workspace_id' | 'name' | 'scope' | 'mode' | 'expires_at'>,
): Promise<void> {
  await append(event, row.workspace_id, {
    keyId: row.id,
    name: row.name,
    scope: row.scope,
    mode: row.mode,
    expiresAt: row.expires_at?.toISOString() ?? null,
    sequence: await nextSequence(tx, 'api_key', row.id),
  });
}

/** Returns the columns that derive from the secret. */
function secretOf(key: string) {
  return { hash: rules.hashKey(key), prefix: key.slice(0, 7), last4: key.slice(-4) };
}

function assertRestrictions(ipAllowlist: readonly string[], domainAllowlist: readonly string[]): void {
  for (const [index, rule] of ipAllowlist.entries()) {
    if (rules.isIpRule(rule)) continue;
    throw badRequest(`ipAllowlist.${index}`, `${rule} is not a valid IP address or CIDR block.`);
  }
  for (const [index, rule] of domainAllowlist.entries()) {
    if (rules.isDomainRule(rule)) continue;
    throw badRequest(`domainAllowlist.${index}`, `${rule} is not a valid hostname.`);
  }
}

async function createForOperator({ db, events, clock }: Deps, input: KeyInput) {
  const { ipAllowlist = [], domainAllowlist = [], mode = 'live' } = input;
  rules.assertPermissions(input.scope, input.permissions ?? []);
  assertRestrictions(ipAllowlist, domainAllowlist);
  const workspace = await repository.findWorkspace(db, lookupEmail(input.email) ?? '', mode);
  if (workspace === undefined) throw notFound();
  const key = input.key ?? rules.newKey();
  const row: NewApiKey = {
    id: newId('key', clock),
    workspace_id: workspace.id,
    account_id: workspace.account_id,
    name: input.name ?? 'API key',
    ...secretOf(key),
    scope: input.scope,
    permissions: input.permissions ?? [],
    ip_allowlist: ipAllowlist,
    domain_allowlist: domainAllowlist,
    rate_limit_per_minute: input.rateLimitPerMinute ?? DASHBOARD_RATE_LIMIT,
    daily_quota: input.dailyQuota ?? null,
    expires_at: input.expiresAt ?? null,
    created_by_key_id: null,
    created_by: null,
    created_at: clock.now(),
  };
  await events.transaction(async (tx, append) => {
    await repository.insertKey(tx, row);
    await emit(tx, append, apiKeyCreated, { ...row, mode });
  });
  return { id: row.id, key };
}

function grantOf(row: KeyRow): KeyGrant {
  return {
    scope: row.scope,
    permissions: row.permissions,
    mode: row.mode,
    expiresAt: row.expires_at,
    ipAllowlist: row.ip_allowlist,
    domainAllowlist: row.domain_allowlist,
    dailyQuota: row.daily_quota,
  };
}

/** Validates a requested key on its own; the mint ceiling is checked later. */
function parseMint(by: KeyOperator, input: MintInput, nowMs: number): KeyGrant {
  rules.assertPermissions(input.scope, input.permissions);
  assertRestrictions(input.ipAllowlist, input.domainAllowlist);
  const expiresAt =
    input.expiresAt === null ? null : dateFromMs(Temporal.Instant.from(input.expiresAt).epochMilliseconds);
  if (expiresAt !== null && expiresAt.getTime() <= nowMs) {
    throw badRequest('expiresAt', 'expiresAt must be in the future.');
  }
  return { ...input, mode: input.mode ?? by.mode, expiresAt };
}

async function mint(
  { db, events, clock, notices }: Deps,
  by: KeyOperator,
  input: MintInput,
): Promise<MadeKey> {
  const wanted = parseMint(by, input, clock.ms());
  const key = rules.newKey();
  const id = newId('key', clock);
  await events.transaction(async (tx, append) => {
    const workspaceId = await workspaceOf(tx, by.accountId, wanted.mode);
    const { plan } = await lockWorkspace(tx, workspaceId);
    const limit = PLANS[plan].apiKeys;
    assertWithinMintCeiling(await actingGrant(tx, by, 'OWNER_SCOPE_REQUIRED'), wanted);
    if ((await repository.countActiveKeys(tx, workspaceId, clock.now())) >= limit) {
      throw quotaExceeded(
        { workspaceId, resource: 'API_KEYS' },
        `API key limit of ${limit} reached for this plan.`,
      );
    }
    const row: NewApiKey = {
      id,
      workspace_id: workspaceId,
      account_id: by.accountId,
      name: input.name,
      ...secretOf(key),
      scope: wanted.scope,
      permissions: [...wanted.permissions],
      ip_allowlist: [...wanted.ipAllowlist],
      domain_allowlist: [...wanted.domainAllowlist],
      rate_limit_per_minute: by.actor.kind === 'key' ? MINTED_RATE_LIMIT : DASHBOARD_RATE_LIMIT,
      daily_quota: wanted.dailyQuota,
      expires_at: wanted.expiresAt,
      created_by_key_id: keyIdOf(by),
      created_by: makerOf(by),
      created_at: clock.now(),
    };
    await repository.insertKey(tx, row);
    await emit(tx, append, apiKeyCreated, { ...row, mode: wanted.mode });
    await notices.told(tx, { what: 'created', by: by.actor.kind }, { ...row, mode: wanted.mode });
  });
  return { row: await mustFind(db, by, id), key };
}

/** Error code for an actor who is no longer in the team. */
type DeniedErrorCode = 'OWNER_SCOPE_REQUIRED' | 'PERMISSION_DENIED';

/**
 * Returns the current grant of the actor, locked: a key that was just revoked or a session that was just
 * ended creates no other key.
 */
async function actingGrant(tx: Tx, by: KeyOperator, refusal: DeniedErrorCode): Promise<KeyGrant> {
  if (by.actor.kind === 'session') {
    if (!(await repository.lockSession(tx, by.actor.userId, by.actor.id))) throw new AppError('UNAUTHORIZED');
    return { ...SESSION_GRANT, ...(await rightsOf(tx, by, refusal)), mode: by.mode };
  }
  const row = await repository.lockKey(tx, ownerOf(by), by.actor.id);
  if (row === undefined || row.revoked_at !== null) throw new AppError('KEY_DISABLED');
  return { ...grantOf(row), ...intersect(row, await rightsOf(tx, by, refusal)) };
}

/** Returns the member who creates keys as this actor; null for the owner. */
const makerOf = ({ accountId, actor }: KeyOperator) => (actor.userId === accountId ? null : actor.userId);

/**
 * Returns the current rights of the actor's role. @throws {AppError} for an actor who is no longer in the
 * team.
 */
async function rightsOf(tx: Tx, by: KeyOperator, refusal: DeniedErrorCode): Promise<Authority> {
  const maker = makerOf(by);
  if (maker === null) return ROLE_PERMISSIONS.OWNER;
  const role = await repository.lockRole(tx, by.accountId, maker);
  if (role === undefined) throw new AppError(refusal, { message: 'You are not a member of this team.' });
  return ROLE_PERMISSIONS[role];
}

/** Limits of a session as a grant, in addition to its rights and mode. */
const SESSION_GRANT = {
  expiresAt: null,
  ipAllowlist: [],
  domainAllowlist: [],
  dailyQuota: null,
} as const;

async function mustFind(db: Db, by: KeyOperator, id: string): Promise<KeyRow> {
  const row = await repository.findKey(db, { accountId: by.accountId, workspaceId: null }, id);
  if (row === undefined) throw notFound();
  return row;
}

async function rotate({ db, events, clock, notices }: Deps, by: KeyOperator, id: string, overlapSec: number) {
  const key = rules.newKey();
  const maker = makerOf(by);
  await events.transaction(async (tx) => {
    // Locked before any key, as in the removal of a member.
    if (maker !== null) await repository.lockRole(tx, by.accountId, maker);
    // Locks both keys in one order: two keys may rotate each other concurrently.
    const locked = await repository.lockKeys(tx, ownerOf(by), [id, by.actor.id]);
    const row = locked.find((one) => one.id === id);
    if (row === undefined) throw notFound();
    if (id !== by.actor.id) {
      assertWithinMintCeiling(await actingGrant(tx, by, 'OWNER_SCOPE_REQUIRED'), grantOf(row));
    }
    const now = clock.ms();
    if (row.revoked_at !== null || (row.expires_at !== null && row.expires_at.getTime() <= now)) {
      throw new AppError('CONFLICT', { message: 'The key has been revoked or has expired.' });
    }
    const secret = { ...secretOf(key), created_by: maker };
    await repository.replaceSecret(tx, row, secret, dateFromMs(now + overlapSec * 1000));
    await notices.told(tx, { what: 'rotated', by: by.actor.kind }, { ...row, last4: secret.last4 });
  });
  return { row: await mustFind(db, by, id), key };
}

async function announceExpiring({ events, clock }: Deps): Promise<void> {
  for (;;) {
    const count = await events.transaction(async (tx, append) => {
      const now = clock.now();
      const until = dateFromMs(now.getTime() + EXPIRING_MS);
      const rows = await repository.claimExpiring(tx, now, until, EXPIRING_MS);
      for (const row of rows) await emit(tx, append, apiKeyExpiring, row);
      const ids = rows.map(({ id }) => id);
      if (ids.length > 0) await repository.setExpiryNotified(tx, ids, now);
      return rows.length;
    });
    if (count === 0) return;
  }
}
