import { DAY_MS } from '../../../kernel/durations.ts';
import { type Line, parseCalendarObjects, ReadingError } from './ics-lines.ts';
import { expandRule } from './ics-recurrence.ts';
import { parseDuration, parseWallTime, repairTimeZone, timeZoneOf, type WallTime } from './ics-times.ts';
import { describedZone, ianaZone, UTC, type Zone, zoneByName } from './ics-zones.ts';

export interface TimeRange {
  fromMs: number;
  toMs: number;
}

/**
 * Busy times in epoch milliseconds, unordered, with messages for the owner about parts that were not
 * understood.
 */
export interface BusyTimes {
  spans: [startMs: number, endMs: number][];
  warnings: string[];
}

const MAX_DATES = 20_000;
const MAX_NAMED_ZONES = 3;
const MAX_ZONE_NAME_CHARS = 60;

/** Time on the wall clock of its zone. */
interface ZonedTime extends WallTime {
  zone: Zone;
}

interface Event {
  uid: string;
  sequence: number;
  start: ZonedTime;
  /** Duration on the wall clock. */
  durationMs: number;
  isBusy: boolean;
  recurrenceId: ZonedTime | null;
  /** The change applies to all later dates as well (RFC 5545, 3.2.13). */
  isThisAndFuture: boolean;
  rules: string[];
  /** RDATE: own durations only of periods. */
  extra: { time: ZonedTime; durationMs: number | null }[];
  excluded: ZonedTime[];
}

/** One VEVENT without RECURRENCE-ID, with the events that change its dates. */
interface Series {
  master: Event | null;
  changes: Event[];
}

/**
 * Returns when the owner of a calendar file is busy. What cannot be understood is named in `warnings`, and blocks time
 * where its start can be read.
 *
 * @param timezone of whole days and of times without a zone.
 * @throws {ReadingError} if it is not a calendar, or exceeds a limit.
 */
export function readBusyTimes(text: string, timezone: string, range: TimeRange): BusyTimes {
  const problems = new Problems(timezone);
  const spans: BusyTimes['spans'] = [];
  for (const { events, zones } of parseCalendarObjects(text)) {
    const reader = new EventReader({ zones, local: ianaZone(timezone), range, problems });
    const series = new Map<string, Series>();
    for (const lines of events) addEvent(series, reader.read(lines));
    for (const one of series.values()) {
      for (const [startMs, endMs] of datesOf(one, range, problems)) {
        if (!(startMs < endMs) || endMs <= range.fromMs || startMs >= range.toMs) continue;
        if (spans.push([startMs, endMs]) > MAX_DATES) {
          throw new ReadingError(`The calendar has more than ${MAX_DATES} dates in the next 400 days.`);
        }
      }
    }
  }
  return { spans, warnings: problems.describe() };
}

/** Adds an event. Of two versions, the one with the greater SEQUENCE wins, else the later one. */
function addEvent(series: Map<string, Series>, event: Event | null): void {
  if (event === null) return;
  const one = series.get(event.uid) ?? { master: null, changes: [] };
  series.set(event.uid, one);
  if (event.recurrenceId !== null) one.changes.push(event);
  else if (one.master === null || event.sequence >= one.master.sequence) one.master = event;
}

/** Collects what could not be understood. */
class Problems {
  readonly #timezone: string;
  readonly #zones = new Set<string>();
  #rules = 0;
  #starts = 0;

  constructor(timezone: string) {
    this.#timezone = timezone;
  }

