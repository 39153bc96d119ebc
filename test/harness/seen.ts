import { AsyncLocalStorage } from 'node:async_hooks';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Events, onEvery } from '../../src/events/index.ts';
import type { Container } from '../../src/main/container.ts';
import type { Noun } from '../../src/main/core.ts';

/**
 * Set for a run of all tests: where each process writes which error codes were answered and which events the program
 * appended. `scripts/promises.ts` reads it.
 */
const FOLDER = process.env.MARQUEE_SEEN;

const seen = new Set<string>();

/** Keeps a code that was asserted, or a type. */
export function saw(name: string): void {
  if (FOLDER === undefined || seen.has(name)) return;
  seen.add(name);
  appendFileSync(join(FOLDER, String(process.pid)), `${name}\n`);
}

/** Keeps the code of a refusal. */
export function sawAnswer(answer: { status: number; text: string; at(path: string): unknown }): void {
  if (FOLDER === undefined || answer.status < 400 || !answer.text.startsWith('{')) return;
  const error = answer.at('error');
  saw(String(typeof error === 'string' ? error : answer.at('error.code')));
}

/** In it a test appends an event itself: the program has not sent that one. */
const byHand = new AsyncLocalStorage<true>();

/** Keeps the type of each event that the program appends. */
export const eventWatcher: Noun = {
  build: () => ({
    consumers: [
      onEvery(async (_tx, { type }) => {
        if (byHand.getStore() === undefined) saw(type);
      }),
    ],
  }),
};

/** The same container for tests: what they append through it counts for nothing. */
export function ofTests(container: Container): Container {
  const { transaction }: Events = container.events;
  return { ...container, events: { transaction: (work) => byHand.run(true, () => transaction(work)) } };
}
