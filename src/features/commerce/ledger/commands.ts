import { MODES } from '../../../kernel/access.ts';
import type { Db } from '../../../platform/db/index.ts';
import { workspaceOf } from '../../../platform/db/workspace.ts';
import { type CommandRunner, oneOf, required } from '../../commands.ts';
import type { Accounts } from '../../identity/accounts/index.ts';
import type { LedgerCheck } from './check.service.ts';

const check = { name: 'money check', usage: 'money check' };
const rebuild = { name: 'money rebuild', usage: 'money rebuild' };
const show = { name: 'money show', usage: 'money show --account EMAIL [--mode live|test]' };

export const moneyCommands = [check, rebuild, show];

interface Deps {
  books: LedgerCheck;
  accounts: Pick<Accounts, 'byEmail'>;
  db: Db;
}

/** The operator's look at the books (docs/guides/money.md#reconcile-the-ledger). */
export function moneyRunners({ books, accounts, db }: Deps): CommandRunner[] {
  return [
    {
      command: check,
      async run() {
        const problems = await books.check();
        const data = { problems };
        if (problems.length === 0) return { data, text: 'the ledger is consistent' };
        return { data, text: `the ledger is inconsistent:\n${problems.join('\n')}`, isBad: true };
      },
    },
    {
      command: rebuild,
      async run() {
        const sums = await books.rebuild();
        return { data: { sums }, text: `rebuilt ${sums} revenue sums from the ledger entries` };
      },
    },
    {
      command: show,
      async run(values) {
        const { id } = await accounts.byEmail(required(values, 'account'));
        const workspaceId = await workspaceOf(db, id, oneOf(values, 'mode', MODES) ?? 'live');
        const balances = await books.balances(workspaceId);
        const lines = balances.map(
          ({ provider, creator, fees, disputed, paidOut, providerHolds }) =>
            `${provider}: creator ${dollars(creator)}, fees ${dollars(fees)}, disputed ${dollars(disputed)}, paid out ${dollars(paidOut)}; the provider holds ${dollars(providerHolds)}`,
        );
        const text = [workspaceId, ...(lines.length === 0 ? ['no money has moved'] : lines)].join('\n');
        return { data: { workspaceId, balances }, text };
      },
    },
  ];
}

function dollars(cents: number): string {
  const sign = cents < 0 ? '-' : '';
  const text = String(Math.abs(cents)).padStart(3, '0');
  return `${sign}$${text.slice(0, -2)}.${text.slice(-2)}`;
}
