import { formatDate, formatTime } from '../../../kernel/format-time.ts';
import { html, type SafeHtml } from '../../../platform/html.ts';
import type { AvailableSlot, DayView, MonthView, PickerSelection } from './rules.ts';

/** Picker of zone, month, day and time by links, without scripts. */

export interface Picker {
  /** Path of the page, from the root of the site. */
  path: string;
  choice: PickerSelection;
  creator: { name: string; zone: string };
  month: MonthView;
}

const LANGUAGE = 'en-GB';
const WEEKDAYS = [
  ['Mon', 'Monday'],
  ['Tue', 'Tuesday'],
  ['Wed', 'Wednesday'],
  ['Thu', 'Thursday'],
  ['Fri', 'Friday'],
  ['Sat', 'Saturday'],
  ['Sun', 'Sunday'],
] as const;

/** Returns the URL of the same page with another selection. */
export function urlWith(
  path: string,
  zone: string,
  more: Readonly<Record<string, string | null>>,
  anchor = '',
): string {
  const query = new URLSearchParams({ zone });
  for (const [name, value] of Object.entries(more)) if (value !== null) query.set(name, value);
  return `${path}?${query}${anchor === '' ? '' : `#${anchor}`}`;
}

export function zoneForm({ path, choice, creator }: Pick<Picker, 'path' | 'choice' | 'creator'>): SafeHtml {
  const zones = new Set([creator.zone, choice.zone, 'UTC', ...Intl.supportedValuesOf('timeZone')]);
  const kept = { month: choice.month, day: choice.day, start: choice.startsAt?.toISOString() ?? null };
  return html`<form class="book-zone" method="get" action="${path}">
${Object.entries({ ...kept, cohort: choice.cohortId }).map(
  ([name, value]) => value !== null && html`<input type="hidden" name="${name}" value="${value}">`,
)}
<label class="field">Times are shown in
<select name="zone">${[...zones].map(
    (zone) => html`<option value="${zone}"${zone === choice.zone && html` selected`}>${zone}</option>`,
  )}</select>
</label>
<button class="button" type="submit">Change time zone</button>
<a class="button" hidden data-own-zone="${choice.zone}" href="${path}"></a>
</form>
<p class="book-hint">${
    choice.zone === creator.zone
      ? html`This is the time zone of <bdi>${creator.name}</bdi>.`
      : html`<bdi>${creator.name}</bdi> is in ${creator.zone}; each time is also shown in their time zone.`
  }</p>`;
}

export function calendar(picker: Picker): SafeHtml {
  const { month, path, choice } = picker;
  const name = Temporal.PlainDate.from(`${month.month}-01`).toLocaleString(LANGUAGE, {
    month: 'long',
    year: 'numeric',
  });
  const turn = (to: string | null, text: string) =>
    to === null
      ? html`<span class="book-turn"></span>`
      : html`<a class="button book-turn" href="${urlWith(path, choice.zone, { month: to }, 'when')}">${text}</a>`;
  return html`<div class="book-month">
<div class="book-months">${turn(month.previous, 'Earlier')}<h3 aria-live="polite">${name}</h3>${turn(month.next, 'Later')}</div>
<table class="book-days">
<caption>Days with available times in ${name}</caption>
<thead><tr>${WEEKDAYS.map(([short, long]) => html`<th scope="col"><abbr title="${long}">${short}</abbr></th>`)}</tr></thead>
<tbody>${month.weeks.map((week) => html`<tr>${week.map((day) => cell(picker, day))}</tr>`)}</tbody>
</table>
</div>
${times(picker)}`;
}

function cell({ path, choice, month }: Picker, day: DayView | null): SafeHtml {
  if (day === null) return html`<td></td>`;
  if (day.times.length === 0) return html`<td><span>${day.number}</span></td>`;
  const isChosen = day.date === month.day?.date;
  const to = urlWith(path, choice.zone, { month: month.month, day: day.date }, 'times');
  return html`<td><a href="${to}"${isChosen && html` aria-current="date"`} aria-label="${longDay(day)}, ${count(day.times.length)}">${day.number}</a></td>`;
}

const count = (times: number) => (times === 1 ? '1 time' : `${times} times`);
const longDay = ({ date }: DayView) =>
  Temporal.PlainDate.from(date).toLocaleString(LANGUAGE, { dateStyle: 'full' });

function times({ path, choice, creator, month }: Picker): SafeHtml {
  const { day } = month;
  if (day === null) {
    return html`<p class="book-none" id="times" tabindex="-1">No times available this month.</p>`;
  }
  const item = (time: AvailableSlot) => {
    const start = time.startsAt.toISOString();
    const isChosen = start === choice.startsAt?.toISOString();
    const to = urlWith(path, choice.zone, { month: month.month, day: day.date, start }, 'details');
    return html`<li><a class="button" href="${to}"${isChosen && html` aria-current="true"`}><span>${formatTime(time.startsAt, choice.zone)}</span>
${choice.zone !== creator.zone && html`<small>${elsewhere(time.startsAt, choice.zone, creator.zone)}</small>`}
${time.seatsLeft > 1 && html`<small>${time.seatsLeft} seats left</small>`}</a></li>`;
  };
  return html`<div class="book-times" id="times" tabindex="-1">
<h3>${longDay(day)}</h3>
${
  day.times.length === 0
    ? html`<p class="book-none">No times available on this day.</p>`
    : html`<ul>${day.times.map(item)}</ul>`
}
</div>`;
}

/** Returns the creator's time, with its day when that differs. */
function elsewhere(at: Date, zone: string, other: string): string {
  const day = formatDate(at, other);
  const isSameDay = day === formatDate(at, zone);
  return `${isSameDay ? '' : `${day.split(/[ ,]/)[0]} `}${formatTime(at, other)} in ${other}`;
}

/** Returns a time in the zones of the viewer and of the creator. */
export function timeInBothZones(
  time: { startsAt: Date; endsAt: Date },
  zone: string,
  creator: { name: string; zone: string },
): SafeHtml {
  const line = (of: string) =>
    html`<time datetime="${time.startsAt.toISOString()}">${formatDate(time.startsAt, of)}, ${formatTime(time.startsAt, of)} to ${formatTime(time.endsAt, of)}</time> (${of})`;
  if (zone === creator.zone) return html`<p>${line(zone)}, the time zone of <bdi>${creator.name}</bdi>.</p>`;
  return html`<p>${line(zone)}</p><p>For <bdi>${creator.name}</bdi>: ${line(creator.zone)}</p>`;
}
