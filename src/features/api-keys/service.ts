import type { Clock } from '../../kernel/clock.ts';
import { AppError, badRequest, notFound } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import type { Plan } from '../../kernel/plans.ts';
import type { Bus } from '../../platform/bus.ts';
import type { Db } from '../../platform/db/index.ts';
import type { Mode, Scope } from '../../platform/db/tables/accounts.ts';
import * as repository from './repository.ts';
import * as rules from './rules.ts';

export type { KeySummary } from './repository.ts';

/** A key made in the dashboard or by the operator allows 10,000 requests a minute (contract 8.1). */
const DASHBOARD_RATE_LIMIT = 10_000;
/** A revocation reaches every node within this time even when its hint is lost. */
const CACHE_MS = 5_000;
const CACHE_ENTRIES = 20_000;
const REVOKED_TOPIC = 'api-keys';

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
  /** A given key instead of a random one. */
  key?: string | undefined;
}

/** Whom a verified key stands for. */
export interface VerifiedKey {
  workspaceId: string;
  accountId: string;
  keyId: string;
  scope: Scope;
  permissions: readonly string[];
  mode: Mode;
  plan: Plan;
  rateLimitPerMinute: number;
  dailyQuota: number | null;
}

interface CachedKey {
  verified: VerifiedKey;
  grant: rules.Grant;
  until: number;
}

export interface ApiKeys {
  /**
   * A key for an account's workspace; `key` is shown here and never again.
   *
   * @throws {AppError} NOT_FOUND (no such account), BAD_REQUEST naming the restriction that is malformed.
   */
  create(input: KeyInput): Promise<{ id: string; key: string }>;
  list(email?: string): Promise<repository.KeySummary[]>;
  /** @throws {AppError} NOT_FOUND. */
  revoke(id: string): Promise<void>;
  /** What is remembered of keys is read again, on every node: an account behind them has changed. */
  forget(): void;
  /** At once when the key was seen within 5 s. @throws {AppError} as contract 5. */
  verify(key: string, from: { ip: string; origin: string | undefined }): VerifiedKey | Promise<VerifiedKey>;
}

export function createApiKeys({ db, clock, bus }: { db: Db; clock: Clock; bus: Bus }): ApiKeys {
  const cache = new Map<string, CachedKey>();
  bus.subscribe(REVOKED_TOPIC, () => cache.clear());

  const load = async (key: string, from: { ip: string; origin: string | undefined }) => {
    const hash = rules.hashKey(key);
    const row = rules.isKey(key) ? await repository.findByHash(db, hash) : undefined;
    if (row === undefined) throw new AppError('INVALID_KEY');
    const entry = toCached(row, clock.ms() + CACHE_MS);
    if (cache.size >= CACHE_ENTRIES) cache.clear();
    cache.set(hash.toString('base64'), entry);
    return use(entry, from);
  };
  const use = (entry: CachedKey, from: { ip: string; origin: string | undefined }) => {
    rules.assertUsable(entry.grant, from, clock.ms());
    return entry.verified;
  };

  return {
    create: (input) => createKey(db, input),
    list: (email) => repository.listKeys(db, email),
    async revoke(id) {
      if (!(await repository.revokeKey(db, id, clock.now()))) throw notFound();
      bus.publish(REVOKED_TOPIC);
    },
    forget: () => bus.publish(REVOKED_TOPIC),
    verify(key, from) {
      const known = cache.get(rules.hashKey(key).toString('base64'));
      return known !== undefined && known.until > clock.ms() ? use(known, from) : load(key, from);
    },
  };
}

type KeyRow = NonNullable<Awaited<ReturnType<typeof repository.findByHash>>>;

function toCached(row: KeyRow, until: number): CachedKey {
  return {
    until,
    verified: {
      workspaceId: row.workspace_id,
      accountId: row.account_id,
      keyId: row.id,
      scope: row.scope,
      permissions: row.permissions,
      mode: row.mode,
      plan: row.plan,
      rateLimitPerMinute: row.rate_limit_per_minute,
      dailyQuota: row.daily_quota,
    },
    grant: {
      scope: row.scope,
      expiresAt: row.expires_at,
      revokedAt: row.revoked_at,
      emailVerified: row.email_verified_at !== null,
      suspended: row.suspended_at !== null,
      ipAllowlist: row.ip_allowlist,
      domainAllowlist: row.domain_allowlist,
    },
  };
}

async function createKey(db: Db, input: KeyInput): Promise<{ id: string; key: string }> {
  const badIp = input.ipAllowlist?.find((rule) => !rules.isIpRule(rule));
  if (badIp !== undefined) throw badRequest('ipAllowlist', `${badIp} is no address and no CIDR block.`);
  const workspace = await repository.findWorkspace(
    db,
    input.email.trim().toLowerCase(),
    input.mode ?? 'live',
  );
  if (workspace === undefined) throw notFound();
  const key = input.key ?? rules.newKey();
  const id = newId('key');
  await repository.insertKey(db, {
    id,
    workspace_id: workspace.id,
    account_id: workspace.account_id,
    name: input.name ?? 'API key',
    hash: rules.hashKey(key),
    prefix: key.slice(0, 7),
    last4: key.slice(-4),
    scope: input.scope,
    permissions: input.permissions ?? [],
    ip_allowlist: input.ipAllowlist ?? [],
    domain_allowlist: input.domainAllowlist ?? [],
    rate_limit_per_minute: input.rateLimitPerMinute ?? DASHBOARD_RATE_LIMIT,
    daily_quota: input.dailyQuota ?? null,
    expires_at: input.expiresAt ?? null,
  });
  return { id, key };
}
