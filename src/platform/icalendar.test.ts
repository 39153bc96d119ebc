import assert from 'node:assert/strict';
import { test } from 'node:test';
import ICAL from 'ical.js';
import { dateFromMs } from '../kernel/clock.ts';
import { type CalendarEntry, type CalendarFile, writeCalendar } from './icalendar.ts';

const at = (text: string) => dateFromMs(Temporal.Instant.from(text).epochMilliseconds);

const ENTRY: CalendarEntry = {
  uid: 'bkg_1@example.com',
  sequence: 2,
  status: 'CONFIRMED',
  startsAt: at('2027-03-28T00:30:00Z'),
  endsAt: at('2027-03-28T01:30:00Z'),
  timezone: 'Europe/Berlin',
  title: 'Coaching',
  createdAt: at('2026-11-20T09:00:00Z'),
  updatedAt: at('2026-11-21T09:00:00Z'),
};

/** Read strictly: what a parser must guess fails. */
function read(file: CalendarFile): { text: string; root: ICAL.Component; event: ICAL.Component } {
  const text = writeCalendar(file);
  for (const line of text.split('\r\n')) assert.ok(Buffer.byteLength(line) <= 75, `folded: ${line}`);
  assert.ok(!text.replaceAll('\r\n', '').includes('\r') && !text.replaceAll('\r\n', '').includes('\n'));
  const parsed: unknown = ICAL.parse(text);
  assert.ok(Array.isArray(parsed));
  const root = new ICAL.Component(parsed);
  const event = root.getFirstSubcomponent('vevent');
  assert.ok(event !== null);
  return { text, root, event };
}

function instantOf(event: ICAL.Component, name: string): number {
  const time = event.getFirstPropertyValue(name);
  assert.ok(time instanceof ICAL.Time);
  return time.toUnixTime() * 1000;
}

test('an invitation has all that a calendar needs, with times in their zone', () => {
  const { text, root, event } = read({
    method: 'REQUEST',
    entries: [
      {
        ...ENTRY,
        description: 'Bring a question.\nJoin: https://example.com/a',
        location: 'https://example.com/a,b;c',
        url: 'https://example.com/a?b=c,d;e',
        organizer: { name: 'Ada "The Coach"; & co', email: 'no-reply@example.com' },
        attendee: { name: 'Zoë', email: "o'neil+x@example.com" },
      },
    ],
  });
  assert.equal(root.getFirstPropertyValue('method'), 'REQUEST');
  assert.equal(root.getFirstPropertyValue('version'), '2.0');
  const value = (name: string) => event.getFirstPropertyValue(name)?.toString();
  assert.equal(value('uid'), 'bkg_1@example.com');
  assert.equal(value('sequence'), '2');
  assert.equal(value('status'), 'CONFIRMED');
  assert.equal(value('dtstamp'), '2026-11-21T09:00:00Z');
  assert.equal(value('description'), 'Bring a question.\nJoin: https://example.com/a');
  assert.equal(value('location'), 'https://example.com/a,b;c');
  assert.equal(value('url'), 'https://example.com/a?b=c%2Cd%3Be');
  assert.equal(value('organizer'), 'mailto:no-reply@example.com');
  assert.equal(value('attendee')?.toLowerCase(), "mailto:o'neil%2bx@example.com");
  assert.match(
    text,
    /DTSTART;TZID=Europe\/Berlin:20270328T013000\r\nDTEND;TZID=Europe\/Berlin:20270328T033000\r\n/,
  );
  assert.equal(root.getAllSubcomponents('vtimezone').length, 1);
  const canceled = read({ method: 'CANCEL', entries: [{ ...ENTRY, sequence: 3, status: 'CANCELLED' }] });
  assert.equal(canceled.root.getFirstPropertyValue('method'), 'CANCEL');
  assert.equal(canceled.event.getFirstPropertyValue('status'), 'CANCELLED');
  assert.equal(canceled.event.getFirstPropertyValue('uid'), 'bkg_1@example.com');
});

test('in every zone, an event is read back at its very moment, in winter and in summer', () => {
  const starts = ['2027-01-15T09:00:00Z', '2027-07-15T09:00:00Z', '2027-03-28T00:30:00Z'].map(at);
  const entries = Intl.supportedValuesOf('timeZone').flatMap((timezone) =>
    starts.map((startsAt) => {
      const endsAt = dateFromMs(startsAt.getTime() + 5_400_000);
      return { ...ENTRY, uid: `${timezone} ${startsAt.getTime()}`, startsAt, endsAt, timezone };
    }),
  );
  const { root } = read({ method: 'PUBLISH', entries });
  ICAL.TimezoneService.reset();
  for (const zone of root.getAllSubcomponents('vtimezone'))
    ICAL.TimezoneService.register(new ICAL.Timezone(zone));
  const events = root.getAllSubcomponents('vevent');
  assert.equal(events.length, entries.length);
  for (const [i, { uid, startsAt, endsAt }] of entries.entries()) {
    const event = events[i];
    assert.ok(event !== undefined && event.getFirstPropertyValue('uid') === uid);
    assert.equal(instantOf(event, 'dtstart'), startsAt.getTime(), uid);
    assert.equal(instantOf(event, 'dtend'), endsAt.getTime(), uid);
  }
});

test('texts of every script, and those that want to be more than text, come back as they were', () => {
  const texts = [
    'Ärger, Maß; \\ "quotes" \\n and a : colon',
    'BEGIN:VEVENT\nUID:evil\nEND:VEVENT',
    'END:VCALENDAR\r\nBEGIN:VCALENDAR',
    '語'.repeat(200),
    '👩‍👩‍👧‍👦🇩🇪'.repeat(40),
    'مرحبا بالعالم '.repeat(20).trim(),
    'हिन्दी ไทย עברית',
    'e\u0301\u0323\u0300'.repeat(60),
    ' leading and trailing ',
    ';'.repeat(300),
  ];
  for (const text of texts) {
    const { root, event } = read({
      method: 'REQUEST',
      name: text,
      entries: [
        { ...ENTRY, title: text, description: text, attendee: { name: text, email: 'a@example.com' } },
      ],
    });
    assert.equal(root.getAllSubcomponents('vevent').length, 1);
    const told = text.replaceAll('\r\n', '\n');
    assert.equal(event.getFirstPropertyValue('summary'), told);
    assert.equal(event.getFirstPropertyValue('description'), told);
    assert.equal(event.getFirstPropertyValue('uid'), ENTRY.uid);
  }
  const { event } = read({ method: 'PUBLISH', entries: [{ ...ENTRY, title: 'a\0b\u0007c\uD800d\u0085e' }] });
  assert.equal(event.getFirstPropertyValue('summary'), 'abc\uFFFDde');
});
