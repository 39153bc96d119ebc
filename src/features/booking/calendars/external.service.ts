import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS, MINUTE_MS } from '../../../kernel/durations.ts';
import { AppError, badRequest, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db } from '../../../platform/db/index.ts';
import { lockWorkspace } from '../../../platform/db/workspace.ts';
import type { Logger } from '../../../platform/logger.ts';
import { GuardError, type Outbound } from '../../../platform/outbound/index.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import type { ExternalRow } from './external.repository.ts';
import * as repository from './external.repository.ts';
import { calendarErrorMessage, fetchCalendar } from './fetch-calendar.ts';
import { parseCalendar } from './parse-calendar.ts';

/** Calendars elsewhere whose events take time (docs/concepts/booking-calendars.md#external-calendars). */
export interface ExternalCalendars {
  /** @throws {AppError} BAD_REQUEST, field `url`; CONFLICT beyond 10 calendars. */
  add(workspaceId: string, input: { url: string; name?: string | null }): Promise<ExternalRow>;
  list(workspaceId: string, page: PageRequest): Promise<ExternalRow[]>;
  /** @throws {AppError} NOT_FOUND. */
  get(workspaceId: string, id: string): Promise<ExternalRow>;
  /** @throws {AppError} NOT_FOUND. */
  remove(workspaceId: string, id: string): Promise<void>;
  /** Reads calendars that are due; the worker calls it. */
  readDue(): Promise<void>;
}

export interface ExternalDeps {
  db: Db;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  secrets: Pick<Secrets, 'encrypt' | 'decrypt'>;
  fetcher: Pick<Outbound, 'checkUrl' | 'stream'>;
  availability: { of(db: Db, workspaceId: string): Promise<{ timezone: string }> };
}

const MAX_CALENDARS = 10;
const READ_MS = 15 * MINUTE_MS;
/** Maximum backoff as a multiple of the interval between reads: almost a day. */
const MAX_PAUSES = 64;
const AT_ONCE = 4;
/**
 * Minimum pause of a slow calendar as a multiple of its read duration, which limits its share of a worker and
 * of CPU time.
 */
const SLOW_TIMES = 180;
/** Time after which a run starts no more reads, so that it ends. */
const ROUND_MS = 2 * MINUTE_MS;
const HORIZON_DAYS = 400;

export function createExternalCalendars(deps: ExternalDeps): ExternalCalendars {
  const { db, clock, secrets } = deps;
  return {
    async add(workspaceId, { url: given, name = null }) {
      const url = await checked(deps, given);
      return db.transaction().execute(async (tx) => {
        await lockWorkspace(tx, workspaceId);
        if ((await repository.countExternals(tx, workspaceId)) >= MAX_CALENDARS) {
          throw new AppError('CONFLICT', {
            message: `Limit of ${MAX_CALENDARS} calendars reached. Delete one first.`,
          });
        }
        const id = newId('cal');
        const now = clock.now();
        return repository.insertExternal(tx, {
          ...{ id, workspace_id: workspaceId, name, host: new URL(url).hostname },
          ...{
            url_encrypted: secrets.encrypt(url, id),
            next_fetch_at: now,
            created_at: now,
            updated_at: now,
          },
        });
      });
    },
    list: (workspaceId, page) => repository.listExternals(db, workspaceId, page),
    async get(workspaceId, id) {
      const row = await repository.findExternal(db, workspaceId, id);
      if (row === undefined) throw notFound();
      return row;
    },
    async remove(workspaceId, id) {
      if (!(await repository.deleteExternal(db, workspaceId, id))) throw notFound();
    },
    readDue: () => readDue(deps),
  };
}

/**
 * Reads due calendars. Workspaces take turns with one calendar at a time, so that slow calendars of one
 * workspace do not delay others.
 */
