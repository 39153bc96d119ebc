/** Reports why a calendar cannot be read, in words for its owner. */
export class ReadingError extends Error {}

const MAX_DEPTH = 8;
const MAX_EVENTS = 20_000;
const MAX_LINE_CHARS = 100_000;
const MAX_OBSERVANCES = 2000;

/** Properties read of an event; all others are skipped before they are looked at. */
const EVENT_PROPERTIES = new Set([
  ...['UID', 'SEQUENCE', 'DTSTART', 'DTEND', 'DURATION', 'RRULE', 'RDATE', 'EXDATE'],
  ...['RECURRENCE-ID', 'STATUS', 'TRANSP', 'X-MICROSOFT-CDO-BUSYSTATUS'],
]);
const OBSERVANCE_PROPERTIES = new Set(['DTSTART', 'TZOFFSETFROM', 'TZOFFSETTO', 'RRULE', 'RDATE']);

/** One content line (RFC 5545, 3.1), unfolded. */
export interface Line {
  name: string;
  /** Includes the leading semicolon. */
  parameters: string;
  value: string;
}

/** A VCALENDAR (RFC 5545, 3.4): the lines of its events, and of the observances of its time zones by TZID. */
export interface CalendarObject {
  events: Line[][];
  zones: Map<string, Line[][]>;
}

/**
 * Splits a file into its calendar objects. A file may have several (RFC 5545, 3.4).
 *
 * @throws {ReadingError} if it is not a calendar, or exceeds a limit.
 */
export function parseCalendarObjects(text: string): CalendarObject[] {
  if (!/^\uFEFF?\s*BEGIN:VCALENDAR/i.test(text)) throw new ReadingError('This is not an iCalendar file.');
  const objects: CalendarObject[] = [];
  const stack: string[] = [];
  const counts = { events: 0, observances: 0 };
  let component: Line[] = [];
  let zone: { id: string | null; observances: Line[][] } = { id: null, observances: [] };
  for (const line of linesOf(text)) {
    if (line.name === 'BEGIN') {
      stack.push(line.value.trim().toUpperCase());
      if (stack.length > MAX_DEPTH) throw new ReadingError('The calendar is nested too deep.');
      if (stack.length === 1) objects.push({ events: [], zones: new Map() });
      else if (stack.length === 2) zone = { id: null, observances: [] };
      component = isRead(stack) && stack.at(-1) !== 'VTIMEZONE' ? [] : component;
    } else if (line.name === 'END') {
      const object = objects.at(-1);
      if (object !== undefined && isEvent(stack)) {
        addComponent(object.events, component, counts, 'events');
      } else if (isObservance(stack)) addComponent(zone.observances, component, counts, 'observances');
      else if (stack.length === 2 && stack[1] === 'VTIMEZONE' && zone.id !== null) {
        object?.zones.set(zone.id, zone.observances);
      }
      stack.pop();
    } else if (isEvent(stack)) {
      if (EVENT_PROPERTIES.has(line.name)) component.push(bounded(line));
    } else if (isObservance(stack)) {
      if (OBSERVANCE_PROPERTIES.has(line.name)) component.push(bounded(line));
    } else if (isRead(stack) && line.name === 'TZID') zone.id = line.value.trim();
  }
  return objects;
}

const isEvent = (stack: readonly string[]) =>
  stack.length === 2 && stack[0] === 'VCALENDAR' && stack[1] === 'VEVENT';

const isObservance = (stack: readonly string[]) =>
  stack.length === 3 && isRead(stack) && (stack[2] === 'STANDARD' || stack[2] === 'DAYLIGHT');

const isRead = (stack: readonly string[]) =>
  stack[0] === 'VCALENDAR' && (stack[1] === 'VTIMEZONE' || isEvent(stack));

function addComponent(
  components: Line[][],
  lines: Line[],
  counts: { events: number; observances: number },
  kind: 'events' | 'observances',
): void {
  counts[kind] += 1;
  if (counts.events > MAX_EVENTS) throw new ReadingError(`The calendar has more than ${MAX_EVENTS} events.`);
  if (counts.observances > MAX_OBSERVANCES) {
    throw new ReadingError(`The time zones of the calendar have more than ${MAX_OBSERVANCES} rules.`);
  }
  components.push(lines);
}

/** Yields unfolded lines. A line that is not a property is skipped. */
function* linesOf(text: string): Generator<Line> {
  let parts: string[] = [];
  for (const [piece] of text.matchAll(/[^\r\n]+/g)) {
    if (piece.startsWith(' ') || piece.startsWith('\t')) {
      parts.push(piece.slice(1));
      continue;
    }
    const whole = parseLine(parts.join(''));
    if (whole !== null) yield whole;
    parts = [piece];
  }
  const last = parseLine(parts.join(''));
  if (last !== null) yield last;
}

/** Parses a line: the first colon outside of quotes ends the name and the parameters. */
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
  if (line.value.length + line.parameters.length <= MAX_LINE_CHARS) return line;
  throw new ReadingError(`A line of the calendar is too long: ${line.name}.`);
}
