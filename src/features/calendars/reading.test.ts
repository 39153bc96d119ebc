import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dateFromMs } from '../../kernel/clock.ts';
import { ReadingError } from './reading.rules.ts';
import { readCalendar } from './reading.ts';

const at = (text: string) => Temporal.Instant.from(text).epochMilliseconds;
const RANGE = { fromMs: at('2027-03-01T00:00Z'), toMs: at('2027-05-01T00:00Z') };

const event = (...lines: string[]) => ['BEGIN:VEVENT', ...lines, 'END:VEVENT'].join('\r\n');
const file = (...parts: string[]) =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:x', ...parts, 'END:VCALENDAR', ''].join('\r\n');

async function spans(text: string, timezone = 'Europe/Berlin'): Promise<string[]> {
  const read = await readCalendar({ bytes: Buffer.from(text), timezone, ...RANGE });
  const shown = (ms: number) => dateFromMs(ms).toISOString().slice(5, 16);
  return read.spans.map(({ startMs, endMs }) => `${shown(startMs)} ${shown(endMs)}`);
}

const refuses = (text: string, reason: RegExp, timeMs?: number) =>
  assert.rejects(
    readCalendar({ bytes: Buffer.from(text), timezone: 'UTC', ...RANGE }, timeMs),
    (error) => error instanceof ReadingError && reason.test(error.message),
  );

test('times in UTC, of a zone, of none and of whole days take the time that they mean', async () => {
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

test('series follow the wall over a change of clocks, without their exceptions', async () => {
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

test('what is free, canceled or no event takes no time', async () => {
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

test('what is no calendar, or wants too much, is refused in words', async () => {
  const one = ['DTSTART:20270310T100000Z', 'DURATION:PT1S'];
  await refuses('<html>', /no iCalendar file/);
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
  // Without an end, or a million of them: ended by the library's limit, ours, or the time.
  for (const rule of ['FREQ=SECONDLY', 'FREQ=SECONDLY;COUNT=1000000']) {
    await refuses(file(event('UID:1', ...one, `RRULE:${rule}`)), /can be read|too (long|much)|more than/);
  }
  // A megabyte that nobody needs is passed over.
  const long = `DESCRIPTION:${'x'.repeat(1_000_000)}${'\r\n x'.repeat(100_000)}`;
  assert.equal((await spans(file(event('UID:1', ...one, long)))).length, 1);
});

test('a reading that takes its time is ended', async () => {
  const daily = event('UID:1', 'DTSTART:20270310T100000Z', 'DURATION:PT1S', 'RRULE:FREQ=DAILY');
  await refuses(file(daily), /takes too long/, 1);
});
