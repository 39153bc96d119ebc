import { sql } from 'kysely';
import type { TestDashboard } from '../harness/dashboard.ts';

/** Inserts only rows, in one statement; `Video 1` is the oldest. @returns the ID of the newest. */
export async function insertVideos(dashboard: TestDashboard, userId: string, count: number): Promise<string> {
  const { db } = dashboard.app.container;
  const workspace = await db
    .selectFrom('workspace')
    .select('id')
    .where('account_id', '=', userId)
    .where('mode', '=', 'live')
    .executeTakeFirstOrThrow();
  const prefix = `vid_${workspace.id.slice(-10)}`;
  await sql`
    insert into video (id, workspace_id, title, status, visibility, source, created_at)
    select ${prefix} || lpad(n::text, 16, '0'), ${workspace.id}, 'Video ' || n, 'READY', 'PRIVATE', 'UPLOAD',
      now() - (${count}::int - n) * interval '1 second'
    from generate_series(1, ${count}::int) n`.execute(db);
  await sql`analyze video`.execute(db);
  return `${prefix}${String(count).padStart(16, '0')}`;
}
