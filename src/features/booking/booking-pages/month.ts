import { dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import type { ProductRow } from '../products/index.ts';
import type { BookingPagePorts } from './ports.ts';
import {
  type AvailableSlot,
  daysOfMonth,
  type MonthView,
  monthOf,
  monthView,
  type PickerSelection,
} from './rules.ts';

/** Months searched for the first available time. */
const LOOK_AHEAD = 3;

/** Returns the selected month of available slots; by default the first one with any. */
export async function showMonth(
  {
    clock,
    availability,
    db,
    freeTimes,
  }: Pick<BookingPagePorts, 'clock' | 'availability' | 'db' | 'freeTimes'>,
  { id: productId, workspace_id: workspaceId }: Pick<ProductRow, 'id' | 'workspace_id'>,
  choice: PickerSelection,
): Promise<{ month: MonthView; times: AvailableSlot[] }> {
  const { zone, startsAt, day } = choice;
  const now = clock.now();
  const { maxAdvanceDays } = await availability.of(db, workspaceId);
  const bounds = {
    first: monthOf(now, zone),
    // The creator's last day may end later than the same day in the visitor's zone.
    last: monthOf(dateFromMs(now.getTime() + (maxAdvanceDays + 1) * DAY_MS), zone),
  };
  const wanted = choice.month ?? day?.slice(0, 7) ?? (startsAt && monthOf(startsAt, zone));
  const read = async (name: string) => {
    const times = await freeTimes(workspaceId, productId, { ...daysOfMonth(name), timezone: zone });
    return { times, month: monthView(name, times, { zone, chosen: day ?? dayOfStart(choice), bounds }) };
  };
  let shown = await read(within(wanted ?? bounds.first, bounds));
  for (let tries = 1; wanted === null && tries < LOOK_AHEAD; tries++) {
    const { next } = shown.month;
    if (shown.times.length > 0 || next === null) break;
    shown = await read(next);
  }
  return shown;
}

function dayOfStart({ startsAt, zone }: PickerSelection): string | null {
  if (startsAt === null) return null;
  return Temporal.Instant.fromEpochMilliseconds(startsAt.getTime())
    .toZonedDateTimeISO(zone)
    .toPlainDate()
    .toString();
}

function within(month: string, { first, last }: { first: string; last: string }): string {
  if (month < first) return first;
  return month > last ? last : month;
}
