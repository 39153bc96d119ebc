import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { mayWrite, ROLE_PERMISSIONS, TEAM_ROLES } from '../../../kernel/access.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { pagePerCombination } from '../../../platform/db/page-filters.ts';
import { type UploadStatus, type UploadTable, VALUES } from '../../../platform/db/tables.generated.ts';
import { isAccountActive } from '../../../platform/db/workspace.ts';

export type UploadRow = Selectable<UploadTable>;
export type UploadChange = Updateable<UploadTable>;

export interface UploadFilter {
  status?: UploadStatus[] | undefined;
}

const UPLOADERS = TEAM_ROLES.filter((role) => mayWrite(ROLE_PERMISSIONS[role], 'upload:write'));

/**
 * Condition that the opener of the session may no longer upload: the key is revoked, or the member has left
 * the team or is read-only. Expired and rotated keys do not count.
 */
const isWithdrawn = sql<boolean>`(
  exists (select from api_key where api_key.id = upload.key_id and api_key.revoked_at is not null)
  or upload.created_by is not null and not exists (
    select from team_member member join workspace on workspace.account_id = member.account_id
    where workspace.id = upload.workspace_id and member.user_id = upload.created_by
      and member.team_role in (${sql.join(UPLOADERS)})))`;

/** Values that clear the writer of a session; the writer is stored only while the session is open. */
export const NO_WRITER = { writer: null, key_id: null, created_by: null } as const;

export function insertUpload(tx: Tx, upload: Insertable<UploadTable>): Promise<UploadRow> {
  return tx.insertInto('upload').values(upload).returningAll().executeTakeFirstOrThrow();
}

export function findUpload(db: Db, workspaceId: string, id: string): Promise<UploadRow | undefined> {
  return db
    .selectFrom('upload')
    .selectAll()
    .where('id', '=', id)
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst();
}

/** Finds an upload in any workspace, for sweeps and for requests that carry the token. */
export function findAnyUpload(db: Db, id: string): Promise<UploadRow | undefined> {
  return db.selectFrom('upload').selectAll().where('id', '=', id).executeTakeFirst();
}

export function findByToken(db: Db, tokenHash: Buffer): Promise<UploadRow | undefined> {
  return db
    .selectFrom('upload')
    .selectAll()
    .where('token_hash', '=', tokenHash)
    .where(isAccountActive('upload.workspace_id'))
    .where(sql<boolean>`not ${isWithdrawn}`)
    .executeTakeFirst();
}

export function lockUpload(tx: Tx, id: string): Promise<UploadRow | undefined> {
  return tx.selectFrom('upload').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
}

export function lockOpenOf(tx: Tx, videoId: string): Promise<UploadRow[]> {
  return tx
    .selectFrom('upload')
    .selectAll()
    .where('video_id', '=', videoId)
    .where('ended_at', 'is', null)
    .orderBy('id')
    .forUpdate()
    .execute();
}

/** Counts the sessions of the workspace that wait for bytes. */
export async function countOpen(db: Db, workspaceId: string): Promise<number> {
  const { count } = await db
    .selectFrom('upload')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('workspace_id', '=', workspaceId)
    .where('ended_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export function updateUpload(tx: Db, id: string, change: UploadChange): Promise<UploadRow> {
  return tx.updateTable('upload').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow();
}

export function listUploads(
  db: Db,
  workspaceId: string,
  filter: UploadFilter,
  page: PageRequest,
): Promise<UploadRow[]> {
  const listed = { table: 'upload', prefix: 'upl', of: { workspace_id: workspaceId } } as const;
  return db
    .selectFrom('upload')
    .selectAll()
    .where(pagePerCombination(page, listed, { status: [filter.status, VALUES.upload.status] }))
    .orderBy('id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

/** Claims the writer lease of an open upload when it is free or was not renewed for `staleSec`. */
export function claimWriter(
  db: Db,
  id: string,
  writer: string,
  staleSec: number,
): Promise<UploadRow | undefined> {
  return db
    .updateTable('upload')
    .set({ writer, writer_heartbeat_at: sql`now()` })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .where((eb) =>
      eb.or([
        eb('writer', 'is', null),
        eb('writer_heartbeat_at', '<', sql<Date>`now() - make_interval(secs => ${staleSec})`),
      ]),
    )
    .returningAll()
    .executeTakeFirst();
}

/** Stores the progress of the writer and renews its lease. */
export function recordProgress(
  db: Db,
  id: string,
  writer: string,
  change: UploadChange,
): Promise<UploadRow | undefined> {
  return db
    .updateTable('upload')
    .set({ writer_heartbeat_at: sql`now()`, ...change })
    .where('id', '=', id)
    .where('writer', '=', writer)
    .where('ended_at', 'is', null)
    .where(isAccountActive('upload.workspace_id'))
    .where(sql<boolean>`not ${isWithdrawn}`)
    .returningAll()
    .executeTakeFirst();
}

export async function releaseWriters(db: Db): Promise<void> {
  await db.updateTable('upload').set({ writer: null }).where('writer', 'is not', null).execute();
}

export async function releaseWriter(db: Db, id: string, writer: string): Promise<void> {
  await db
    .updateTable('upload')
    .set({ writer: null })
    .where('id', '=', id)
    .where('writer', '=', writer)
    .execute();
}

/**
 * Finds sessions whose opener lost access, expired ones, those that are whole but not completed, and ended
 * ones with bytes left.
 */
export async function findDue(db: Db, now: Date, limit: number) {
  const open = db.selectFrom('upload').selectAll().where('ended_at', 'is', null).limit(limit);
  // Run in sequence: in parallel, each would need a connection, once a minute.
  const withdrawn = await open.where(isWithdrawn).orderBy('id').execute();
  const expired = await open.where('expires_at', '<=', now).orderBy('expires_at').execute();
  const whole = await open.where(sql<boolean>`received_bytes = size_bytes`).orderBy('id').execute();
  const uncleared = await db
    .selectFrom('upload')
    .selectAll()
    .where('has_bytes', '=', true)
    .where('ended_at', 'is not', null)
    .orderBy('id')
    .limit(limit)
    .execute();
  return { withdrawn, expired, whole, uncleared };
}
