import { type Caller, intersect, ROLE_PERMISSIONS, type TeamRole } from '../../../kernel/access.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { AppError } from '../../../kernel/errors.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Db } from '../../../platform/db/index.ts';
import { createSecretLookups } from '../../../platform/secret-lookups.ts';
import * as repository from './repository.ts';
import * as rules from './rules.ts';
import type { KeyUsage } from './usage.ts';

/** Cache lifetime: a revocation reaches every node within this time, even when its notification is lost. */
const CACHE_MS = 5_000;
const CACHE_ENTRIES = 20_000;
const CHANGED_TOPIC = 'api-keys';

interface From {
  ip: string;
  /** Host of `Origin`, else of `Referer`. */
  origin: string | undefined;
}

export interface KeyVerifier {
  /**
   * Verifies a key; synchronous when it was seen within 5 s.
   *
   * @throws {AppError} as documented in docs/concepts/authentication.md#the-key.
   */
  verify(key: string, from: From): Caller | Promise<Caller>;
  /** Clears cached keys on every node. */
  forget(): void;
  /** Registers a listener for changes of keys and of the rows that they depend on. */
  onChanged(listener: () => void): void;
}

interface CachedKey {
  verified: Caller;
  grant: rules.Grant;
  until: number;
}

interface Deps {
  db: Db;
  clock: Clock;
  bus: Bus;
  usage: Pick<KeyUsage, 'note'>;
}

/** Creates the check of every request with a key. */
export function createKeyVerifier({ db, clock, bus, usage }: Deps): KeyVerifier {
  const cache = new Map<string, CachedKey>();
  const secrets = createSecretLookups({ read: (hashes) => repository.existingHashes(db, hashes) });
  // Changes during a read prevent its result from being cached.
  let changes = 0;
  bus.subscribe(CHANGED_TOPIC, () => {
    changes += 1;
    cache.clear();
    secrets.forget();
  });

  const load = async (key: string, from: From) => {
    const hash = rules.hashKey(key);
    const name = rules.hashedName(key);
    if (!rules.isKey(key) || !(await secrets.exists(name))) throw new AppError('INVALID_KEY');
    const seen = changes;
    const row = await repository.findByHash(db, hash);
    if (row === undefined) throw new AppError('INVALID_KEY');
    const entry = toCached(row, clock.ms() + CACHE_MS);
    if (cache.size >= CACHE_ENTRIES) cache.clear();
    if (seen === changes) cache.set(name, entry);
    return use(entry, from);
  };
  const use = ({ grant, verified }: CachedKey, from: From) => {
    rules.assertUsable(grant, from, clock.ms());
    usage.note(verified.actor.id, from.ip);
    return verified;
  };

  return {
    verify(key, from) {
      const known = cache.get(rules.hashedName(key));
      return known !== undefined && known.until > clock.ms() ? use(known, from) : load(key, from);
    },
    forget: () => bus.publish(CHANGED_TOPIC),
    onChanged: (listener) => void bus.subscribe(CHANGED_TOPIC, listener),
  };
}

function toCached(row: repository.GrantRow, until: number): CachedKey {
  // A former member has no role.
  const role: TeamRole | null = row.created_by === null ? 'OWNER' : row.team_role;
  return {
    until,
    verified: {
      workspaceId: row.workspace_id,
      accountId: row.account_id,
      actor: { kind: 'key', id: row.id, userId: row.created_by ?? row.account_id },
      ...intersect(row, ROLE_PERMISSIONS[role ?? 'ANALYST']),
      mode: row.mode,
      plan: row.plan,
      rateLimitPerMinute: row.rate_limit_per_minute,
      dailyQuota: row.daily_quota,
    },
    grant: {
      scope: row.scope,
      expiresAt: row.expires_at,
      revokedAt: row.revoked_at,
      retiresAt: row.retires_at,
      emailVerified: row.email_verified_at !== null,
      suspended: row.suspended_at !== null || row.maker_suspended_at !== null || role === null,
      ipAllowlist: row.ip_allowlist,
      domainAllowlist: row.domain_allowlist,
    },
  };
}
