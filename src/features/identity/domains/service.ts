import { getPublicSuffix } from 'tldts';
import { type AppendEvent, type Events, nextSequence } from '../../../events/index.ts';
import type { Mode } from '../../../kernel/access.ts';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { AppError, notFound, quotaExceeded } from '../../../kernel/errors.ts';
import { toHostname } from '../../../kernel/hostname.ts';
import { newId } from '../../../kernel/ids.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import { PLANS } from '../../../kernel/plans.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { IntegrationDomainMethod as DomainProof } from '../../../platform/db/tables.generated.ts';
import { lockWorkspace } from '../../../platform/db/workspace.ts';
import type { Logger } from '../../../platform/logger.ts';
import { nonPublicNameReason } from '../../../platform/outbound/index.ts';
import { domainFailed, domainLapsed, domainVerified } from './events.ts';
import type { DomainRow } from './repository.ts';
import * as repository from './repository.ts';
import * as rules from './rules.ts';
import type { DomainVerifier } from './verification.ts';

export interface DomainInput {
  domain: string;
  includeSubdomains: boolean;
  method?: DomainProof;
}

interface Owner {
  workspaceId: string;
  mode: Mode;
}

/** Integration domains of a workspace. An ID of another workspace is NOT_FOUND. */
export interface Domains {
  /**
   * Declares a domain. A live one waits for verification; one of a test workspace is verified immediately.
   *
   * @throws {AppError} BAD_REQUEST, field `domain` or `method`; CONFLICT, field `domain`; QUOTA_EXCEEDED.
   */
  declare(owner: Owner, input: DomainInput): Promise<DomainRow>;
  list(workspaceId: string, page: PageRequest): Promise<DomainRow[]>;
  /** Returns the number that counts against the plan. */
  count(workspaceId: string): Promise<number>;
  get(workspaceId: string, id: string): Promise<DomainRow>;
  remove(workspaceId: string, id: string): Promise<void>;
  /** Checks the records now; a missing one is not an error. A failed domain restarts its waiting time. */
  verify(owner: Pick<Owner, 'workspaceId' | 'mode'>, id: string): Promise<DomainRow>;
  /** Checks every domain that is due; the worker calls it. */
  checkDue(): Promise<void>;
  /** The origin lock (docs/concepts/integration-domains.md#the-origin-lock): the code of the refusal, or null. */
  refusal(
    caller: Pick<Owner, 'workspaceId' | 'mode'>,
    origin: URL | null,
  ): Promise<'integration_domain_required' | 'origin_not_allowed' | null>;
}

interface Deps {
  db: Db;
  events: Pick<Events, 'transaction'>;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  prover: DomainVerifier;
  /** Host names of the platform itself. */
  platformHosts: readonly string[];
}

const BATCH = 20;
/** Lease of a check, longer than the slowest one; after this another worker retries. */
const LEASE_MS = 120_000;

export function createDomains(deps: Deps): Domains {
  const { db, prover } = deps;
  const platform = new Set(deps.platformHosts.map((host) => toHostname(host)));
  const isPlatformHost = (name: string) => platform.has(name);

  const get = async (workspaceId: string, id: string) => {
    const row = await repository.findDomain(db, workspaceId, id);
    if (row === undefined) throw notFound();
    return row;
  };
  return {
    get,
    declare: (owner, input) =>
      declare(deps, owner, {
        ...input,
        domain: rules.parseDomain(input.domain, {
          mode: owner.mode,
          isPlatformHost,
          isPublicSuffix: (name) => getPublicSuffix(name, { allowPrivateDomains: true }) === name,
          refuseName: nonPublicNameReason,
        }),
      }),
    list: (workspaceId, page) => repository.listDomains(db, workspaceId, page),
    count: (workspaceId) => repository.countDomains(db, workspaceId),
    async remove(workspaceId, id) {
      if (!(await repository.deleteDomain(db, workspaceId, id))) throw notFound();
    },
    async verify({ workspaceId, mode }, id) {
      const row = await get(workspaceId, id);
      if (mode === 'test') return row;
      const after = await conclude(deps, id, await prover.look(row), true);
      if (after === null) throw notFound();
      return after;
    },
    checkDue: () => checkDue(deps),
    async refusal({ workspaceId, mode }, origin) {
      const web = origin !== null && /^https?:$/.test(origin.protocol);
      if (web && isPlatformHost(toHostname(origin.hostname) ?? '')) return null;
      const verified = await repository.listVerified(db, workspaceId);
      if (verified.length === 0) return 'integration_domain_required';
      const covered = origin !== null && verified.some((one) => rules.matchesOrigin(one, origin, mode));
      return covered ? null : 'origin_not_allowed';
    },
  };
}

