import { type ScheduledTask, startSchedule } from '../jobs/schedule.ts';
import { startJobWorkers } from '../jobs/worker.ts';
import { inBackground } from '../platform/db/deadline.ts';
import type { Container } from './container.ts';
import { startServices, stopServices } from './lifecycle.ts';

/** The worker role: jobs, webhook deliveries, mail, and what time does to all that has one. */
export function startWorker(container: Container): { stop(): Promise<void> } {
  const { modules, log } = container;
  const services = startServices(modules, 'worker');
  const workers = modules.flatMap((module) => module.jobs?.() ?? []);
  const jobs = startJobWorkers({ ...container, workers });
  const schedule = startSchedule(
    modules.flatMap((module) => module.tasks?.() ?? []).map(inBackgroundTask),
    log,
  );
  return { stop: () => stopServices(services, [schedule, jobs]) };
}

function inBackgroundTask(task: ScheduledTask): ScheduledTask {
  return { ...task, run: () => inBackground(() => task.run()) };
}
