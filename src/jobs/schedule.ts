import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../platform/logger.ts';

/** Work that a role repeats while it runs. */
export interface ScheduledTask {
  name: string;
  everyMs: number;
  run(): Promise<void>;
}

export interface Schedule {
  /** Waits for the runs that are under way. */
  stop(): Promise<void>;
}

/** How long the first run of a task is waited for before the next one begins. */
const FIRST_RUN_MS = 200;

/**
 * Runs each task and then again and again; a run never overlaps the one before, a failure is logged. The first runs are
 * one after the other, so that all at once never want a connection each, then or later
 * (docs/decisions/start-and-rest.md#connections).
 */
export function startSchedule(tasks: readonly ScheduledTask[], log: Logger): Schedule {
  let stopped = false;
  const timers = new Set<NodeJS.Timeout>();
  const running = new Set<Promise<void>>();

  const launch = (task: ScheduledTask): Promise<void> => {
    const run = task
      .run()
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
    return run;
  };
  const begin = async () => {
    for (const task of tasks) {
      if (stopped) return;
      await Promise.race([launch(task), sleep(FIRST_RUN_MS)]);
    }
  };
  const begun = begin();

  return {
    async stop() {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      await begun;
      await Promise.all(running);
    },
  };
}
