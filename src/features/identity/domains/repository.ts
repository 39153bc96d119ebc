import type { Insertable, Selectable } from 'kysely';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { pageCondition } from '../../../platform/db/page.ts';
import type { IntegrationDomainTable } from '../../../platform/db/tables.generated.ts';
import type { DomainChange } from './rules.ts';

export type DomainRow = Selectable<IntegrationDomainTable>;
type NewDomain = Omit<Insertable<IntegrationDomainTable>, 'workspace_id' | 'event_sequence'>;

export async function countDomains(db: Db, workspaceId: string): Promise<number> {
  const row = await db
    .selectFrom('integration_domain')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirstOrThrow();
  return row.count;
}

export async function hasDomain(db: Db, workspaceId: string, domain: string): Promise<boolean> {
  const row = await db
    .selectFrom('integration_domain')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('domain', '=', domain)
    .executeTakeFirst();
  return row !== undefined;
}

export function insertDomain(tx: Tx, workspaceId: string, domain: NewDomain): Promise<DomainRow> {
  return tx
    .insertInto('integration_domain')
    .values({ ...domain, workspace_id: workspaceId })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function findDomain(db: Db, workspaceId: string, id: string): Promise<DomainRow | undefined> {
  return db
    .selectFrom('integration_domain')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
}

export function listDomains(db: Db, workspaceId: string, page: PageRequest): Promise<DomainRow[]> {
  return db
    .selectFrom('integration_domain')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where(pageCondition(page))
    .orderBy('id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

/** @returns whether the domain existed. */
export async function deleteDomain(db: Db, workspaceId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('integration_domain')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Lists the domains that may make checkout calls for the workspace. */
export function listVerified(db: Db, workspaceId: string) {
  return db
    .selectFrom('integration_domain')
    .select(['domain', 'include_subdomains'])
    .where('workspace_id', '=', workspaceId)
    .where('status', '=', 'VERIFIED')
    .execute();
}

/** Claims domains of any workspace that are due for a check until `leaseUntil`. */
export function claimDue(db: Db, now: Date, leaseUntil: Date, limit: number): Promise<DomainRow[]> {
  return db
    .updateTable('integration_domain')
    .set({ next_check_at: leaseUntil })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('integration_domain')
        .select('id')
        .where('next_check_at', '<=', now)
        .orderBy('next_check_at')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returningAll()
    .execute();
}

/** Locks a domain of any workspace: it was found in its workspace, or claimed, before. */
export function lockDomain(tx: Tx, id: string): Promise<DomainRow | undefined> {
  return tx.selectFrom('integration_domain').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
}

export function updateDomain(tx: Tx, id: string, change: DomainChange): Promise<DomainRow> {
  return tx
    .updateTable('integration_domain')
    .set(change)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}
