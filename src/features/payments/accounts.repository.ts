import type { Selectable } from 'kysely';
import type { Db } from '../../platform/db/index.ts';
import type { ConnectAccountTable } from '../../platform/db/tables.generated.ts';

export type AccountRow = Selectable<ConnectAccountTable>;

export function findAccount(db: Db, workspaceId: string): Promise<AccountRow | undefined> {
  return db
    .selectFrom('connect_account')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst();
}
