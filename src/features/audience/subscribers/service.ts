import type { AppendEvent, Events } from '../../../events/index.ts';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS, MINUTE_MS } from '../../../kernel/durations.ts';
import { parseEmail } from '../../../kernel/email.ts';
import { badRequest, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import type { MailCaps, NewEmail } from '../../integration/mail/index.ts';
import { confirmationEmail } from './emails.ts';
import { subscriberAdded, subscriberRemoved } from './events.ts';
import type { SubscriberLinks } from './links.ts';
import type { AddressRow, SubscriberFilters, SubscriberRow } from './repository.ts';
import * as repository from './repository.ts';
import { addOutcome } from './rules.ts';
import type { SubscriberIn } from './schemas.ts';

/** The list of people whom a creator may write to (docs/concepts/subscribers.md). An id of another workspace is NOT_FOUND. */
export interface Subscribers {
  /**
   * Adds an email address once; a repeat returns the existing row. An address without consent gets a
   * confirmation email.
   *
   * @throws {AppError} BAD_REQUEST, field `email`, `name`, `source` or `consentAt`; RATE_LIMITED.
   */
  add(
    workspaceId: string,
    input: SubscriberIn & { source: string },
  ): Promise<{ row: SubscriberRow; isNew: boolean }>;
  list(workspaceId: string, filters: SubscriberFilters, page: PageRequest): Promise<SubscriberRow[]>;
  remove(workspaceId: string, id: string): Promise<void>;
  /** Removes the email address from all lists. */
  forget(email: string): Promise<void>;
  /**
   * Returns the creator and the email address of a confirmation. @throws {AppError} NOT_FOUND for a link that
   * is invalid, expired or void.
   */
  asked(id: string, token: string): Promise<{ creator: string; email: string }>;
  /** @throws {AppError} NOT_FOUND. */
  confirm(id: string, token: string): Promise<{ creator: string }>;
  /** Returns the subscription of an unsubscribe link. @throws {AppError} NOT_FOUND for an invalid link. */
  leaving(id: string, token: string): Promise<{ creator: string; email: string } | null>;
  /**
   * Unsubscribes. Idempotent, also after the row was deleted. @throws {AppError} NOT_FOUND for an invalid
   * link.
   */
  leave(id: string, token: string): Promise<void>;
  /** Deletes old confirmation requests. */
  cleanUp(): Promise<void>;
}

interface Deps {
  db: Db;
  events: Pick<Events, 'transaction'>;
  clock: Clock;
  secrets: Pick<Secrets, 'sign'>;
  links: SubscriberLinks;
  mailbox: { enqueue(tx: Tx, mail: NewEmail): Promise<void> };
  mailCaps: Pick<MailCaps, 'from'>;
}

/** Tolerated lead of client clocks. */
const AHEAD_MS = 5 * MINUTE_MS;
const REQUEST_RETENTION_MS = 2 * DAY_MS;
const CONTROL = /\p{Cc}/u;

export function createSubscribers(deps: Deps): Subscribers {
  const { db, events, clock, links } = deps;
  const remove = (known: SubscriberRow) =>
    changing(deps, known, async (work, row) => {
      await repository.deleteSubscriber(work.tx, row.id);
      if (row.status !== 'UNSUBSCRIBED') await tellRemoved(work, row);
    });
  return {
    async add(workspaceId, input) {
      const entry = parse(input, clock.now());
      return events.transaction((tx, append) => add(deps, { tx, append }, workspaceId, entry));
    },
    list: (workspaceId, filters, page) => repository.listSubscribers(db, workspaceId, filters, page),
    remove: async (workspaceId, id) => remove(await found(repository.findSubscriber(db, id, workspaceId))),
    async forget(email) {
      for (const row of await repository.findEverywhere(db, email)) await remove(row);
    },
    async asked(id, token) {
      const row = await found(repository.findSubscriber(db, id));
      return { creator: await confirmable(deps, db, row, token), email: row.email };
    },
    async confirm(id, token) {
      const known = await found(repository.findSubscriber(db, id));
      return changing(deps, known, async ({ tx }, row, address) => {
        const creator = await confirmable(deps, tx, row, token);
        if (row.status === 'PENDING') {
          await repository.updateSubscriber(tx, id, { status: 'CONFIRMED', updated_at: clock.now() });
          await repository.updateAddress(tx, address, { unsubscribed_at: null });
        }
        return { creator };
      });
    },
    async leaving(id, token) {
      if (!links.mayLeave(id, token)) throw notFound();
      const row = await repository.findSubscriber(db, id);
      if (row === undefined || row.status === 'UNSUBSCRIBED') return null;
      const { name } = await repository.findCreator(db, row.workspace_id);
      return { creator: name, email: row.email };
    },
    async leave(id, token) {
      if (!links.mayLeave(id, token)) throw notFound();
      const known = await repository.findSubscriber(db, id);
      if (known !== undefined)
        await changing(deps, known, (work, row, address) => leave(deps, work, row, address));
    },
    cleanUp: () => repository.deleteStaleAddresses(db, dateFromMs(clock.ms() - REQUEST_RETENTION_MS)),
  };
}

interface Entry {
  email: string;
  name: string | null;
  source: string;
  consentAt: Date | null;
}

function parse(
  { email: text, name, source, consentAt }: SubscriberIn & { source: string },
  now: Date,
): Entry {
  const email = parseEmail(text);
  if (email === null) throw badRequest('email', 'Enter a valid email address, such as name@example.com.');
  const agreed = consentAt ? dateFromMs(Temporal.Instant.from(consentAt).epochMilliseconds) : null;
  if (agreed !== null && agreed.getTime() > now.getTime() + AHEAD_MS) {
    throw badRequest('consentAt', 'consentAt must not be in the future.');
  }
  return {
    email,
    name: parseLine('name', name ?? null),
    source: parseLine('source', source) ?? '',
    consentAt: agreed,
  };
}

/** Parses one line; returns null when it is empty. */
function parseLine(field: string, text: string | null): string | null {
  const line = text?.trim() ?? '';
  if (CONTROL.test(line))
    throw badRequest(field, `${field} must not contain line breaks or control characters.`);
  return line === '' ? null : line;
}

interface Work {
  tx: Tx;
  append: AppendEvent;
}

/** Returns the hash that remains of an unsubscribed email address, which cannot be derived from it. */
function hashOf({ secrets }: Pick<Deps, 'secrets'>, workspaceId: string, email: string): Buffer {
  return Buffer.from(secrets.sign('subscriber address', `${workspaceId} ${email}`), 'base64url');
}

async function add(deps: Deps, work: Work, workspaceId: string, entry: Entry) {
  const { tx } = work;
  const now = deps.clock.now();
  const { email, name, source, consentAt } = entry;
  const address = await repository.lockAddress(tx, workspaceId, hashOf(deps, workspaceId, email));
  const known = await repository.findByEmail(tx, workspaceId, email);
  const outcome = addOutcome(
    {
      status: known?.status ?? null,
      hasLeft: address.unsubscribed_at !== null,
      askedAt: address.confirmation_sent_at,
    },
    consentAt !== null,
    now,
  );
  const { status } = outcome;
  const agreed = status === 'CONFIRMED' ? consentAt : null;
  const row =
    known === undefined
      ? await repository.insertSubscriber(tx, {
          ...{ id: newId('sbr', deps.clock), workspace_id: workspaceId, email, name, source, status },
          ...{ consent_at: agreed, event_sequence: 0, created_at: now, updated_at: now },
        })
      : known.status === status
        ? known
        : await repository.updateSubscriber(tx, known.id, {
            ...{ status, consent_at: agreed, updated_at: now },
            confirmation_round: known.confirmation_round + (outcome.isAdded ? 1 : 0),
          });
  if (outcome.isAdded) await tell(work, subscriberAdded, row);
  if (outcome.isAsked) await ask(deps, tx, row, address);
  return { row, isNew: known === undefined };
}

async function ask(deps: Deps, tx: Tx, row: SubscriberRow, address: AddressRow): Promise<void> {
  const { name } = await repository.findCreator(tx, row.workspace_id);
  const { clock, links, mailbox, mailCaps } = deps;
  await mailCaps.from({ actorId: row.workspace_id })(row.email);
  const urls = { confirmUrl: links.confirmUrl(row), leaveUrl: links.leaveUrl(row.id) };
  await repository.updateAddress(tx, address, { confirmation_sent_at: clock.now() });
  await mailbox.enqueue(tx, confirmationEmail({ to: row.email, creator: name, ...urls }));
}

async function tell(
  { tx, append }: Work,
  event: typeof subscriberAdded | typeof subscriberRemoved,
  { id, workspace_id: workspaceId, source, status, event_sequence: last }: SubscriberRow,
): Promise<void> {
  const sequence = last + 1;
  await repository.updateSubscriber(tx, id, { event_sequence: sequence });
  await append(event, workspaceId, { subscriberId: id, source, status, sequence });
}

/** Emits the removal; the row is already deleted. */
function tellRemoved({ append }: Work, row: SubscriberRow): Promise<string> {
  const { id: subscriberId, source, status, event_sequence: last } = row;
  return append(subscriberRemoved, row.workspace_id, { subscriberId, source, status, sequence: last + 1 });
}

/**
 * Runs the work under the lock of the address with the current row. @throws {AppError} NOT_FOUND when it is
 * deleted.
 */
function changing<T>(
  deps: Deps,
  { id, workspace_id: workspaceId, email }: SubscriberRow,
  work: (work: Work, row: SubscriberRow, address: AddressRow) => Promise<T>,
): Promise<T> {
  return deps.events.transaction(async (tx, append) => {
    const address = await repository.lockAddress(tx, workspaceId, hashOf(deps, workspaceId, email));
    return work({ tx, append }, await found(repository.findSubscriber(tx, id)), address);
  });
}

/** @returns the creator whose list it is. @throws {AppError} NOT_FOUND. */
async function confirmable({ links }: Deps, db: Db, row: SubscriberRow, token: string): Promise<string> {
  if (row.status === 'UNSUBSCRIBED' || !links.mayConfirm(row, token)) throw notFound();
  const { name, suspended_at: suspendedAt } = await repository.findCreator(db, row.workspace_id);
  if (suspendedAt !== null) throw notFound();
  return name;
}

async function leave({ clock }: Deps, work: Work, row: SubscriberRow, address: AddressRow): Promise<void> {
  if (row.status === 'UNSUBSCRIBED') return;
  const now = clock.now();
  const change = { status: 'UNSUBSCRIBED', consent_at: null, updated_at: now } as const;
  const left = await repository.updateSubscriber(work.tx, row.id, change);
  await repository.updateAddress(work.tx, address, { unsubscribed_at: now });
  await tell(work, subscriberRemoved, left);
}

async function found(row: Promise<SubscriberRow | undefined>): Promise<SubscriberRow> {
  const known = await row;
  if (known === undefined) throw notFound();
  return known;
}
