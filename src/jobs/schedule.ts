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

/** Runs each task at once and then again and again; a run never overlaps the one before, a failure is logged. */
export function startSchedule(tasks: readonly ScheduledTask[], log: Logger): Schedule {
  let stopped = false;
  const timers = new Set<NodeJS.Timeout>();
  const running = new Set<Promise<void>>();

  const launch = (task: ScheduledTask) => {
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