  unknownZone(name: string): void {
    if (this.#zones.size <= MAX_NAMED_ZONES) this.#zones.add(name.slice(0, MAX_ZONE_NAME_CHARS));
  }

  unreadableRule(): void {
    this.#rules += 1;
  }

  unreadableStart(): void {
    this.#starts += 1;
  }

  describe(): string[] {
    const names = [...this.#zones].slice(0, MAX_NAMED_ZONES).map((name) => `"${name}"`);
    const more = this.#zones.size > MAX_NAMED_ZONES ? ' and others' : '';
    return [
      ...(names.length === 0
        ? []
        : [`Unknown time zones, interpreted as ${this.#timezone}: ${names.join(', ')}${more}.`]),
      ...(this.#rules === 0
        ? []
        : [
            `Unreadable recurrence rules: ${this.#rules}. Only the first occurrence of these events blocks time.`,
          ]),
      ...(this.#starts === 0
        ? []
        : [`Events without a readable start, which do not block time: ${this.#starts}.`]),
    ];
  }
}

interface ReaderContext {
  /** VTIMEZONEs of the calendar object. */
  zones: ReadonlyMap<string, readonly Line[][]>;
  local: Zone;
  range: TimeRange;
  problems: Problems;
}

/** Parses the events of one calendar object. */
class EventReader {
  readonly #context: ReaderContext;
  readonly #known = new Map<string, Zone>();
  #count = 0;

  constructor(context: ReaderContext) {
    this.#context = context;
  }

  /** @returns null, and a problem, for an event whose start cannot be read. */
  read(lines: readonly Line[]): Event | null {
    const all = (name: string) => lines.filter((line) => line.name === name);
    const value = (name: string) => lines.find((line) => line.name === name)?.value.trim() ?? '';
    this.#count += 1;
    const [start = null] = all('DTSTART').flatMap((line) => this.#times(line));
    if (start === null) {
      this.#context.problems.unreadableStart();
      return null;
    }
    const [recurrenceId = null] = all('RECURRENCE-ID').flatMap((line) => this.#times(line));
    const isFree =
      value('TRANSP').toUpperCase() === 'TRANSPARENT' ||
      value('STATUS').toUpperCase() === 'CANCELLED' ||
      value('X-MICROSOFT-CDO-BUSYSTATUS').toUpperCase() === 'FREE';
    return {
      uid: value('UID') || `without UID ${this.#count}`,
      sequence: Number(value('SEQUENCE')) || 0,
      start,
      durationMs: this.#duration(lines, start),
      isBusy: !isFree,
      recurrenceId,
      isThisAndFuture: all('RECURRENCE-ID').some((line) => /;RANGE="?THISANDFUTURE/i.test(line.parameters)),
      rules: all('RRULE').map((line) => line.value),
      extra: all('RDATE').flatMap((line) => this.#extraDates(line)),
      excluded: all('EXDATE').flatMap((line) => this.#times(line)),
    };
  }

  #times(given: Line): ZonedTime[] {
    const line = repairTimeZone(given);
    return line.value.split(',').flatMap((text) => this.#time(line, text) ?? []);
  }

  #time(line: Line, text: string): ZonedTime | null {
    const time = parseWallTime(text);
    if (time === null) return null;
    const tzid = time.isDate ? null : timeZoneOf(line);
    return { ...time, zone: time.isUtc ? UTC : tzid === null ? this.#context.local : this.#zone(tzid) };
  }

  #zone(tzid: string): Zone {
    const { zones, local, range, problems } = this.#context;
    const known = this.#known.get(tzid);
    if (known !== undefined) return known;
    const own = zones.get(tzid);
    const zone = (own === undefined ? null : describedZone(own, range)) ?? zoneByName(tzid);
    if (zone === null) problems.unknownZone(tzid);
    this.#known.set(tzid, zone ?? local);
    return zone ?? local;
  }

  /** A day without an end lasts a day, a time without an end no time (RFC 5545, 3.6.1). */
  #duration(lines: readonly Line[], start: ZonedTime): number {
    const end = lines.filter(({ name }) => name === 'DTEND').flatMap((line) => this.#times(line))[0];
    if (end !== undefined) return wallBetween(start, end);
    const given = parseDuration(lines.find(({ name }) => name === 'DURATION')?.value ?? '');
    return given ?? (start.isDate ? DAY_MS : 0);
  }

  #extraDates(given: Line): Event['extra'] {
    const line = repairTimeZone(given);
    return line.value.split(',').flatMap((text) => {
      const [from = '', to = ''] = text.split('/');
      const time = this.#time(line, from);
      if (time === null) return [];
      const end = this.#time(line, to);
      return [{ time, durationMs: end === null ? parseDuration(to) : wallBetween(time, end) }];
    });
  }
}

function wallBetween(start: ZonedTime, end: ZonedTime): number {
  return start.zone === end.zone
    ? end.wallMs - start.wallMs
    : end.zone.toInstantMs(end.wallMs) - start.zone.toInstantMs(start.wallMs);
}

/** Yields the busy dates of a series that may touch the range, as instants. */
function* datesOf(
  { master, changes }: Series,
  range: TimeRange,
  problems: Problems,
): Generator<[number, number]> {
  for (const { isBusy, start, durationMs } of changes) {
    if (isBusy) yield instants(start.zone, start.wallMs, durationMs);
  }
  if (master === null) return;
  const { zone } = master.start;
  const wallOf = (time: ZonedTime) =>
    time.zone === zone ? time.wallMs : zone.toWallMs(time.zone.toInstantMs(time.wallMs));
  const removed = new RemovedDates(
    [...master.excluded, ...changes.flatMap(({ recurrenceId }) => recurrenceId ?? [])],
    wallOf,
  );
  const later = changes
    .filter(({ isThisAndFuture }) => isThisAndFuture)
    .flatMap((change) => {
      if (change.recurrenceId === null) return [];
      const fromMs = wallOf(change.recurrenceId);
      return [{ change, fromMs, shiftMs: wallOf(change.start) - fromMs }];
    })
    .sort((a, b) => a.fromMs - b.fromMs);
  const around = widened(range, [
    master.durationMs,
    ...later.flatMap(({ change, shiftMs }) => [change.durationMs, shiftMs]),
  ]);
  for (const { wallMs, durationMs } of masterDates(master, around, wallOf, problems)) {
    if (removed.has(wallMs)) continue;
    const moved = later.findLast(({ fromMs }) => wallMs >= fromMs);
    const { isBusy } = moved?.change ?? master;
    if (!isBusy) continue;
    yield instants(zone, wallMs + (moved?.shiftMs ?? 0), moved?.change.durationMs ?? durationMs);
  }
}

function instants(zone: Zone, wallMs: number, durationMs: number): [number, number] {
  return [zone.toInstantMs(wallMs), zone.toInstantMs(wallMs + durationMs)];
}

/** Returns the range in any wall-clock zone, widened by the length or shift of events. */
function widened({ fromMs, toMs }: TimeRange, lengthsMs: readonly number[]): TimeRange {
  const marginMs = lengthsMs.reduce((most, lengthMs) => Math.max(most, Math.abs(lengthMs)), 0) + DAY_MS;
  return { fromMs: fromMs - marginMs, toMs: toMs + marginMs };
}

/** Yields DTSTART and what RRULE and RDATE add, each once, on the wall clock of the event. */
function* masterDates(
  { start, durationMs, rules, extra }: Event,
  around: TimeRange,
  wallOf: (time: ZonedTime) => number,
  problems: Problems,
): Generator<{ wallMs: number; durationMs: number }> {
  const seen = new Set<number>([start.wallMs]);
  yield { wallMs: start.wallMs, durationMs };
  for (const rule of rules) {
    const dates = expandRule(rule, start.wallMs, around, (ms) =>
      wallOf({ wallMs: ms, zone: UTC, isDate: false, isUtc: true }),
    );
    if (dates === null) problems.unreadableRule();
    for (const wallMs of dates ?? []) {
      if (seen.has(wallMs)) continue;
      seen.add(wallMs);
      yield { wallMs, durationMs };
    }
  }
  for (const { time, durationMs: ownMs } of extra) {
    const wallMs = wallOf(time);
    if (seen.has(wallMs)) continue;
    seen.add(wallMs);
    yield { wallMs, durationMs: ownMs ?? durationMs };
  }
}

/** Excluded or changed occurrences of a series: by time, or by day for entries without a time. */
class RemovedDates {
  readonly #times = new Set<number>();
  readonly #days = new Set<number>();

  constructor(times: readonly ZonedTime[], wallOf: (time: ZonedTime) => number) {
    for (const time of times) {
      if (time.isDate) this.#days.add(time.wallMs);
      else this.#times.add(wallOf(time));
    }
  }

  has(wallMs: number): boolean {
    return this.#times.has(wallMs) || this.#days.has(wallMs - (((wallMs % DAY_MS) + DAY_MS) % DAY_MS));
  }
}
