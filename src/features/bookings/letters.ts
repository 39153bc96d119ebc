import type { Tx } from '../../platform/db/index.ts';
import type { NewMail } from '../mail/index.ts';
import type { BookingLinks } from './links.ts';
import type { BookingPorts } from './ports.ts';
import type { BookingFacts, BookingRow } from './repository.ts';
import * as repository from './repository.ts';
import { refundableUntil } from './rules.ts';
import { startIn, timesOf } from './words.ts';

/** Mails to the customer of a booking, in the transaction of what they tell of. */
export interface Letters {
  confirmed(tx: Tx, row: BookingRow): Promise<void>;
  moved(tx: Tx, row: BookingRow): Promise<void>;
  canceled(tx: Tx, row: BookingRow, isRefunded: boolean): Promise<void>;
  reminder(tx: Tx, row: BookingRow): Promise<void>;
}

type Deps = Pick<BookingPorts, 'mailbox' | 'invitation'> & { links: BookingLinks };

interface Written {
  kind: string;
  subject: string;
  lines: (string | null)[];
  /** The calendar entry that goes with it. */
  method: 'REQUEST' | 'CANCEL' | null;
}

export function createLetters(deps: Deps): Letters {
  const send = async (tx: Tx, row: BookingRow, write: (facts: BookingFacts) => Written) => {
    const facts = await repository.findFacts(tx, row.id);
    const written = write(facts);
    await deps.mailbox.enqueue(tx, mailOf(deps, row, facts, written));
  };
  return {
    confirmed: (tx, row) => send(tx, row, (facts) => confirmation(deps, row, facts)),
    moved: (tx, row) => send(tx, row, (facts) => removal(deps, row, facts)),
    canceled: (tx, row, isRefunded) => send(tx, row, (facts) => cancellation(row, facts, isRefunded)),
    reminder: (tx, row) => send(tx, row, (facts) => reminder(deps, row, facts)),
  };
}

const nameOf = ({ name, username }: BookingFacts) => name ?? username;

function mailOf(deps: Deps, row: BookingRow, facts: BookingFacts, written: Written): NewMail {
  const { kind, subject, lines, method } = written;
  const told = lines.filter((line) => line !== null).join('\n\n');
  const mail = { kind, to: row.customer_email, subject, text: `Hello ${row.customer_name},\n\n${told}\n` };
  if (method === null || row.starts_at === null || row.ends_at === null) return mail;
  const calendar = deps.invitation({
    uid: row.id,
    sequence: row.ics_sequence,
    method,
    startsAt: row.starts_at,
    endsAt: row.ends_at,
    timezone: row.timezone,
    title: `${facts.title} with ${nameOf(facts)}`,
    location: deps.links.joinUrl(row.id),
    url: deps.links.manageUrl(row.id),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    organizer: nameOf(facts),
    attendee: { name: row.customer_name, email: row.customer_email },
  });
  return { ...mail, calendar };
}

const what = (facts: BookingFacts) => `"${facts.title}" with ${nameOf(facts)}`;

function ways({ links }: Deps, row: BookingRow): string[] {
  const until = refundableUntil(row);
  const refund =
    row.amount_cents > 0 && until !== null
      ? ` Whoever cancels before ${startIn({ ...row, starts_at: until }, row.customer_timezone ?? row.timezone)} is given everything back.`
      : '';
  const change = row.type === 'COHORT' ? 'Cancel it here.' : 'Cancel it or move it here.';
  return [
    `Join here when it begins:\n\n${links.joinUrl(row.id)}`,
    `${change}${refund}\n\n${links.manageUrl(row.id)}`,
  ];
}

function confirmation(deps: Deps, row: BookingRow, facts: BookingFacts): Written {
  return {
    kind: 'booking-confirmed',
    subject: `Booked: ${facts.title}`,
    lines: [`You have booked ${what(facts)}.`, timesOf(row).join('\n'), test(facts), ...ways(deps, row)],
    method: 'REQUEST',
  };
}

function removal(deps: Deps, row: BookingRow, facts: BookingFacts): Written {
  return {
    kind: 'booking-moved',
    subject: `Moved: ${facts.title}`,
    lines: [`${what(facts)} takes place at another time.`, timesOf(row).join('\n'), ...ways(deps, row)],
    method: 'REQUEST',
  };
}

function cancellation(row: BookingRow, facts: BookingFacts, isRefunded: boolean): Written {
  const by = row.canceled_by === 'CUSTOMER' ? 'You have canceled' : `${nameOf(facts)} has canceled`;
  const refund = isRefunded
    ? 'What you paid is given back to your card.'
    : row.amount_cents > 0
      ? 'What you paid is not given back.'
      : null;
  return {
    kind: 'booking-canceled',
    subject: `Canceled: ${facts.title}`,
    lines: [
      `${by} "${facts.title}".`,
      timesOf(row).join('\n'),
      row.canceled_by === 'CUSTOMER' || row.cancel_reason === null
        ? null
        : `The reason: ${row.cancel_reason}`,
      refund,
    ],
    method: 'CANCEL',
  };
}

function reminder(deps: Deps, row: BookingRow, facts: BookingFacts): Written {
  return {
    kind: 'booking-reminder',
    subject: `Soon: ${facts.title}`,
    lines: [`${what(facts)} begins in an hour.`, timesOf(row).join('\n'), ...ways(deps, row)],
    method: null,
  };
}

const test = ({ mode }: BookingFacts) =>
  mode === 'test' ? 'This is a booking in test mode: no money moves.' : null;
