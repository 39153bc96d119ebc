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

/** How long the next run waits for one that has begun. */
const TURN_MS = 50;

/**
 * Runs each task and then again and again; a run never overlaps the one before, a failure is logged. Tasks of which the
 * time has come at once take turns, so that at rest they want one connection (docs/decisions/startup-and-idle.md#connections);
 * one that takes long holds up none.
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
    turn = Promise.race([run, begun.then(() => sleep(TURN_MS, undefined, { ref: false }))]);
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
