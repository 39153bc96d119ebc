import type { Actor } from '../../../kernel/access.ts';
import { type Counter, counterKey } from '../../../platform/counters.ts';
import type { Tx } from '../../../platform/db/index.ts';
import * as repository from './repository.ts';

/** Outbox for emails. */
export interface EmailOutbox {
  enqueue(tx: Tx, mail: { kind: string; to: string; subject: string; text: string }): Promise<void>;
}

type NotifiedKey = Pick<repository.KeyRow, 'account_id' | 'name' | 'scope' | 'mode' | 'last4'>;

/** Creation or rotation of a key and its actor. */
interface KeyAction {
  what: 'created' | 'rotated';
  by: Actor['kind'];
}

/**
 * Emails owners about new and rotated keys: an attacker with a stolen key or session usually creates another
 * key first.
 */
export interface KeySecurityEmails {
  told(tx: Tx, done: KeyAction, key: NotifiedKey): Promise<void>;
}

/** Limit that keeps a rotating script from flooding a mailbox. */
const MAILS_PER_HOUR = 20;

interface Deps {
  mailbox: EmailOutbox;
  /** Counter with one-hour windows. */
  counter: Pick<Counter, 'hit'>;
}

export function createKeySecurityEmails({ mailbox, counter }: Deps): KeySecurityEmails {
  return {
    async told(tx, done, key) {
      const to = await repository.findOwnerAddress(tx, key.account_id);
      if (to === undefined) return;
      const { count } = await counter.hit(counterKey(`key-mail:${key.account_id}`));
      if (count <= MAILS_PER_HOUR) await mailbox.enqueue(tx, { to, ...buildEmail(done, key) });
    },
  };
}

/** Advice for the owner if the change was not theirs. */
const ADVICE: Record<Actor['kind'], string> = {
  key: 'If this was not you or one of your services, revoke this key and the key used to make the change.',
  session:
    'The change was made in the dashboard. If this was not you, revoke the key and change your password immediately.',
};

function buildEmail({ what, by }: KeyAction, { name, scope, mode, last4 }: NotifiedKey) {
  const isNew = what === 'created';
  return {
    kind: `api-key-${what}`,
    subject: isNew ? 'A new API key was created' : 'An API key was rotated',
    text: `${isNew ? 'A new API key was created for your Marquee account' : 'An API key of your Marquee account was rotated'}:

${name} (${scope}, ${mode}), which ends in ${last4}

${ADVICE[by]}
`,
  };
}
