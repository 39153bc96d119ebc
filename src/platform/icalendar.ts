import ical, {
  ICalAttendeeRole,
  ICalAttendeeStatus,
  ICalCalendarMethod,
  type ICalEvent,
  ICalEventStatus,
  ICalEventTransparency,
} from 'ical-generator';
import {
  tzlib_get_offset as libraryOffset,
  tzlib_get_ical_block as timezoneBlock,
} from 'timezones-ical-library';

interface Person {
  name: string;
  email: string;
}

/** An event of a calendar (RFC 5545, 3.6.1). Texts may hold anything. */
export interface CalendarEntry {
  /** Stays the same for as long as it is the same event, whatever becomes of it. */
  uid: string;
  /** Sequence number, incremented with every change sent to the attendees. */
  sequence: number;
  status: 'CONFIRMED' | 'CANCELLED';
  startsAt: Date;
  endsAt: Date;
  /** IANA: the zone in which it is shown to have been planned. */
  timezone: string;
  title: string;
  description?: string | undefined;
  /** Place of the event, or the link to join it. */
  location?: string | undefined;
  url?: string | undefined;
  createdAt: Date;
  /** When this version of it was made. */
  updatedAt: Date;
  /** Organizer and attendee of an invitation. */
  organizer?: Person | undefined;
  attendee?: Person | undefined;
}

export interface CalendarFile {
  /** PUBLISH for feeds; REQUEST and CANCEL are what mails carry (RFC 5546, 3.2). */
  method: 'PUBLISH' | 'REQUEST' | 'CANCEL';
  /** Name of the calendar in a subscription. */
  name?: string;
  entries: readonly CalendarEntry[];
}

const PRODUCT = '//Marquee//Booking//EN';

/**
 * Writes an iCalendar file (RFC 5545): `text/calendar; charset=utf-8; method=…`. Times are written in their
 * zone, with a VTIMEZONE; in UTC when the zone's rules at the time of an event differ from those of this
 * system.
 */
export function writeCalendar({ method, name, entries }: CalendarFile): string {
  const calendar = ical({
    prodId: PRODUCT,
    method: ICalCalendarMethod[method],
    ...(name === undefined ? {} : { name: inOneLine(name) }),
  });
  // The zone is set on each event: a zone on the calendar would remove the Z from times that must be in UTC.
  calendar.timezone({ name: null, generator: (zone) => blockOf(zone)?.text ?? null });
  for (const entry of entries) addEntry(calendar.createEvent(spanOf(entry)), entry);
  return calendar.toString();
}

/** The event's times, in its zone or in UTC. */
function spanOf({ startsAt, endsAt, timezone }: CalendarEntry) {
  const block = blockOf(timezone);
  const start = inZone(startsAt, timezone);
  const end = inZone(endsAt, timezone);
  const isExact = block !== null && [start, end].every((moment) => agrees(timezone, moment));
  return isExact ? { start, end, timezone: block.name } : { start: startsAt, end: endsAt };
}

function addEntry(event: ICalEvent, entry: CalendarEntry): void {
  const { organizer, attendee } = entry;
  event
    .id(entry.uid)
    .sequence(entry.sequence)
    .stamp(entry.updatedAt)
    .created(entry.createdAt)
    .lastModified(entry.updatedAt)
    .summary(clean(entry.title))
    .transparency(ICalEventTransparency.OPAQUE)
    .status(ICalEventStatus[entry.status]);
  if (entry.description !== undefined) event.description({ plain: clean(entry.description) });
  if (entry.location !== undefined) event.location(clean(entry.location));
  // A URI has no escapes of its own (RFC 5545, 3.3.13), and the characters that the library would escape can
  // be percent-encoded.
  if (entry.url !== undefined)
    event.url(new URL(entry.url).href.replaceAll(',', '%2C').replaceAll(';', '%3B'));
  if (organizer !== undefined) event.organizer(partyOf(organizer));
  if (attendee === undefined) return;
  event.createAttendee({
    ...partyOf(attendee),
    role: ICalAttendeeRole.REQ,
    status: ICalAttendeeStatus.ACCEPTED,
    rsvp: false,
  });
}

/** An address in a `mailto:` (RFC 6068) is percent-encoded but for its at sign. */
function partyOf({ name, email }: Person) {
  const at = email.lastIndexOf('@');
  const mailto = `${encodeURIComponent(email.slice(0, at))}@${encodeURIComponent(email.slice(at + 1))}`;
  const label = clean(name)
    .replaceAll(/[\n\t]+/g, ' ')
    .trim();
  return { name: label === '' ? email : label, email: mailto, mailto };
}

/** Removes control characters, which text must not contain (RFC 5545, 3.3.11), and unpaired surrogates. */
function clean(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[\p{Cc}\u2028\u2029]/gu, (found) => (found === '\n' || found === '\t' ? found : ''));
}

const inOneLine = (text: string) => clean(text).replaceAll(/\s+/g, ' ').trim();

interface Block {
  text: string;
  /** By which the block is known: of a zone with several names, the one in use. */
  name: string;
}

function blockOf(timezone: string): Block | null {
  const [text, parameter] = timezoneBlock(timezone);
  if (text === undefined || parameter === undefined || !text.startsWith('BEGIN:VTIMEZONE')) return null;
  return { text, name: parameter.replace('TZID=', '') };
}

const inZone = (date: Date, timezone: string) =>
  Temporal.Instant.fromEpochMilliseconds(date.getTime()).toZonedDateTimeISO(timezone);

function agrees(timezone: string, moment: Temporal.ZonedDateTime): boolean {
  const day = moment.toPlainDate().toString();
  const time = moment.toPlainTime().toString({ smallestUnit: 'minute' });
  return libraryOffset(timezone, day, time) === moment.offset.replace(':', '');
}
