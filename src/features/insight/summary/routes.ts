import { anyKey } from '../../../http/access.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { teamMemberIdOf } from '../../../kernel/access.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Db } from '../../../platform/db/index.ts';
import { summaryOf } from './repository.ts';
import { Summary, toSummary } from './schemas.ts';

/** `/summary` (docs/concepts/usage.md#summary). */
export function summaryRoutes({ db, clock }: { db: Db; clock: Clock }): Route[] {
  return [
    defineRoute({
      ...anyKey,
      operationId: 'summary.get',
      method: 'GET',
      path: '/summary',
      summary: 'Get workspace summary',
      description:
        'Counts for the workspace; notifications and tickets for the account. Financial data is not included.',
      reply: { status: 200, schema: Summary },
      async handler({ caller }) {
        const { workspaceId, accountId } = caller;
        const memberId = teamMemberIdOf(caller);
        return toSummary(await summaryOf(db, { workspaceId, accountId, memberId, now: clock.now() }));
      },
    }),
  ];
}
