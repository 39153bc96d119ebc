import { useTranslation } from 'react-i18next';
import { currentLocale } from '../app/i18n.ts';
import { serverNow } from '../app/server-clock.ts';

/** Browser's time zone, used for every time on a page. */
export const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** Returns formatters for numbers, money and times in a locale. Components use `useFormat`. */
export function formatsFor(locale: string) {
  const number = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
  const at = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(locale, options);
    return (instant: string | Date) => format.format(new Date(instant));
  };
  return {
    number: (value: number) => number.format(value),
    percent: (share: number) =>
      new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 }).format(share),
    /** From the smallest unit of the currency: cents, or whole yen. */
    money: (units: number, currency: string) => {
      const format = new Intl.NumberFormat(locale, { style: 'currency', currency: currency.toUpperCase() });
      return format.format(units / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
    },
    bytes: (bytes: number) => formatBytes(locale, bytes),
    /** `1:02:03`, `4:05`. */
    duration: formatDuration,
    date: at({ dateStyle: 'medium' }),
    time: at({ timeStyle: 'short' }),
    dateTime: at({ dateStyle: 'medium', timeStyle: 'short' }),
    /** To the second and with the name of the zone. */
    exact: at({
      year: 'numeric',
      month: 'short',
      day: 'numeric',
      hour: 'numeric',
      minute: '2-digit',
      second: '2-digit',
      timeZoneName: 'short',
    }),
    relative: (instant: string | Date) => formatRelative(locale, new Date(instant)),
  };
}

export type Formats = ReturnType<typeof formatsFor>;

const known = new Map<string, Formats>();

/** The formats of the language that is shown; they change with it. */
export function useFormat(): Formats {
  useTranslation();
  const locale = currentLocale();
  const formats = known.get(locale) ?? formatsFor(locale);
  known.set(locale, formats);
  return formats;
}

function formatBytes(locale: string, bytes: number): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  return new Intl.NumberFormat(locale, {
    style: 'unit',
    unit: units[power],
    unitDisplay: power === 0 ? 'long' : 'short',
    maximumFractionDigits: 1,
  }).format(bytes / 1000 ** power);
}

function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (value: number) => String(value).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

function formatRelative(locale: string, instant: Date): string {
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  const seconds = (instant.getTime() - serverNow()) / 1000;
  const unit = UNITS.find(([, length]) => Math.abs(seconds) >= length);
  return unit === undefined
    ? format.format(Math.round(seconds), 'second')
    : format.format(Math.round(seconds / unit[1]), unit[0]);
}
