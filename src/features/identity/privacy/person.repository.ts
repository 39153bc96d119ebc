import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../../platform/db/index.ts';
import { anonymizeRows, deleteRows, rowsOf, type Subject } from './rows.repository.ts';

/** Person as referenced in rows of others. */
export interface Person {
  /** Normalized email address. */
  email: string;
  /** IDs of the account and its workspaces; empty without an account. */
  ids: readonly string[];
  username: string | null;
  /** Display name: free text, so others' rows are not deleted for containing it. */
  name: string | null;
}

/** Replacement of an email address: unique with the row ID, and undeliverable (RFC 2606). */
const NOWHERE = '@erased.invalid';

/** Kinds of emails whose subject names a creator, and the text around the name. */
const NAMING_SUBJECTS = [
  ['member-link', '^Your membership with ', '$'],
  ['refund', '^', ' has refunded you '],
  ['subscriber-confirm', '^Confirm your subscription to ', '$'],
  ['subscriber-confirm', '^May ', ' write to you[?]$'],
  ['subscription-canceled', '^Your subscription to .* of ', ' was canceled$'],
  ['subscription-confirm', '^Continue your subscription to .* of ', '[?]$'],
  ['subscription-confirm', '^Do you want to pay for .* of ', '[?]$'],
  ['subscription-expired', '^Your subscription to .* of ', ' has ended$'],
  ['subscription-expired', '^Your subscription to .* of ', ' is over$'],
  ['subscription-price', '^Your price for .* of ', ' is changing$'],
  ['subscription-price', '^The price of your subscription to .* of ', ' changes$'],
  ['subscription-renews', '^Your subscription to .* of ', ' renews soon$'],
] as const;

/** Requests the deletion of customers at the payment provider, once the transaction commits. */
export type DeleteProviderCustomers = (
  tx: Tx,
  customers: readonly { id: string; ref: string | null }[],
) => Promise<void>;

/** Overwrites everything of customers but the ID that the ledger references. */
async function overwriteCustomers(
  db: Tx,
  condition: RawBuilder<boolean>,
  forget: DeleteProviderCustomers,
): Promise<void> {
  const known = await sql<{ id: string; ref: string | null }>`select id, provider_ref as ref
    from ${sql.table('customer')} where ${condition} and provider is distinct from 'SANDBOX'
    and email <> id || ${NOWHERE} order by id for update`.execute(db);
  await forget(db, known.rows);
  const ids = sql<boolean>`customer_id in (select id from ${sql.table('customer')} where ${condition})`;
  const noCard = sql`payment_method = null`;
  await anonymizeRows(db, 'subscription', noCard, ids);
  await anonymizeRows(
    db,
    'payment',
    noCard,
    sql<boolean>`purchase_id in (select id from ${sql.table('purchase')} where ${ids})`,
  );
  await deleteRows(db, 'member_session', ids);
  await deleteRows(db, 'member_link', ids);
  await anonymizeRows(
    db,
    'customer',
    sql`email = id || ${NOWHERE}, name = null, provider_ref = null, method_ref = null, card_brand = null,
      card_last4 = null, card_exp_month = null, card_exp_year = null, card_expiry_notified_for = null`,
    condition,
  );
}

/** Removes personal data and free text from payments, which must be retained. */
export async function anonymizeLedger(
  tx: Tx,
  subject: Subject,
  forget: DeleteProviderCustomers,
): Promise<void> {
  await overwriteCustomers(tx, rowsOf('customer', subject), forget);
  await anonymizeRows(
    tx,
    'payment',
    sql`request = '{}'::jsonb, action_url = null, failure_message = null, reason = null`,
    rowsOf('payment', subject),
  );
  await anonymizeRows(
    tx,
    'sandbox_payment',
    sql`return_url = null, description = ''`,
    rowsOf('sandbox_payment', subject),
  );
}

/** Removes the data that a buyer, subscriber or guest left at other creators under an email address. */
export async function erasePerson(db: Tx, person: Person, forget: DeleteProviderCustomers): Promise<void> {
  const { email } = person;
  const is = (column: string) => sql<boolean>`${sql.ref(column)} = ${email}`;
  await overwriteCustomers(db, is('email'), forget);
  await eraseVisits(db, email);
  await anonymizeRows(
    db,
    'booking',
    sql`customer_email = id || ${NOWHERE}, customer_name = '', intake_answers = null, cancel_reason = null`,
    is('customer_email'),
  );
  await anonymizeRows(db, 'support_ticket', sql`reporter_email = null`, is('reporter_email'));
  await anonymizeRows(db, 'waitlist_entry', sql`email = id || ${NOWHERE}, name = null`, is('email'));
  await anonymizeRows(
    db,
    'checkout',
    sql`customer_email = null, client_reference_id = null, metadata = '{}'::jsonb`,
    sql<boolean>`customer_email = ${email} or ${mentionsEmail('metadata::text', email)}`,
  );
  for (const table of [
    'team_invitation',
    'registration_invite',
    'email_link_request',
    'member_link_request',
  ] as const)
    await deleteRows(db, table, is('email'));
  await eraseMentions(db, person);
}

