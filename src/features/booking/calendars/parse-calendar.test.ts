import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dateFromMs } from '../../../kernel/clock.ts';
import { ReadingError } from './ics-lines.ts';
import { parseCalendar } from './parse-calendar.ts';

const at = (text: string) => Temporal.Instant.from(text).epochMilliseconds;
const RANGE = { fromMs: at('2027-03-01T00:00Z'), toMs: at('2027-05-01T00:00Z') };

const event = (...lines: string[]) => ['BEGIN:VEVENT', ...lines, 'END:VEVENT'].join('\r\n');
const file = (...parts: string[]) =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:x', ...parts, 'END:VCALENDAR', ''].join('\r\n');

async function spans(text: string, timezone = 'Europe/Berlin'): Promise<string[]> {
  const read = await parseCalendar({ bytes: Buffer.from(text), timezone, ...RANGE });
  const shown = (ms: number) => dateFromMs(ms).toISOString().slice(5, 16);
  return read.spans.map(({ startMs, endMs }) => `${shown(startMs)} ${shown(endMs)}`);
}

const warnings = async (text: string): Promise<string> =>
  (await parseCalendar({ bytes: Buffer.from(text), timezone: 'Europe/Berlin', ...RANGE })).warnings.join(' ');

const refuses = (text: string, reason: RegExp, timeMs?: number) =>
  assert.rejects(
    parseCalendar({ bytes: Buffer.from(text), timezone: 'UTC', ...RANGE }, timeMs),
    (error) => error instanceof ReadingError && reason.test(error.message),
  );

test('times in UTC, with a zone, without one and of whole days block the intended time', async () => {
  const text = file(
    event('UID:1', 'DTSTART:20270310T100000Z', 'DTEND:20270310T110000Z'),
    event('UID:2', 'DTSTART;TZID=America/New_York:20270311T100000', 'DURATION:PT90M'),
    event('UID:3', 'DTSTART:20270312T100000', 'DTEND:20270312T110000'),
    event('UID:4', 'DTSTART;VALUE=DATE:20270328', 'DTEND;VALUE=DATE:20270330'),
    event('UID:5', 'DTSTART;VALUE=DATE:20270405'),
    event(
      'UID:6',
      'DTSTART;TZID="W. Europe Standard Time":20270406T100000',
      'DTEND;TZID="W. Europe Standard Time":20270406T103000',
    ),
    event('UID:7', 'DTSTART:20270407T100000Z', 'DTEND:20270407T100000Z'),
  );
  assert.deepEqual(await spans(text), [
    '03-10T10:00 03-10T11:00',
    '03-11T15:00 03-11T16:30',
    '03-12T09:00 03-12T10:00',
    '03-27T23:00 03-29T22:00',
    '04-04T22:00 04-05T22:00',
    '04-06T08:00 04-06T08:30',
  ]);
  assert.deepEqual((await spans(text, 'Asia/Tokyo')).slice(2, 4), [
    '03-12T01:00 03-12T02:00',
    '03-27T15:00 03-29T15:00',
  ]);
});

test('series follow the wall clock over a change of clocks, without their exceptions', async () => {
  const rule = event(
    'UID:1',
    'DTSTART;TZID=Europe/Berlin:20260101T090000',
    'DTEND;TZID=Europe/Berlin:20260101T100000',
    'RRULE:FREQ=WEEKLY;BYDAY=SU;UNTIL=20270411T070000Z',
    'EXDATE;TZID=Europe/Berlin:20270314T090000',
    'RDATE;TZID=Europe/Berlin:20270420T120000,20270421T120000',
  );
  const moved = event(
    'UID:1',
    'RECURRENCE-ID;TZID=Europe/Berlin:20270321T090000',
    'DTSTART;TZID=Europe/Berlin:20270321T150000',
    'DTEND;TZID=Europe/Berlin:20270321T160000',
  );
  const canceled = event(
    'UID:1',
    'RECURRENCE-ID;TZID=Europe/Berlin:20270404T090000',
    'DTSTART;TZID=Europe/Berlin:20270404T090000',
    'DTEND;TZID=Europe/Berlin:20270404T100000',
    'STATUS:CANCELLED',
  );
  assert.deepEqual(await spans(file(rule, moved, canceled)), [
    '03-07T08:00 03-07T09:00',
    '03-21T14:00 03-21T15:00',
    '03-28T07:00 03-28T08:00',
    '04-11T07:00 04-11T08:00',
    '04-20T10:00 04-20T11:00',
    '04-21T10:00 04-21T11:00',
  ]);
  const birthday = event('UID:2', 'DTSTART;VALUE=DATE:19800404', 'RRULE:FREQ=YEARLY');
  assert.deepEqual(await spans(file(birthday)), ['04-03T22:00 04-04T22:00']);
});

