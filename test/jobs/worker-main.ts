/** Worker in a separate process, which a test kills: it reports its runs, which wait for their signal. */
import { startJobWorkers } from '../../src/jobs/worker.ts';
import { type LabelRun, labelJob, openQueue } from './fixture.ts';

const job = labelJob(process.argv[3] ?? '');
const open = await openQueue(process.argv[2] ?? '', [job]);
const run = ({ payload, signal, attempt, lost }: LabelRun) => {
  process.send?.({ label: payload.label, attempt, lost });
  return new Promise<void>((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      process.send?.({ label: payload.label, aborted: signal.reason.reason });
      reject(signal.reason);
    });
  });
};
startJobWorkers(open.workersOf([{ job, concurrency: 1, run }]));
process.on('disconnect', () => process.exit(0));
