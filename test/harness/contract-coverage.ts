import { AsyncLocalStorage } from 'node:async_hooks';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sql } from 'postgres';
import { type AppendEvent, type Events, onAny } from '../../src/events/index.ts';

/**
 * Set for a run of all tests: folder to which each process writes the returned error codes and the events
 * that the program emitted. `scripts/coverage-step.ts` reads it.
 */
const FOLDER = process.env.MARQUEE_SEEN;

const seen = new Set<string>();

/** Records an asserted code, or an event type. */
export function recordObserved(name: string): void {
  if (FOLDER === undefined || seen.has(name)) return;
  seen.add(name);
  appendFileSync(join(FOLDER, String(process.pid)), `${name}\n`);
}

/** Records the code of an error response. */
export function recordErrorCode(answer: { status: number; text: string; at(path: string): unknown }): void {
  if (FOLDER === undefined || answer.status < 400 || !answer.text.startsWith('{')) return;
  const error = answer.at('error');
  recordObserved(String(typeof error === 'string' ? error : answer.at('error.code')));
}

/** The data that a test appends itself: the program has not sent that event, but those that follow from it. */
const byHand = new AsyncLocalStorage<object>();

/** Records the type of each event that the program emits. */
export const eventWatcher = onAny(async (_tx, { type, data }) => {
  if (byHand.getStore() !== data) recordObserved(type);
});

/** Returns the events for tests, without coverage: events that tests emit themselves do not count. */
export function untrackedEvents({ transaction }: Events): Events {
  if (FOLDER === undefined) return { transaction };
  return { transaction: (work) => transaction((tx, append) => work(tx, emitByHand(append))) };
}

function emitByHand(append: AppendEvent): AppendEvent {
  return (definition, workspaceId, data, options) => {
    const run = () => append(definition, workspaceId, data, options);
    return isCalledByTest() ? byHand.run(data, run) : run();
  };
}

/**
 * Records the types of the events that another container of the program writes to the database during `work`.
 */
export async function recordDatabaseEvents<T>(sql: Sql, work: () => Promise<T>): Promise<T> {
  if (FOLDER === undefined) return work();
  const [last] = await sql`select coalesce(max(seq), 0) as seq from event`;
  const result = await work();
  const rows = await sql<{ type: string }[]>`select distinct type from event where seq > ${last?.seq}`;
  for (const { type } of rows) recordObserved(type);
  return result;
}

/** Services of the program that a test has constructed itself count as the program. */
function isCalledByTest(): boolean {
  const callers = (new Error().stack ?? '').split('\n').slice(1);
  const caller = callers.find((line) => !line.includes(import.meta.url));
  return caller === undefined || caller.includes('.test.ts') || !caller.includes('/src/');
}
