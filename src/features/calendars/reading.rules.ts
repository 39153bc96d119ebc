/** Why a calendar cannot be read, in words for its owner. */
export class ReadingError extends Error {}

const MAX_DEPTH = 8;
const MAX_EVENTS = 20_000;
const MAX_LINE = 100_000;

/** What is read of an event; all the rest is left out before anything looks at it. */
const EVENT_PROPERTIES = [
  ...['UID', 'SEQUENCE', 'DTSTART', 'DTEND', 'DURATION', 'RRULE', 'RDATE', 'EXDATE'],
  ...['RECURRENCE-ID', 'STATUS', 'TRANSP', 'X-MICROSOFT-CDO-BUSYSTATUS'],
];
const ZONE_PROPERTIES = ['TZID', 'X-LIC-LOCATION', 'DTSTART', 'TZOFFSETFROM', 'TZOFFSETTO', 'RRULE', 'RDATE'];
/** Of times that can be floating (RFC 5545, 3.3.5). */
const TIMES = ['DTSTART', 'DTEND', 'EXDATE', 'RECURRENCE-ID'];

interface Line {
  name: string;
  /** With the semicolon before it. */
  parameters: string;
  value: string;
}

/**
 * The part of a calendar file that says when its owner is busy, with floating times in a zone, extra dates of a series
 * (RDATE) as events of their own, and UIDs that are numbers.
 *
 * @throws {ReadingError} for what is no calendar, and for what would take too long to read.
 */
export function essence(text: string, timezone: string): string {
  if (!/^\uFEFF?\s*BEGIN:VCALENDAR/i.test(text)) throw new ReadingError('This is no iCalendar file.');
  const kept: string[] = [];
  const stack: string[] = [];
  let event: Line[] | null = null;
  const uids = new Map<string, number>();
  let events = 0;
  for (const line of linesOf(text)) {
    const name = line.name;
    if (name === 'BEGIN') {
      stack.push(line.value.trim().toUpperCase());
      if (stack.length > MAX_DEPTH) throw new ReadingError('Its parts are nested too deep.');
      if (isEvent(stack)) event = [];
      else if (isKept(stack)) kept.push(`BEGIN:${stack.at(-1)}`);
    } else if (name === 'END') {
      if (isEvent(stack) && event !== null) {
        events++;
        if (events > MAX_EVENTS) throw new ReadingError(`It has more than ${MAX_EVENTS} events.`);
        kept.push(...eventLines(event, timezone, uids));
        event = null;
      } else if (isKept(stack)) kept.push(`END:${stack.at(-1)}`);
      stack.pop();
    } else if (isEvent(stack)) {
      if (EVENT_PROPERTIES.includes(name)) event?.push(bounded(line));
    } else if (isKept(stack) && stack.length > 1 && ZONE_PROPERTIES.includes(name)) {
      const zone = name === 'TZID' ? { ...line, value: knownZone(line.value.trim()) } : line;
      kept.push(textOf(bounded(zone)));
    }
  }
  return `${kept.join('\r\n')}\r\n`;
}

const isEvent = (stack: readonly string[]) =>
  stack.length === 2 && stack[0] === 'VCALENDAR' && stack[1] === 'VEVENT';

function isKept([first, second, third, ...more]: readonly string[]): boolean {
  if (first !== 'VCALENDAR' || more.length > 0) return false;
  if (second === undefined) return true;
  return second === 'VTIMEZONE' && (third === undefined || third === 'STANDARD' || third === 'DAYLIGHT');
}

/** Unfolded. A line that is no property is left out. */
function* linesOf(text: string): Generator<Line> {
  let parts: string[] = [];
  for (const piece of text.matchAll(/[^\r\n]+/g)) {
    const [line] = piece;
    if (line.startsWith(' ') || line.startsWith('\t')) {
      parts.push(line.slice(1));
      continue;
    }
    const whole = parseLine(parts.join(''));
    if (whole !== null) yield whole;
    parts = [line];
  }
  const last = parseLine(parts.join(''));
  if (last !== null) yield last;
}

/** The colon that ends name and parameters is the first outside of quotes. */
function parseLine(line: string): Line | null {
  const name = /^\uFEFF?\s*([A-Za-z0-9-]{1,60})(?=[;:])/.exec(line);
  if (name?.[1] === undefined) return null;
  let isQuoted = false;
  for (let i = name[0].length; i < line.length; i++) {
    const character = line[i];
    if (character === '"') isQuoted = !isQuoted;
    if (character !== ':' || isQuoted) continue;
    return {
      name: name[1].toUpperCase(),
      parameters: line.slice(name[0].length, i),
      value: line.slice(i + 1),
    };
  }
  return null;
}

