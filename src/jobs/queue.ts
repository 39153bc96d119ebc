import { newUuid } from '../kernel/ids.ts';
import type { Bus } from '../platform/bus.ts';
import type { Tx } from '../platform/db/index.ts';
import { shapeOf } from '../platform/shapes.ts';
import type { JobDefinition, JobQueue } from './job.ts';
import * as store from './store.ts';

/** The topic that wakes the job workers. */
export const JOBS_TOPIC = 'jobs';

export interface Jobs extends JobQueue {
  /** To be called after the commit: wakes the workers when the transaction has added or cancelled a job. */
  committed(tx: Tx): void;
  /** @returns what is wrong with the payload, or null; a job that is not in the registry is wrong as well. */
  refuse(name: string, payload: unknown): string | null;
  /** The registered definition. @throws {Error} when it is another one of this name, or none. */
  registered(job: JobDefinition): JobDefinition;
}

interface Deps {
  bus: Pick<Bus, 'publish'>;
  /** Every kind of job of the program. */
  definitions: readonly JobDefinition[];
}

const NAME = /^[a-z][a-z0-9]*(\.[a-z][a-z0-9]*(-[a-z0-9]+)*)+$/;

/**
 * The registry of jobs, and the way into the queue.
 *
 * @throws {Error} when two definitions share a name, or one is malformed.
 */
export function createJobQueue({ bus, definitions }: Deps): Jobs {
  const known = new Map(definitions.map((job) => [job.name, { job, refuse: payloadCheck(job) }]));
  if (known.size !== definitions.length) {
    const names = definitions.map((job) => job.name);
    throw new Error(`two jobs are called ${names.find((name, i) => names.indexOf(name) !== i)}`);
  }
  const touched = new WeakSet<Tx>();

  const registered = (job: JobDefinition) => {
    if (known.get(job.name)?.job !== job) throw new Error(`the job ${job.name} is not in the registry`);
    return job;
  };
  const refuse = (name: string, payload: unknown) => {
    const entry = known.get(name);
    return entry === undefined ? 'it is not in the registry' : entry.refuse(payload);
  };

  return {
    registered,
    refuse,
    async enqueue(tx, job, payload, options = {}) {
      registered(job);
      const reason = refuse(job.name, payload);
      if (reason !== null) throw new Error(`a job ${job.name} was refused: ${reason}`);
      const { priority = 0, group = null, key = newUuid(), delaySec = 0 } = options;
      await store.insert(tx, {
        queue: job.name,
        payload: { ...Object(payload) },
        priority,
        group,
        key,
        delaySec,
        retries: job.retrySec.length,
      });
      if (delaySec === 0) touched.add(tx);
    },
    async cancel(tx, job, key) {
      registered(job);
      if (await store.cancel(tx, job.name, key)) touched.add(tx);
    },
    committed(tx) {
      if (touched.has(tx)) bus.publish(JOBS_TOPIC);
    },
  };
}

function payloadCheck({ name, payload, retrySec }: JobDefinition): (value: unknown) => string | null {
  if (!NAME.test(name)) throw new Error(`"${name}" is no name of a job`);
  if (retrySec.some((pause) => !(pause >= 0))) throw new Error(`a pause of the job ${name} is negative`);
  if (Reflect.get(payload, 'type') !== 'object')
    throw new Error(`the payload of the job ${name} is no object`);
  const shape = shapeOf(payload);
  return (value) => {
    const fault = shape.fault(value);
    return fault === null ? null : `payload${fault}`;
  };
}
