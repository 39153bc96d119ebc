import { type ScheduledTask, startSchedule } from '../jobs/schedule.ts';
import { startJobWorkers } from '../jobs/worker.ts';
import { inBackground } from '../platform/db/deadline.ts';
import type { Container } from './container.ts';
import { startServices, stopServices } from './lifecycle.ts';

/** The worker role: jobs, webhook deliveries, mail, and what time does to all that has one. */
export function startWorker(container: Container): { stop(): Promise<void> } {
  const { parts, log } = container;
  const services = startServices(parts, 'worker');
  const workers = parts.flatMap((part) => part.jobs?.() ?? []);
  const jobs = startJobWorkers({ ...container, workers });
  const schedule = startSchedule(parts.flatMap((part) => part.tasks?.() ?? []).map(inBackgroundTask), log);
  return { stop: () => stopServices(services, [schedule, jobs]) };
}

function inBackgroundTask(task: ScheduledTask): ScheduledTask {
  return { ...task, run: () => inBackground(() => task.run()) };
}