/**
 * Removes a customer from rooms, which know the booking ID and the name; runs before the booking is
 * anonymized.
 */
async function eraseVisits(db: Tx, email: string): Promise<void> {
  const { rows } = await sql<{ id: string }>`select id from ${sql.table('booking')}
    where customer_email = ${email}`.execute(db);
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id);
  const theirs = sql<boolean>`identity in (${sql.join(ids)})`;
  await anonymizeRows(db, 'room_participant', sql`name = null`, theirs);
  await deleteEvents(db, sql<boolean>`type like 'room.participant%' and ${contains('body', ids)}`);
}

async function deleteEvents(db: Tx, condition: RawBuilder<boolean>): Promise<void> {
  const them = sql<boolean>`event_id in (select id from ${sql.table('event')} where ${condition})`;
  await deleteRows(db, 'delivery_job', them);
  await deleteRows(db, 'delivery_log', them);
  await deleteRows(db, 'event', condition);
}

/** Deletes log entries and messages to others that mention the person. */
async function eraseMentions(db: Tx, { email, ids, username, name }: Person): Promise<void> {
  const said = (column: string) =>
    sql<boolean>`(${contains(column, ids)} or ${mentionsEmail(column, email)})`;
  const named = (column: string) =>
    username === null
      ? said(column)
      : sql<boolean>`(${said(column)} or ${mentionsUsername(column, username)})`;
  await deleteEvents(db, said('body'));
  await deleteRows(db, 'delivery_log', said('response_body'));
  await deleteRows(db, 'stream_log', said('body::text'));
  await deleteRows(
    db,
    'notification',
    sql<boolean>`${named('title')} or ${named('body')} or ${said('action_url')} or ${said('resource_id')}`,
  );
  await deleteRows(
    db,
    'mail',
    sql<boolean>`recipient = ${email} or (status <> 'QUEUED' and ${said('subject')})`,
  );
  for (const called of [name, username]) if (called !== null) await eraseSubjects(db, called);
  await deleteRows(db, 'request_log', named('path'));
  // Reports about their channel; reports about their content contain only IDs.
  await deleteRows(
    db,
    'support_ticket',
    sql<boolean>`account_id is null and (reported_id = ${username} or ${said('reported_id')})`,
  );
  if (ids.length === 0) return;
  const among = (column: string) => sql<boolean>`${sql.ref(column)} in (${sql.join(ids)})`;
  await deleteRows(db, 'chat_message', among('author_id'));
  await deleteRows(db, 'chat_ban', among('author_id'));
  await deleteRows(db, 'api_key', among('created_by'));
  await deleteRows(db, 'api_key_retired_secret', among('created_by'));
  await deleteRows(db, 'team_invitation', among('invited_by'));
  await deleteRows(db, 'team_activity', among('user_id'));
  await anonymizeRows(db, 'room_participant', sql`identity = id, name = null`, among('identity'));
  await deleteRows(db, 'room_ban', among('identity'));
  await deleteRows(db, 'job_turn', among('group_id'));
}

/**
 * Removes only the name, and only at its position in subjects of creators' emails: it may be a word or a
 * letter that any other subject contains.
 */
async function eraseSubjects(db: Tx, called: string): Promise<void> {
  for (const [kind, before, after] of NAMING_SUBJECTS) {
    const pattern = `(${before})${escaped(called)}(${after})`;
    const says = sql<boolean>`status <> 'QUEUED' and kind = ${kind} and subject ~ ${pattern}`;
    await anonymizeRows(db, 'mail', sql`subject = regexp_replace(subject, ${pattern}, '\\1…\\2')`, says);
  }
}

/** @param needles IDs, which occur nowhere else by chance. */
function contains(column: string, needles: readonly string[]): RawBuilder<boolean> {
  if (needles.length === 0) return sql<boolean>`false`;
  const each = needles.map((needle) => sql`strpos(${sql.raw(column)}, ${needle}) > 0`);
  return sql<boolean>`coalesce(${sql.join(each, sql` or `)}, false)`;
}

/** Matches an email address, but not as a part of a longer one. */
function mentionsEmail(column: string, email: string): RawBuilder<boolean> {
  const pattern = `(?<![[:alnum:]._+-])${escaped(email)}(?![[:alnum:]_-]|[.][[:alnum:]])`;
  return sql<boolean>`coalesce(${sql.raw(column)} ~* ${pattern}, false)`;
}

/** Matches a username in context (`@name`, `/users/name`), because it may be a common word. */
function mentionsUsername(column: string, username: string): RawBuilder<boolean> {
  const pattern = `(@|/users/|/channel/)${escaped(username)}(?![[:alnum:]_-])`;
  return sql<boolean>`coalesce(${sql.raw(column)} ~* ${pattern}, false)`;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
