import { serverNow } from '../app/server-clock.ts';

function dayText(at: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** Returns the day `days` after another day, or after today, as `2026-11-20` in the browser's time zone. */
export function laterDay(day: string | undefined, days: number): string {
  const at = day === undefined ? new Date(serverNow()) : new Date(`${day}T12:00`);
  at.setDate(at.getDate() + days);
  return dayText(at);
}
