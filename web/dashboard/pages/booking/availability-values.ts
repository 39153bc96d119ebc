import type { Shape } from '../../app/shape.ts';
import { instantOf, localTime } from '../../components/local-time.ts';

type Availability = Shape<'BookingAvailability'>;
type Blackout = Availability['blackoutsJson'][number];

export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Day = (typeof DAYS)[number];

/** Times as inputs have them: the end of a day is 00:00. */
export interface Window {
  start: string;
  end: string;
}

/** Whole days as date inputs have them, or times of day in the zone of the browser. */
export interface TimeOff {
  kind: 'days' | 'times';
  start: string;
  end: string;
  reason: string;
}

const MIDNIGHT = '00:00';
const END_OF_DAY = '24:00';
const DAY = /^\d{4}-\d\d-\d\d$/;

export const NEW_WINDOW: Window = { start: '09:00', end: '17:00' };
export const NEW_TIME_OFF: TimeOff = { kind: 'days', start: '', end: '', reason: '' };

export function valuesOf({
  weeklyJson,
  blackoutsJson,
  timezone,
  minNoticeMin,
  maxAdvanceDays,
}: Availability) {
  const windowsOf = (day: Day): Window[] =>
    (weeklyJson[day] ?? []).map(({ start, end }) => ({ start, end: end === END_OF_DAY ? MIDNIGHT : end }));
  return {
    weeklyJson: {
      mon: windowsOf('mon'),
      tue: windowsOf('tue'),
      wed: windowsOf('wed'),
      thu: windowsOf('thu'),
      fri: windowsOf('fri'),
      sat: windowsOf('sat'),
      sun: windowsOf('sun'),
    },
    blackoutsJson: blackoutsJson.map(toAway),
    timezone,
    minNoticeMin,
    maxAdvanceDays,
  };
}

export type Values = ReturnType<typeof valuesOf>;

function toAway({ start, end, reason = '' }: Blackout): TimeOff {
  if (DAY.test(start) && DAY.test(end)) return { kind: 'days', start, end, reason };
  return { kind: 'times', start: local(start, 0), end: local(end, 1), reason };
}

/** Converts a day to its start plus `later` days, so that an end given as a day is included. */
function local(text: string, later: number): string {
  if (!DAY.test(text)) return localTime(text);
  const at = new Date(`${text}T00:00`);
  at.setDate(at.getDate() + later);
  return localTime(at.toISOString());
}

export function bodyOf({ weeklyJson, blackoutsJson, ...others }: Values): Shape<'BookingAvailabilityPut'> {
  const windowsOf = (day: Day) =>
    weeklyJson[day].map(({ start, end }) => ({ start, end: end === MIDNIGHT ? END_OF_DAY : end }));
  return {
    ...others,
    weeklyJson: Object.fromEntries(DAYS.map((day) => [day, windowsOf(day)])),
    blackoutsJson: blackoutsJson.map(({ kind, start, end, reason }) => ({
      start: kind === 'days' ? start : (instantOf(start) ?? ''),
      end: kind === 'days' ? end : (instantOf(end) ?? ''),
      ...(reason.trim() === '' ? {} : { reason }),
    })),
  };
}