test('free, canceled and other entries take no time', async () => {
  const times = ['DTSTART:20270310T100000Z', 'DTEND:20270310T110000Z'];
  const text = file(
    event('UID:1', ...times, 'TRANSP:TRANSPARENT'),
    event('UID:2', ...times, 'STATUS:CANCELLED'),
    event('UID:3', ...times, 'X-MICROSOFT-CDO-BUSYSTATUS:FREE'),
    ['BEGIN:VTODO', 'UID:4', ...times, 'END:VTODO'].join('\r\n'),
    event('UID:5', 'SUMMARY:No time'),
    event('UID:6', 'DTSTART:20280310T100000Z', 'DTEND:20280310T110000Z'),
  );
  assert.deepEqual(await spans(text), []);
  const alone = (day: string) =>
    event('UID:9', `RECURRENCE-ID:202703${day}T100000Z`, `DTSTART:202703${day}T100000Z`, 'DURATION:PT1H');
  assert.deepEqual(await spans(file(alone('15'), alone('16'))), [
    '03-15T10:00 03-15T11:00',
    '03-16T10:00 03-16T11:00',
  ]);
  const tentative = event('', ...times, 'STATUS:TENTATIVE', 'SUMMARY:Folded', '  over', '\tlines:;,"');
  assert.deepEqual(await spans(file(tentative)), ['03-10T10:00 03-10T11:00']);
});

test('zones of the file itself, and files of other systems, are read', async () => {
  const zone = [
    ...['BEGIN:VTIMEZONE', 'TZID:Mine', 'BEGIN:STANDARD', 'DTSTART:19700101T000000'],
    ...['TZOFFSETFROM:+0300', 'TZOFFSETTO:+0300', 'END:STANDARD', 'END:VTIMEZONE'],
  ].join('\n');
  const text = file(
    zone,
    event('UID:1', 'DTSTART;TZID=Mine:20270310T100000', 'DTEND;TZID=Mine:20270310T110000'),
  );
  assert.deepEqual(await spans(text.replaceAll('\r\n', '\n')), ['03-10T07:00 03-10T08:00']);
  const names = ['__proto__', 'constructor', 'vcalendar', '__proto__'];
  const odd = file(
    ...names.map((uid, i) => event(`UID:${uid}`, `DTSTART:2027031${i}T100000Z`, 'DURATION:PT1H')),
  );
  assert.equal((await spans(odd)).length, 3);
});

test('invalid or oversized calendars are rejected with a message', async () => {
  const one = ['DTSTART:20270310T100000Z', 'DURATION:PT1S'];
  await refuses('<html>', /not an iCalendar file/);
  await refuses(
    file(event('UID:1', ...one, `EXDATE:${'20270310T100000Z,'.repeat(70_000)}`)),
    /too long: EXDATE/,
  );
  await refuses(`BEGIN:VCALENDAR\n${'BEGIN:VEVENT\n'.repeat(100_000)}`, /nested too deep/);
  await refuses(
    file(
      event(...one)
        .concat('\r\n')
        .repeat(20_001),
    ),
    /more than 20000 events/,
  );
  await refuses(file(event('UID:1', ...one, 'RRULE:FREQ=MINUTELY;COUNT=30000')), /more than 20000 dates/);
  // A megabyte of unused text is skipped.
  const long = `DESCRIPTION:${'x'.repeat(1_000_000)}${'\r\n x'.repeat(100_000)}`;
  assert.equal((await spans(file(event('UID:1', ...one, long)))).length, 1);
});

test('rules that cannot be read or never end block the first date and are reported', async () => {
  for (const rule of [
    'FREQ=SECONDLY',
    'FREQ=SECONDLY;COUNT=1000000',
    'FREQ=NEVER',
    'FREQ=DAILY;UNTIL=soon',
  ]) {
    const text = file(event('UID:1', 'DTSTART:20270310T100000Z', 'DURATION:PT1H', `RRULE:${rule}`));
    assert.deepEqual(await spans(text), ['03-10T10:00 03-10T11:00']);
    assert.match(await warnings(text), /Unreadable recurrence rules: 1\./);
  }
  const text = file(event('UID:1', 'DTSTART:tomorrow'), event('UID:2'));
  assert.match(await warnings(text), /without a readable start, which do not block time: 2\./);
});

test('time zones by names of Windows, Outlook and CLDR are mapped', async () => {
  const zones = {
    'tzone://Microsoft/Utc': '10:00',
    'Pacific Daylight Time': '18:00',
    'US Mountain Time': '17:00',
    'UTC-11': '21:00',
    '"(UTC-05:00) Eastern Time (US & Canada)"': '15:00',
    '"(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna"': '09:00',
    '/example.org/20240101_1/Europe/Berlin': '09:00',
    'GMT+0530': '04:30',
  };
  for (const [zone, start] of Object.entries(zones)) {
    const text = file(event('UID:1', `DTSTART;TZID=${zone}:20270301T100000`, 'DURATION:PT1M'));
    assert.deepEqual([zone, (await spans(text, 'Asia/Tokyo'))[0]?.slice(6, 11)], [zone, start]);
    assert.equal(await warnings(text), '');
  }
});

