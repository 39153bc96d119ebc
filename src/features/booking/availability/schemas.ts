import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { Instant, Nullable } from '../../../http/schema.ts';
import { type AvailabilityRules, WEEKDAYS, type WeeklySchedule } from './rules.ts';

/** Maximum notice: ten years. */
const MAX_NOTICE_MIN = 5_256_000;
/** Maximum booking horizon: ten years. */
const MAX_ADVANCE_DAYS = 3650;
const MAX_WINDOWS = 48;
const MAX_BLACKOUTS = 500;

const TIME = '([01]\\d|2[0-3]):[0-5]\\d';
const DayWindow = namedSchema(
  'DayWindow',
  Type.Object({
    start: Type.String({ pattern: `^${TIME}$`, description: 'HH:MM, local time in `timezone`.' }),
    end: Type.String({
      pattern: `^(${TIME}|24:00)$`,
      description: 'HH:MM, after `start`; 24:00 is the end of the day.',
    }),
  }),
);
const Windows = Type.Array(DayWindow, { maxItems: MAX_WINDOWS });

const Blackout = namedSchema(
  'Blackout',
  Type.Object({
    start: Type.String({ maxLength: 40, description: 'Local date (`2026-12-24`) or timestamp.' }),
    end: Type.String({ maxLength: 40, description: 'A date is inclusive, a timestamp is exclusive.' }),
    reason: Type.Optional(Type.String({ maxLength: 200, description: 'Only visible to you.' })),
  }),
);

const weeklyJson = namedSchema(
  'BookingWeek',
  Type.Unsafe<WeeklySchedule>(
    Type.Object(Object.fromEntries(WEEKDAYS.map((day) => [day, Type.Optional(Windows)])), {
      additionalProperties: false,
      description: 'Available hours by day of the week; an omitted day has none.',
    }),
  ),
);
const others = {
  timezone: Type.String({ maxLength: 64, description: 'IANA time zone, such as Europe/Berlin.' }),
  blackoutsJson: Type.Array(Blackout, {
    maxItems: MAX_BLACKOUTS,
    description: 'Periods without availability, which override the weekly hours.',
  }),
  minNoticeMin: Type.Integer({
    minimum: 0,
    maximum: MAX_NOTICE_MIN,
    description: 'Minimum minutes between booking and start.',
  }),
  maxAdvanceDays: Type.Integer({
    minimum: 0,
    maximum: MAX_ADVANCE_DAYS,
    description: 'How many days in advance bookings are allowed.',
  }),
};

const SAMPLE = {
  weeklyJson: { mon: [{ start: '09:00', end: '12:00' }], thu: [{ start: '13:30', end: '18:00' }] },
  timezone: 'Europe/Berlin',
  blackoutsJson: [{ start: '2026-12-24', end: '2026-12-26', reason: 'Holidays' }],
  minNoticeMin: 60,
  maxAdvanceDays: 60,
};

export const AvailabilityIn = namedSchema(
  'BookingAvailabilityPut',
  Type.Object({ weeklyJson, ...Type.Partial(Type.Object(others)).properties }),
  SAMPLE,
);
export type AvailabilityIn = Static<typeof AvailabilityIn>;

export const AvailabilityOut = namedSchema(
  'BookingAvailability',
  Type.Object({ weeklyJson, ...others, updatedAt: Nullable(Instant) }),
  { ...SAMPLE, updatedAt: '2026-11-20T09:00:00.000Z' },
);

export function toAvailability(row: AvailabilityRules): Static<typeof AvailabilityOut> {
  return {
    weeklyJson: row.weekly,
    timezone: row.timezone,
    blackoutsJson: row.blackouts,
    minNoticeMin: row.minNoticeMin,
    maxAdvanceDays: row.maxAdvanceDays,
    updatedAt: row.updatedAt?.toISOString() ?? null,
  };
}
