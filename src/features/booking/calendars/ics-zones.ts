import { findIana } from 'windows-iana';
import { MINUTE_MS } from '../../../kernel/durations.ts';
import type { Line } from './ics-lines.ts';
import { expandRule } from './ics-recurrence.ts';
import { parseOffset, parseWallTime } from './ics-times.ts';

/** Converts between the wall clock (epoch milliseconds as if it were UTC) and instants. */
export interface Zone {
  toInstantMs(wallMs: number): number;
  toWallMs(instantMs: number): number;
}

export const UTC: Zone = fixedZone(0);

/** A change of the offset to UTC. */
interface Transition {
  atMs: number;
  fromMs: number;
  toMs: number;
}

/** Returns a zone of the IANA database. Local times in a gap are read with the offset before it. */
export function ianaZone(timeZone: string): Zone {
  return {
    toInstantMs: (wallMs) =>
      Temporal.Instant.fromEpochMilliseconds(wallMs)
        .toZonedDateTimeISO('UTC')
        .toPlainDateTime()
        .toZonedDateTime(timeZone).epochMilliseconds,
    toWallMs: (instantMs) =>
      instantMs +
      Temporal.Instant.fromEpochMilliseconds(instantMs).toZonedDateTimeISO(timeZone).offsetNanoseconds / 1e6,
  };
}

function fixedZone(offsetMs: number): Zone {
  return { toInstantMs: (wallMs) => wallMs - offsetMs, toWallMs: (instantMs) => instantMs + offsetMs };
}

/**
 * Returns the zone that a VTIMEZONE describes (RFC 5545, 3.6.5) within a range of time; null if it describes none.
 *
 * @param observances the lines of its STANDARD and DAYLIGHT parts.
 */
export function describedZone(
  observances: readonly Line[][],
  range: { fromMs: number; toMs: number },
): Zone | null {
  const transitions = observances
    .flatMap((lines) => transitionsOf(lines, range))
    .sort((a, b) => a.atMs - b.atMs);
  const [first] = transitions;
  if (first === undefined) return null;
  const offsetAt = (has: (transition: Transition) => boolean) =>
    transitions.findLast(has)?.toMs ?? (transitions.length === 1 ? first.toMs : first.fromMs);
  return {
    toInstantMs: (wallMs) =>
      wallMs - offsetAt(({ atMs, fromMs, toMs }) => wallMs >= atMs + Math.max(fromMs, toMs)),
    toWallMs: (instantMs) => instantMs + offsetAt(({ atMs }) => instantMs >= atMs),
  };
}

/** Transitions last for a year at least, so those of two years before the range decide its beginning. */
const LOOK_BACK_MS = 2 * 366 * 24 * 60 * MINUTE_MS;

function transitionsOf(lines: readonly Line[], range: { fromMs: number; toMs: number }): Transition[] {
  const value = (name: string) => lines.find((line) => line.name === name)?.value ?? '';
  const start = parseWallTime(value('DTSTART'));
  const [fromMs, toMs] = [parseOffset(value('TZOFFSETFROM')), parseOffset(value('TZOFFSETTO'))];
  if (start === null || fromMs === null || toMs === null) return [];
  const around = { fromMs: range.fromMs - LOOK_BACK_MS, toMs: range.toMs };
  const rules = lines.filter(({ name }) => name === 'RRULE');
  const extra = lines
    .filter(({ name }) => name === 'RDATE')
    .flatMap((line) => line.value.split(',').flatMap((date) => parseWallTime(date)?.wallMs ?? []));
  const dates = rules.flatMap(({ value: rule }) => {
    return expandRule(rule, start.wallMs, around, (instantMs) => instantMs + fromMs) ?? [];
  });
  return [start.wallMs, ...extra, ...dates].map((wallMs) => ({ atMs: wallMs - fromMs, fromMs, toMs }));
}

/**
 * Finds a zone by its TZID: the IANA database, names of Windows by the table of CLDR, and fixed offsets.
 *
 * @returns null if the name is unknown.
 */
export function zoneByName(tzid: string): Zone | null {
  const name = tzid.trim();
  const segments = name.split('/');
  for (const count of [segments.length, 3, 2, 1]) {
    const candidate = segments.slice(-count).join('/');
    if (isIana(candidate)) return ianaZone(candidate);
  }
  const windows = windowsZone(name) ?? displayNameZone(name);
  if (windows !== null) return ianaZone(windows);
  const offset = /^(?:UTC|GMT)?\s?([+-])(\d{1,2})(?:[:.]?(\d\d))?$/i.exec(name);
  if (offset === null) return null;
  const [, sign, hours, minutes = '0'] = offset;
  return fixedZone((sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * MINUTE_MS);
}

/** Abbreviations that only ICU knows (`BST` as Bangladesh) are ambiguous, and left out. */
const ABBREVIATIONS = /^(?:UTC|GMT|UCT|WET|CET|MET|EET|EST|MST|HST)$/i;

function isIana(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]+$/.test(name)) return false;
  if (/^[A-Za-z]{3}$/.test(name) && !ABBREVIATIONS.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/**
 * Returns the IANA zone of a Windows name: the standard time, or variants such as `Pacific Daylight Time` and
 * `US Mountain Time`.
 */
function windowsZone(name: string): string | null {
  return (
    findIana(name.replace(/(?: Standard| Daylight| Summer)? Time(?: \(.*\))?$/, ' Standard Time'))[0] ?? null
  );
}

/** Names that Windows shows, such as `(UTC-05:00) Eastern Time (US & Canada)` and `(GMT+01.00) Berlin, Rome`. */
function displayNameZone(name: string): string | null {
  const [, sign = '+', hours = '0', minutes = '0', rest = ''] =
    /^\((?:UTC|GMT)(?:([+-])(\d{1,2})[:.](\d\d))?\)\s*(.{1,100})$/.exec(name) ?? [];
  if (rest === '') return null;
  const offsetMs = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
  const zone = windowsZone(rest);
  if (zone !== null && hasStandardOffset(zone, offsetMs)) return zone;
  const cities = new Set(rest.split(/[,/;]/).map((city) => city.trim().replaceAll(' ', '_')));
  const found = Intl.supportedValuesOf('timeZone').find(
    (id) => cities.has(id.split('/').at(-1) ?? '') && hasStandardOffset(id, offsetMs),
  );
  return found ?? (rest === 'Coordinated Universal Time' ? 'UTC' : null);
}

/** Reports whether the smaller offset of a year's two halves is the given one. */
function hasStandardOffset(zone: string, offsetMs: number): boolean {
  const { toWallMs } = ianaZone(zone);
  const halves = [Date.UTC(2026, 0, 1), Date.UTC(2026, 6, 1)].map((ms) => toWallMs(ms) - ms);
  return Math.min(...halves) === offsetMs;
}
