import { MINUTE_MS } from '../../../kernel/durations.ts';
import { badRequest } from '../../../kernel/errors.ts';
import type { CohortStatus } from '../../../platform/db/tables.generated.ts';

interface Facts {
  status: CohortStatus;
  starts_at: Date;
  over_at: Date;
  enrollment_opens_at: Date | null;
  enrolled_count: number;
  seats: number;
}

/**
 * Returns the status of a cohort (docs/concepts/booking-cohorts.md#states); CANCELED and COMPLETED are final.
 */
export function statusOf(cohort: Facts, now: Date): CohortStatus {
  const { status, starts_at: startsAt, over_at: overAt, enrollment_opens_at: opensAt } = cohort;
  if (status === 'CANCELED' || status === 'COMPLETED') return status;
  if (status === 'RUNNING' || startsAt <= now) return overAt <= now ? 'COMPLETED' : 'RUNNING';
  if (opensAt !== null && opensAt > now) return 'SCHEDULED';
  return cohort.enrolled_count < cohort.seats ? 'OPEN' : 'FULL';
}

/** Planned times of a cohort. */
export interface Times {
  startsAt: Date;
  endsAt: Date | null;
  opensAt: Date | null;
  closesAt: Date | null;
  sessions: readonly Session[];
}

export interface Session {
  startsAt: Date;
  endsAt: Date;
}

/** Session to store; `id` names an existing one. */
export interface PlannedSession extends Session {
  id: string | undefined;
}

type Span = { starts_at: Date; ends_at: Date | null };

/**
 * Reports whether members must be notified of new times. Ended sessions are ignored; a cohort with sessions
 * compares them instead of its end.
 */
export function isMoved(
  before: Span,
  after: Span,
  { held, sessions }: { held: readonly PlannedSession[]; sessions: readonly PlannedSession[] },
  now: Date,
): boolean {
  if (before.starts_at.getTime() !== after.starts_at.getTime()) return true;
  const hasSessions = held.length > 0 || sessions.length > 0;
  if (!hasSessions) return before.ends_at?.getTime() !== after.ends_at?.getTime();
  const coming = (all: readonly PlannedSession[]) =>
    all
      .filter(({ endsAt }) => endsAt > now)
      .map(({ id, startsAt, endsAt }) => `${id} ${startsAt.getTime()} ${endsAt.getTime()}`);
  const wanted = new Set(coming(sessions));
  const known = new Set(coming(held));
  return wanted.symmetricDifference(known).size > 0;
}

/** Years that dates can be formatted with; PostgreSQL allows more. */
const YEARS = { first: 1970, last: 9998 } as const;

/**
 * @param bufferMin free time after each session.
 * @throws {AppError} BAD_REQUEST naming the input, such as `sessions.0.endsAt`.
 */
export function assertTimes(times: Times, bufferMin: number): void {
  const { startsAt, endsAt, opensAt, closesAt, sessions } = times;
  assertYear('startsAt', startsAt);
  assertYear('endsAt', endsAt);
  assertYear('enrollmentOpensAt', opensAt);
  assertYear('enrollmentClosesAt', closesAt);
  if (endsAt !== null && endsAt <= startsAt) throw badRequest('endsAt', 'endsAt must be after startsAt.');
  if (opensAt !== null && opensAt >= startsAt) {
    throw badRequest('enrollmentOpensAt', 'Enrollment must open before the cohort starts.');
  }
  if (closesAt !== null && closesAt > startsAt) {
    throw badRequest('enrollmentClosesAt', 'Enrollment must close by the start of the cohort.');
  }
  if (opensAt !== null && closesAt !== null && closesAt <= opensAt) {
    throw badRequest('enrollmentClosesAt', 'Enrollment must close after it opens.');
  }
  for (const [index, session] of sessions.entries()) assertSession(`sessions.${index}`, session, times);
  assertApart(sessions, bufferMin);
}

function assertSession(at: string, { startsAt, endsAt }: Session, cohort: Times): void {
  assertYear(`${at}.startsAt`, startsAt);
  assertYear(`${at}.endsAt`, endsAt);
  if (endsAt <= startsAt) throw badRequest(`${at}.endsAt`, 'A session must end after it starts.');
  if (startsAt < cohort.startsAt) {
    throw badRequest(`${at}.startsAt`, 'A session cannot start before the cohort.');
  }
  if (cohort.endsAt !== null && endsAt > cohort.endsAt) {
    throw badRequest(`${at}.endsAt`, 'A session cannot end after the cohort.');
  }
}

function assertApart(sessions: readonly Session[], bufferMin: number): void {
  const placed = sessions.map((session, index) => ({ ...session, index }));
  const sorted = placed.toSorted((a, b) => a.startsAt.getTime() - b.startsAt.getTime());
  for (const [place, { startsAt, index }] of sorted.entries()) {
    const before = sorted[place - 1];
    if (before === undefined || before.endsAt.getTime() + bufferMin * MINUTE_MS <= startsAt.getTime())
      continue;
    const buffer = bufferMin === 0 ? '' : ` and the ${bufferMin} minutes after it`;
    throw badRequest(`sessions.${index}.startsAt`, `The session overlaps another session${buffer}.`);
  }
}

function assertYear(field: string, at: Date | null): void {
  const year = at?.getUTCFullYear() ?? YEARS.first;
  if (year >= YEARS.first && year <= YEARS.last) return;
  throw badRequest(field, `${field} must be in the years ${YEARS.first} to ${YEARS.last}.`);
}
