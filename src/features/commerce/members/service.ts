import type { Mode } from '../../../kernel/access.ts';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../kernel/durations.ts';
import { lookupEmail } from '../../../kernel/email.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { MailCaps } from '../../integration/mail/index.ts';
import { hashToken, type MemberCookie, newToken, SESSION_MS } from './cookie.ts';
import * as rights from './entitlements.repository.ts';
import type { Creator, Member, OpenTier, Receipt } from './repository.ts';
import * as repository from './repository.ts';

/** Members of creators, who sign in with an emailed link (docs/decisions/money.md#members). */
export interface Members {
  /** Returns null for an unknown username. */
  creatorOf(username: string, mode: Mode): Promise<Creator | null>;
  /** Requests a link; takes the same time whether or not there is such a customer. */
  requestLink(creator: Creator, email: string): Promise<void>;
  /** Emails the requested links to existing customers; called by the worker. */
  sendRequested(): Promise<void>;
  isLinkGood(creator: Creator, token: string): Promise<boolean>;
  /**
   * Consumes a link.
   *
   * @returns the value of the cookie; null when the link is unknown, used or expired.
   */
  enter(creator: Creator, token: string): Promise<string | null>;
  /** Returns the member with this cookie of the workspace. */
  memberBy(creator: Creator, cookie: string | undefined): Promise<Member | null>;
  leave(creator: Creator, cookie: string | undefined): Promise<void>;
  receipts(member: Member): Promise<Receipt[]>;
  watchable(creator: Creator, member: Member): Promise<{ id: string; title: string }[]>;
  tiers(creator: Creator): Promise<OpenTier[]>;
  cleanUp(): Promise<void>;
}

const LINK_MS = 15 * MINUTE_MS;
/** Maximum number of links per hour and customer. */
const LINKS_PER_HOUR = 5;
const REQUESTS_PER_RUN = 100;
const RECEIPTS = 60;
const WATCHABLE = 100;

interface Deps {
  db: Db;
  clock: Clock;
  cookie: MemberCookie;
  mailbox: {
    enqueue(tx: Tx, mail: { kind: string; to: string; subject: string; text: string }): Promise<void>;
  };
  mailCaps: Pick<MailCaps, 'mayMail'>;
  publicUrl: string;
}

/** Returns the path of a creator's member page. */
export function memberPath({ username, mode }: { username: string; mode: Mode }): string {
  return `/members/${username}${mode === 'test' ? '/test' : ''}`;
}

export function createMembers(deps: Deps): Members {
  const { db, clock, cookie } = deps;
  return {
    creatorOf: async (username, mode) => (await repository.findCreator(db, username, mode)) ?? null,
    async requestLink({ workspaceId }, text) {
      const email = lookupEmail(text);
      if (!email?.includes('@')) return;
      await repository.insertRequest(db, { workspace_id: workspaceId, email, created_at: clock.now() });
    },
    async sendRequested() {
      if (!(await repository.hasRequest(db))) return;
      for (let count = 0; count < REQUESTS_PER_RUN; count++) {
        if (!(await db.transaction().execute((tx) => answerRequest(deps, tx)))) return;
      }
    },
    isLinkGood: ({ workspaceId }, token) =>
      repository.isLinkValid(db, hashToken(token), workspaceId, clock.now()),
    enter: (creator, token) => db.transaction().execute((tx) => enter(deps, tx, creator, token)),
    async memberBy({ workspaceId }, header) {
      const hash = cookie.read(header, workspaceId);
      if (hash === null) return null;
      return (await repository.findSession(db, hash, workspaceId, clock.now())) ?? null;
    },
    async leave({ workspaceId }, header) {
      const hash = cookie.read(header, workspaceId);
      if (hash !== null) await repository.deleteSession(db, hash);
    },
    receipts: ({ id }) => repository.listReceipts(db, id, RECEIPTS),
    watchable: ({ workspaceId }, { id: customerId }) =>
      rights.listWatchable(db, { workspaceId, customerId, now: clock.now() }, WATCHABLE),
    tiers: ({ workspaceId }) => repository.listTiers(db, workspaceId),
    async cleanUp() {
      const now = clock.now();
      await repository.deleteExpired(db, { links: dateFromMs(now.getTime() - DAY_MS), now });
    },
  };
}

async function enter(
  { clock }: Deps,
  tx: Tx,
  { workspaceId }: Creator,
  token: string,
): Promise<string | null> {
  const now = clock.now();
  const customerId = await repository.consumeLink(tx, hashToken(token), workspaceId, now);
  if (customerId === undefined) return null;
  const value = newToken();
  await repository.insertSession(tx, {
    token_hash: hashToken(value),
    customer_id: customerId,
    workspace_id: workspaceId,
    expires_at: dateFromMs(now.getTime() + SESSION_MS),
    created_at: now,
  });
  return value;
}

/** @returns false when there is no request left. */
async function answerRequest({ clock, mailbox, mailCaps, publicUrl }: Deps, tx: Tx): Promise<boolean> {
  const request = await repository.claimNextRequest(tx);
  if (request === undefined) return false;
  const customer = await repository.findCustomer(tx, request.workspace_id, request.email);
  if (customer === undefined) return true;
  const now = clock.now();
  const since = dateFromMs(now.getTime() - HOUR_MS);
  if ((await repository.countLinks(tx, customer.id, since)) >= LINKS_PER_HOUR) return true;
  // The sender was counted with the request.
  if (!(await mailCaps.mayMail(customer.email, null))) return true;
  const token = newToken();
  await repository.insertLink(tx, {
    token_hash: hashToken(token),
    customer_id: customer.id,
    expires_at: dateFromMs(now.getTime() + LINK_MS),
    created_at: now,
  });
  const name = customer.name ?? customer.username;
  await mailbox.enqueue(tx, {
    kind: 'member-link',
    to: customer.email,
    subject: `Your membership with ${name}`,
    text: `A sign-in link was requested for your membership with ${name}.

Open this link within 15 minutes. It works once:

${publicUrl}${memberPath(customer)}/enter?token=${token}

If this wasn't you, ignore this email. The link is required to sign in.
`,
  });
  return true;
}