async function declare({ events, clock }: Deps, owner: Owner, input: DomainInput): Promise<DomainRow> {
  const { workspaceId, mode } = owner;
  const { domain, includeSubdomains, method = null } = input;
  if (includeSubdomains && method === 'WELL_KNOWN') {
    throw new AppError('BAD_REQUEST', {
      field: 'method',
      message: 'Subdomains can only be verified by DNS_TXT.',
    });
  }
  const now = clock.now();
  const state =
    mode === 'live'
      ? { ...rules.resetVerification(now), verified_at: null, last_checked_at: null }
      : {
          status: 'VERIFIED' as const,
          pending_since: null,
          checks: 0,
          next_check_at: null,
          verified_at: now,
          last_checked_at: now,
        };
  return events.transaction(async (tx, append) => {
    const { plan } = await lockWorkspace(tx, workspaceId);
    const limit = PLANS[plan].integrationDomains;
    if (await repository.hasDomain(tx, workspaceId, domain)) {
      throw new AppError('CONFLICT', { field: 'domain', message: 'This domain has already been added.' });
    }
    if ((await repository.countDomains(tx, workspaceId)) >= limit) {
      throw quotaExceeded(
        { workspaceId, resource: 'INTEGRATION_DOMAINS' },
        `Limit of ${limit} integration domains reached for this plan.`,
      );
    }
    const row = await repository.insertDomain(tx, workspaceId, {
      id: newId('dom'),
      domain,
      include_subdomains: includeSubdomains,
      method,
      token: rules.newToken(),
      txt_verified: false,
      failing_since: null,
      last_error: null,
      created_at: now,
      ...state,
    });
    if (mode === 'test') await emit(tx, append, 'integration_domain.verified', row, now);
    return row;
  });
}

const EVENTS = {
  'integration_domain.verified': domainVerified,
  'integration_domain.failed': domainFailed,
  'integration_domain.lapsed': domainLapsed,
} satisfies Record<rules.DomainEvent, unknown>;

async function emit(tx: Tx, append: AppendEvent, type: rules.DomainEvent, row: DomainRow, at: Date) {
  await append(EVENTS[type], row.workspace_id, {
    domainId: row.id,
    domain: row.domain,
    method: row.method,
    checkedAt: at.toISOString(),
    error: row.last_error,
    sequence: await nextSequence(tx, 'integration_domain', row.id),
  });
}

/** Stores the result of a check; null when the domain was deleted in the meantime. */
function conclude(
  { events, clock }: Deps,
  id: string,
  finding: rules.VerificationResult,
  manual: boolean,
): Promise<DomainRow | null> {
  return events.transaction(async (tx, append) => {
    const row = await repository.lockDomain(tx, id);
    if (row === undefined) return null;
    const now = clock.now();
    const { change, event } = rules.applyVerification(row, finding, now, manual);
    const after = await repository.updateDomain(tx, id, change);
    if (event !== null) await emit(tx, append, event, after, now);
    return after;
  });
}

async function checkDue(deps: Deps): Promise<void> {
  const { db, clock, log, prover } = deps;
  for (;;) {
    const now = clock.now();
    const due = await repository.claimDue(db, now, dateFromMs(now.getTime() + LEASE_MS), BATCH);
    await Promise.all(
      due.map(async (row) => {
        try {
          await conclude(deps, row.id, await prover.look(row), false);
        } catch (error) {
          log.warn({ err: error, domainId: row.id }, 'a domain could not be checked');
        }
      }),
    );
    if (due.length < BATCH) return;
  }
}
