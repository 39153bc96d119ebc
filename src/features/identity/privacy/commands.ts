import { type CommandRunner, required } from '../../commands.ts';
import type { Erasure } from './erasure.service.ts';

const account = { name: 'account erase', usage: 'account erase --email E' };
const customer = { name: 'customer erase', usage: 'customer erase --email E' };

export const privacyCommands = [account, customer];

/** Erasure that a person has asked the operator for (docs/guides/operations.md#erase-personal-data). */
export function privacyRunners({ erasure }: { erasure: Erasure }): CommandRunner[] {
  return [
    {
      command: account,
      async run(values) {
        const email = required(values, 'email');
        const { id } = await erasure.eraseNow(email);
        return { data: { id, email }, text: `closed ${email}; a worker is erasing it now (${id})` };
      },
    },
    {
      command: customer,
      async run(values) {
        const email = required(values, 'email');
        await erasure.erasePerson(email);
        return {
          data: { email },
          text: `erased ${email} from the customers and subscribers of all creators`,
        };
      },
    },
  ];
}