function bounded(line: Line): Line {
  if (line.value.length + line.parameters.length <= MAX_LINE) return line;
  throw new ReadingError(`A line of it is too long: ${line.name}.`);
}

const textOf = ({ name, parameters, value }: Line) => `${name}${parameters}:${value}`;

function eventLines(lines: readonly Line[], timezone: string, uids: Map<string, number>): string[] {
  const find = (name: string) => lines.find((line) => line.name === name);
  const uid = find('UID')?.value ?? `nobody ${uids.size}`;
  const number = uids.get(uid) ?? uids.size + 1;
  uids.set(uid, number);
  const isFree = find('X-MICROSOFT-CDO-BUSYSTATUS')?.value.trim().toUpperCase() === 'FREE';
  const rest = lines.filter(({ name }) => !['UID', 'RDATE', 'X-MICROSOFT-CDO-BUSYSTATUS'].includes(name));
  const own = rest.map((line) => textOf(TIMES.includes(line.name) ? anchored(line, timezone) : line));
  if (isFree) own.push('TRANSP:TRANSPARENT');
  const dates = lines
    .filter(({ name }) => name === 'RDATE')
    .flatMap((line) => extraDates(line, rest, timezone));
  return [
    ...['BEGIN:VEVENT', `UID:u${number}`, ...own, 'END:VEVENT'],
    ...dates.flatMap((extra, i) => [
      ...['BEGIN:VEVENT', `UID:u${number}r${i}`, ...extra],
      ...own.filter((line) => /^(STATUS|TRANSP)[;:]/.test(line)),
      'END:VEVENT',
    ]),
  ];
}

const ZONE = /;TZID=(?:"([^"]*)"|([^;]*))/i;

/** A floating time is one of the zone. */
function anchored(line: Line, timezone: string): Line {
  const { parameters, value } = line;
  if (ZONE.test(parameters)) {
    const known = parameters.replace(
      ZONE,
      (_, quoted, plain) => `;TZID=${knownZone(String(quoted ?? plain))}`,
    );
    return { ...line, parameters: known };
  }
  return /T\d{4,6}\s*$/.test(value) ? { ...line, parameters: `${parameters};TZID=${timezone}` } : line;
}

/**
 * A zone by its IANA name, which may stand at the end of a longer one, or as Windows calls it; any other by a name for
 * which the library looks into the file.
 */
function knownZone(tzid: string): string {
  if (/ Standard Time$/.test(tzid)) return tzid;
  const parts = tzid.split('/');
  const known = [tzid, parts.slice(-3).join('/'), parts.slice(-2).join('/')].find(isZone);
  return known ?? `Customized Time Zone ${tzid.replaceAll(/[^A-Za-z0-9]+/g, ' ')}`;
}

function isZone(name: string): boolean {
  try {
    return /^[A-Za-z]/.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }) !== null;
  } catch {
    return false;
  }
}

/** Start and length of each date that RDATE adds; periods have their own end. */
function extraDates({ parameters, value }: Line, event: readonly Line[], timezone: string): string[][] {
  const length = lengthOf(event);
  const zone = /;TZID=("[^"]*"|[^;:]*)/i.exec(parameters)?.[0] ?? '';
  return value.split(',').map((one) => {
    const [start = '', end] = one.split('/');
    const type = /^\d{8}$/.test(start) ? ';VALUE=DATE' : zone;
    const time = (name: string, at: string) =>
      textOf(anchored({ name, parameters: type, value: at }, timezone));
    if (end?.startsWith('P')) return [time('DTSTART', start), `DURATION:${end}`];
    if (end !== undefined) return [time('DTSTART', start), time('DTEND', end)];
    return [time('DTSTART', start), ...(length === null ? [] : [`DURATION:${length}`])];
  });
}

/** As the wall has it: what a series lasts where its clocks change is of no matter here. */
function lengthOf(event: readonly Line[]): string | null {
  const find = (name: string) => event.find((line) => line.name === name)?.value.trim();
  const [start, end] = [wallOf(find('DTSTART')), wallOf(find('DTEND'))];
  if (start === null || end === null || end < start) return find('DURATION') ?? null;
  return `PT${(end - start) / 1000}S`;
}

function wallOf(value: string | undefined): number | null {
  const parts = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)?)?/.exec(value ?? '');
  if (parts === null) return null;
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts
    .slice(1)
    .map((part) => Number(part ?? 0));
  return Date.UTC(year, month - 1, day, hour, minute, second);
}
