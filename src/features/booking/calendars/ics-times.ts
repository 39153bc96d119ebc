import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../kernel/durations.ts';
import type { Line } from './ics-lines.ts';

/** A DATE or DATE-TIME (RFC 5545, 3.3.4 and 3.3.5) as written: the wall clock in epoch milliseconds, as if it were UTC. */
export interface WallTime {
  wallMs: number;
  isDate: boolean;
  isUtc: boolean;
}

/** Parses a time; null if it is malformed. */
export function parseWallTime(text: string): WallTime | null {
  const parts = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)?(Z)?)?$/i.exec(text.trim());
  if (parts === null) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 24 || minute > 59 || second > 60) return null;
  const wallMs = Date.UTC(year, month - 1, day, hour, minute, second);
  return { wallMs, isDate: parts[4] === undefined, isUtc: parts[7] !== undefined };
}

/** Returns the value of TZID (RFC 5545, 3.2.19); null if the line has none. */
export function timeZoneOf({ parameters }: Line): string | null {
  const [, quoted, plain] = /;TZID=(?:"([^"]*)"|([^;]*))/i.exec(parameters) ?? [];
  return quoted ?? plain ?? null;
}

/**
 * Repairs a line of times whose TZID has a colon and no quotes, as Outlook writes `tzone://Microsoft/Utc`: no time has
 * a colon.
 */
export function repairTimeZone(line: Line): Line {
  const at = line.value.lastIndexOf(':');
  if (at < 0) return line;
  return {
    ...line,
    parameters: `${line.parameters}:${line.value.slice(0, at)}`,
    value: line.value.slice(at + 1),
  };
}

/** Parses a DURATION (RFC 5545, 3.3.6) into milliseconds; null if it is malformed or negative. */
export function parseDuration(text: string): number | null {
  const parts =
    /^\+?P(?:(\d{1,5})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,7})H)?(?:(\d{1,8})M)?(?:(\d{1,9})S)?)?$/i.exec(
      text.trim(),
    );
  if (parts === null) return null;
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = parts
    .slice(1)
    .map((part) => Number(part ?? 0));
  return (7 * weeks + days) * DAY_MS + hours * HOUR_MS + minutes * MINUTE_MS + 1000 * seconds;
}

/** Parses a UTC-OFFSET (RFC 5545, 3.3.14) into milliseconds; null if it is malformed. */
export function parseOffset(text: string): number | null {
  const parts = /^([+-])(\d\d):?(\d\d)(\d\d)?$/.exec(text.trim());
  if (parts === null) return null;
  const [hours = 0, minutes = 0, seconds = 0] = parts.slice(2).map((part) => Number(part ?? 0));
  const offsetMs = hours * HOUR_MS + minutes * MINUTE_MS + 1000 * seconds;
  return parts[1] === '-' ? -offsetMs : offsetMs;
}
