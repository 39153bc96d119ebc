import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../platform/logger.ts';

/** Work that a role repeats periodically. */
export interface ScheduledTask {
  name: string;
  everyMs: number;
  run(): Promise<void>;
}

export interface Schedule {
  /** Starts no further runs and waits for the current ones. */
  stop(): Promise<void>;
}

/** Longest wait of a due run for the one before it. */
const MAX_TURN_MS = 50;

/**
 * Runs each task now and then periodically. Runs of one task never overlap, and failures are logged. Tasks that are due
 * together run one after the other, so that an idle process needs one connection
 * (docs/decisions/startup-and-idle.md#connections); a slow one delays the next by 50 ms at most.
 */
export function startSchedule(tasks: readonly ScheduledTask[], log: Logger): Schedule {
  let stopped = false;
  let turn: Promise<unknown> = Promise.resolve();
  const timers = new Set<NodeJS.Timeout>();
  const running = new Set<Promise<void>>();

  const launch = (task: ScheduledTask): void => {
    const begun = turn;
    const run = begun
      .then(() => (stopped ? undefined : task.run()))
      .catch((error: unknown) => log.error({ err: error, task: task.name }, 'a scheduled task failed'))
      .finally(() => {
        running.delete(run);
        if (stopped) return;
        const timer = setTimeout(() => {
          timers.delete(timer);
          launch(task);
        }, task.everyMs);
        timers.add(timer);
      });
    running.add(run);
    turn = Promise.race([run, begun.then(() => sleep(MAX_TURN_MS, undefined, { ref: false }))]);
  };
  for (const task of tasks) launch(task);

  return {
    async stop() {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      await Promise.all(running);
    },
  };
}