test('times of an unknown time zone block time in the zone of the creator and are reported', async () => {
  const text = file(event('UID:1', 'DTSTART;TZID=Foo Standard Time:20270310T100000', 'DURATION:PT1H'));
  assert.deepEqual(await spans(text), ['03-10T09:00 03-10T10:00']);
  assert.equal(
    await warnings(text),
    'Unknown time zones, interpreted as Europe/Berlin: "Foo Standard Time".',
  );
  const many = file(
    ...Array.from({ length: 50 }, (_, i) =>
      event(`UID:${i}`, `DTSTART;TZID=${i}${'x'.repeat(99)}:20270310T100000`),
    ),
  );
  assert.ok((await warnings(many)).length < 300);
});

test('a VTIMEZONE of the file wins over a known zone of the same name', async () => {
  const observance = (kind: string, start: string, [from, to]: [string, string], rule: string) =>
    [
      ...[`BEGIN:${kind}`, `DTSTART:${start}`, `TZOFFSETFROM:${from}`, `TZOFFSETTO:${to}`],
      ...[`RRULE:${rule}`, `END:${kind}`],
    ].join('\r\n');
  const zone = [
    ...['BEGIN:VTIMEZONE', 'TZID:EST'],
    observance('STANDARD', '16011104T020000', ['+1100', '+1000'], 'FREQ=YEARLY;BYDAY=1SU;BYMONTH=11'),
    observance('DAYLIGHT', '16010311T020000', ['+1000', '+1100'], 'FREQ=YEARLY;BYDAY=2SU;BYMONTH=3'),
    'END:VTIMEZONE',
  ].join('\r\n');
  const at = (uid: number, time: string) =>
    event(`UID:${uid}`, `DTSTART;TZID=EST:${time}`, `DTEND;TZID=EST:${time.slice(0, 11)}3000`);
  const series = event('UID:9', 'DTSTART;TZID=EST:20260105T120000', 'DURATION:PT1H', 'RRULE:FREQ=MONTHLY');
  // The clocks change on March 14: 2:30 is read with the offset before it.
  const text = file(
    zone,
    at(1, '20270313T100000'),
    at(2, '20270314T020000'),
    at(3, '20270315T100000'),
    series,
  );
  assert.deepEqual(await spans(text), [
    '03-05T02:00 03-05T03:00',
    '03-13T00:00 03-13T00:30',
    '03-13T16:00 03-13T16:30',
    '03-14T23:00 03-14T23:30',
    '04-05T01:00 04-05T02:00',
  ]);
});

test('all calendar objects of a file are read, each with its own time zones and UIDs', async () => {
  const zone = (offset: string) =>
    [
      ...['BEGIN:VTIMEZONE', 'TZID:Mine', 'BEGIN:STANDARD', 'DTSTART:19700101T000000'],
      ...[`TZOFFSETFROM:${offset}`, `TZOFFSETTO:${offset}`, 'END:STANDARD', 'END:VTIMEZONE'],
    ].join('\r\n');
  const one = (offset: string) =>
    file(zone(offset), event('UID:1', 'DTSTART;TZID=Mine:20270310T100000', 'DURATION:PT1H'));
  assert.deepEqual(await spans(one('+0300') + one('-0300')), [
    '03-10T07:00 03-10T08:00',
    '03-10T13:00 03-10T14:00',
  ]);
});

test('RANGE=THISANDFUTURE moves and resizes all later dates of a series', async () => {
  const series = event(
    'UID:1',
    'DTSTART;TZID=Europe/Berlin:20270304T090000',
    'DURATION:PT1H',
    'RRULE:FREQ=WEEKLY;COUNT=6',
  );
  const later = event(
    'UID:1',
    'RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Berlin:20270318T090000',
    'DTSTART;TZID=Europe/Berlin:20270319T140000',
    'DURATION:PT2H',
  );
  const single = event(
    'UID:1',
    'RECURRENCE-ID:20270401T070000Z',
    'DTSTART:20270402T060000Z',
    'DURATION:PT1H',
  );
  assert.deepEqual(await spans(file(series, later, single)), [
    '03-04T08:00 03-04T09:00',
    '03-11T08:00 03-11T09:00',
    '03-19T13:00 03-19T15:00',
    '03-26T13:00 03-26T15:00',
    '04-02T06:00 04-02T07:00',
    '04-09T12:00 04-09T14:00',
  ]);
  const ended = event(
    'UID:1',
    'RECURRENCE-ID;RANGE=THISANDFUTURE:20270318T080000Z',
    'DTSTART:20270318T080000Z',
    'STATUS:CANCELLED',
  );
  assert.equal((await spans(file(series, ended))).length, 2);
});

test('a read beyond the time limit is terminated', async () => {
  const daily = event('UID:1', 'DTSTART:20270310T100000Z', 'DURATION:PT1S', 'RRULE:FREQ=DAILY');
  await refuses(file(daily), /takes too long/, 1);
});
