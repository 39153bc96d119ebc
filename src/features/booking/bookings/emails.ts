import type { Tx } from '../../../platform/db/index.ts';
import type { NewEmail } from '../../integration/mail/index.ts';
import {
  type BookingEmailContext,
  calendarInvite,
  type InvitationDeps,
  nameOf,
  type OccurrenceTime,
  timesOf,
} from './calendar-invites.ts';
import { formatStart, formatTimeLines } from './format.ts';
import type { BookingLinks } from './links.ts';
import type { BookingPorts } from './ports.ts';
import type { BookingContext, BookingRow } from './repository.ts';
import * as repository from './repository.ts';
import { refundableUntil } from './rules.ts';

/** Emails to the customer of a booking, enqueued in the transaction of the change. */
export interface BookingEmails {
  confirmed(tx: Tx, row: BookingRow): Promise<void>;
  /**
   * Sends the new times. A cohort booking lists the sessions that were removed since the change number in
   * `row`.
   */
  moved(tx: Tx, row: BookingRow): Promise<void>;
  canceled(tx: Tx, row: BookingRow, isRefunded: boolean): Promise<void>;
  /** Sends a reminder, with the times of the session for a cohort. */
  reminder(tx: Tx, row: BookingRow): Promise<void>;
}

type Deps = Pick<BookingPorts, 'mailbox' | 'mailCaps'> & InvitationDeps & { links: BookingLinks };

interface Written {
  kind: string;
  subject: string;
  lines: (string | null)[];
  /** Method of the attached calendar. */
  method: 'REQUEST' | 'CANCEL' | null;
}

export function createBookingEmails(deps: Deps): BookingEmails {
  const send = async (tx: Tx, row: BookingRow, write: (told: BookingEmailContext) => Written) => {
    const facts = await repository.findBookingContext(tx, row.id);
    const told = { row: begun(row, facts), facts, times: await timesOf(deps, tx, row) };
    await deps.mailbox.enqueue(tx, buildEmail(deps, told, write(told)));
  };
  /** Emails are limited per mailbox, because the address was typed once. */
  const sendLater: typeof send = async (tx, row, write) => {
    if (await deps.mailCaps.mayMail(row.customer_email, null)) await send(tx, row, write);
  };
  return {
    // Sent without a limit: it was counted at the payment or booking.
    confirmed: (tx, row) => send(tx, row, (told) => confirmation(deps, told)),
    moved: (tx, row) => sendLater(tx, row, (told) => removal(deps, told)),
    canceled: (tx, row, isRefunded) => sendLater(tx, row, (told) => cancellation(told, isRefunded)),
    reminder: (tx, row) => sendLater(tx, row, (told) => reminder(deps, told)),
  };
}

/** A cohort booking begins with its cohort. */
const begun = (row: BookingRow, facts: BookingContext) => ({
  ...row,
  starts_at: row.starts_at ?? facts.cohort_starts_at,
});

function buildEmail(
  deps: Deps,
  told: BookingEmailContext,
  { kind, subject, lines, method }: Written,
): NewEmail {
  const { row } = told;
  const words = lines.filter((line) => line !== null).join('\n\n');
  const mail = { kind, to: row.customer_email, subject, text: `Hello ${row.customer_name},\n\n${words}\n` };
  const calendar = method === null ? null : calendarInvite(deps, told, method);
  return calendar === null ? mail : { ...mail, calendar };
}

const what = (facts: BookingContext) => `"${facts.title}" with ${nameOf(facts)}`;

function ways({ links, clock }: Deps, { row, facts }: BookingEmailContext): string[] {
  const join = `Join here when it begins:\n\n${links.joinUrl(row)}`;
  const begins = facts.cohort_starts_at ?? row.starts_at;
  if (begins !== null && begins <= clock.now()) return [join];
  const until = refundableUntil(row);
  const refund =
    row.amount_cents > 0 && until !== null && until > clock.now()
      ? ` Cancel before ${formatStart({ ...row, starts_at: until }, zoneOf(row))} for a full refund.`
      : '';
  const change = row.type === 'COHORT' ? 'Cancel here.' : 'Cancel or reschedule here.';
  return [join, `${change}${refund}\n\n${links.manageUrl(row.id)}`];
}

const zoneOf = (row: BookingRow) => row.customer_timezone ?? row.timezone;

/** Returns the lines about the time, with the sessions of a cohort. */
function whenOf({ row, times }: BookingEmailContext): string[] {
  const first = formatTimeLines(row).join('\n');
  if (row.type !== 'COHORT') return [first];
  const sessions = (wanted: boolean) => times.filter(({ isRemoved }) => isRemoved === wanted);
  return [
    first,
    ...listed('Sessions:', row, sessions(false)),
    ...listed('No longer taking place:', row, sessions(true)),
  ];
}

/** Maximum sessions listed in an email; the attached calendar has all. */
const MAX_LISTED = 20;

function listed(title: string, row: BookingRow, times: readonly OccurrenceTime[]): string[] {
  if (times.length === 0) return [];
  const shown = times.slice(0, MAX_LISTED).map(({ startsAt }) => {
    return `- ${formatStart({ ...row, starts_at: startsAt }, zoneOf(row))}`;
  });
  const rest = times.length - shown.length;
  return [[title, ...shown, ...(rest === 0 ? [] : [`- and ${rest} more, in the calendar`])].join('\n')];
}

function confirmation(deps: Deps, told: BookingEmailContext): Written {
  const { facts } = told;
  return {
    kind: 'booking-confirmed',
    subject: `Booked: ${facts.title}`,
    lines: [`You have booked ${what(facts)}.`, ...whenOf(told), test(facts), ...ways(deps, told)],
    method: 'REQUEST',
  };
}

function removal(deps: Deps, told: BookingEmailContext): Written {
  const { row, facts } = told;
  const times = row.type === 'COHORT' ? 'at other times' : 'at another time';
  return {
    kind: 'booking-moved',
    subject: `Rescheduled: ${facts.title}`,
    lines: [`${what(facts)} has been rescheduled ${times}.`, ...whenOf(told), ...ways(deps, told)],
    method: 'REQUEST',
  };
}

function cancellation({ row, facts }: BookingEmailContext, isRefunded: boolean): Written {
  const by = row.canceled_by === 'CUSTOMER' ? 'You have canceled' : `${nameOf(facts)} has canceled`;
  const refund = isRefunded
    ? 'Your payment has been refunded to your card.'
    : row.amount_cents > 0
      ? 'This booking is not refundable.'
      : null;
  return {
    kind: 'booking-canceled',
    subject: `Canceled: ${facts.title}`,
    lines: [
      `${by} "${facts.title}".`,
      formatTimeLines(row).join('\n'),
      row.canceled_by === 'CUSTOMER' || row.cancel_reason === null ? null : `Reason: ${row.cancel_reason}`,
      refund,
    ],
    method: 'CANCEL',
  };
}

function reminder(deps: Deps, told: BookingEmailContext): Written {
  const { row, facts } = told;
  return {
    kind: 'booking-reminder',
    subject: `Reminder: ${facts.title}`,
    lines: [`${what(facts)} starts in an hour.`, formatTimeLines(row).join('\n'), ...ways(deps, told)],
    method: null,
  };
}

const test = ({ mode }: BookingContext) =>
  mode === 'test' ? 'This is a test mode booking. No money moves.' : null;
