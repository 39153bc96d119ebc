import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import { ipBlock, networkBlock } from '../../../kernel/ip-block.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import type { AccountCredentials } from './accounts.ts';
import type { MailOutbox } from './email-links.service.ts';
import { newLocationEmail } from './emails.ts';
import * as repository from './sign-in-locations.repository.ts';

/** Networks that accounts sign in from (docs/decisions/authentication.md#security-notifications). */
export interface SignInLocations {
  /** Records the location of a sign-in and emails the owner about a new one, except the first. */
  note(tx: Tx, account: AccountCredentials, ip: string): Promise<void>;
  /** Reports whether the account signed in from the network of the address in the last 30 days. */
  isFamiliar(accountId: string, ip: string): Promise<boolean>;
  /** Deletes locations that were not used for a long time. */
  cleanUp(): Promise<void>;
}

const RETENTION_MS = 180 * DAY_MS;
const FAMILIAR_MS = 30 * DAY_MS;

interface Deps {
  db: Db;
  clock: Clock;
  secrets: Pick<Secrets, 'sign'>;
  mailbox: MailOutbox;
  publicUrl: string;
}

export function createSignInLocations({ db, clock, secrets, mailbox, publicUrl }: Deps): SignInLocations {
  const placeOf = (accountId: string, ip: string) =>
    Buffer.from(secrets.sign('sign-in place', `${accountId}.${ipBlock(ip)}`), 'base64url');
  const networkOf = (accountId: string, ip: string) =>
    Buffer.from(secrets.sign('sign-in network', `${accountId}.${networkBlock(ip)}`), 'base64url');
  return {
    async note(tx, { id, email, email_verified_at: verifiedAt }, ip) {
      const isFirst = !(await repository.hasSignInLocations(tx, id));
      const place = { location_hash: placeOf(id, ip), network: networkOf(id, ip), last_seen_at: clock.now() };
      const isNew = await repository.recordSignInLocation(tx, id, place);
      if (!isNew || isFirst || verifiedAt === null) return;
      await mailbox.enqueue(
        tx,
        newLocationEmail(email, { ip, at: clock.now() }, `${publicUrl}/forgot-password`),
      );
    },
    isFamiliar: (accountId, ip) =>
      repository.hasNetwork(db, accountId, {
        network: networkOf(accountId, ip),
        since: dateFromMs(clock.ms() - FAMILIAR_MS),
      }),
    cleanUp: () => repository.deleteSignInLocationsBefore(db, dateFromMs(clock.ms() - RETENTION_MS)),
  };
}