async function readDue(deps: ExternalDeps): Promise<void> {
  const { db, clock, log } = deps;
  const endMs = performance.now() + ROUND_MS;
  const running = new Map<string, Promise<void>>();
  let had: string[] = [];
  try {
    while (performance.now() < endMs) {
      if (running.size === AT_ONCE) await Promise.race(running.values());
      const now = clock.now();
      const until = dateFromMs(now.getTime() + READ_MS);
      const row = await repository.claimDue(db, { now, until, except: had });
      if (row !== undefined) {
        const { id, workspace_id: workspaceId } = row;
        had.push(workspaceId);
        const reading = read(deps, row)
          .catch((err: unknown) => log.warn({ err, calendarId: id }, 'a calendar could not be stored'))
          .finally(() => running.delete(workspaceId));
        running.set(workspaceId, reading);
      } else if (had.some((id) => !running.has(id))) had = [...running.keys()];
      else if (running.size > 0) await Promise.race(running.values());
      else return;
    }
  } finally {
    await Promise.all(running.values());
  }
}

/** `webcal:` URLs are served over `https:`. */
async function checked({ fetcher }: ExternalDeps, given: string): Promise<string> {
  const url = given.trim().replace(/^webcals?:/i, 'https:');
  try {
    await fetcher.checkUrl(url, { http: true });
    return url;
  } catch (error) {
    if (!(error instanceof GuardError)) throw error;
    throw badRequest('url', `Cannot read from this URL: ${error.reason}.`);
  }
}

async function read(deps: ExternalDeps, row: ExternalRow): Promise<void> {
  const { db, clock, log } = deps;
  const now = clock.now();
  const begunMs = performance.now();
  const nextIn = (pauseMs: number) =>
    dateFromMs(now.getTime() + Math.max(pauseMs, SLOW_TIMES * (performance.now() - begunMs)));
  try {
    await readOne(deps, row, { now, next: () => nextIn(READ_MS) });
  } catch (error) {
    const refusal = calendarErrorMessage(error);
    if (refusal === null) log.warn({ err: error, calendarId: row.id }, 'a calendar could not be read');
    const failures = row.failure_count + 1;
    await repository.updateExternal(db, row.id, {
      ...{
        status: 'FAILED',
        last_error: refusal ?? 'The calendar could not be read.',
        failure_count: failures,
      },
      next_fetch_at: nextIn(READ_MS * Math.min(2 ** (failures - 1), MAX_PAUSES)),
      updated_at: now,
    });
  }
}

async function readOne(
  deps: ExternalDeps,
  row: ExternalRow,
  { now, next }: { now: Date; next(): Date },
): Promise<void> {
  const { db, secrets, fetcher, availability } = deps;
  const { timezone } = await availability.of(db, row.workspace_id);
  const isFresh =
    row.status === 'OK' &&
    row.content_timezone === timezone &&
    row.content_fetched_at !== null &&
    now.getTime() - row.content_fetched_at.getTime() < DAY_MS;
  const found = await fetchCalendar(fetcher, {
    url: secrets.decrypt(row.url_encrypted, row.id),
    known: isFresh ? { etag: row.etag, lastModified: row.last_modified } : null,
  });
  const well = { status: 'OK', failure_count: 0, fetched_at: now, updated_at: now } as const;
  if (found === null) {
    await repository.updateExternal(db, row.id, { ...well, next_fetch_at: next() });
    return;
  }
  const range = { fromMs: now.getTime() - DAY_MS, toMs: now.getTime() + HORIZON_DAYS * DAY_MS };
  const { spans, events, warnings } = await parseCalendar({ bytes: found.bytes, timezone, ...range });
  await db.transaction().execute(async (tx) => {
    const isThere = await repository.updateExternal(tx, row.id, {
      ...{ ...well, next_fetch_at: next(), last_error: warnings.length === 0 ? null : warnings.join(' ') },
      ...{ event_count: events, etag: found.etag, last_modified: found.lastModified },
      ...{ content_fetched_at: now, content_timezone: timezone },
    });
    if (!isThere) return;
    const busy = spans.map(({ startMs, endMs }) => ({
      startsAt: dateFromMs(startMs),
      freeAt: dateFromMs(endMs),
    }));
    await repository.replaceBusyIntervals(tx, row.id, busy);
  });
}
