import type { Bus } from '../platform/bus.ts';
import type { Tx } from '../platform/db/index.ts';
import { compileSchema } from '../platform/schema-validator.ts';
import type { JobDefinition, JobQueue } from './job.ts';
import * as repository from './repository.ts';

/** The topic that wakes the job workers. */
export const JOBS_TOPIC = 'jobs';

export interface Jobs extends JobQueue {
  /** Names of all registered jobs. */
  readonly names: readonly string[];
  /** Wakes the workers if the committed transaction added or canceled a job. */
  committed(tx: Tx): void;
  /** Validates the name and payload. Returns a message, or null when both are valid. */
  validate(name: string, payload: unknown): string | null;
  /** Returns the definition. @throws {Error} when it is not registered, or another one has its name. */
  registered(job: JobDefinition): JobDefinition;
}

interface Deps {
  bus: Pick<Bus, 'publish'>;
  /** Every job of the program. */
  definitions: readonly JobDefinition[];
}

const NAME = /^[a-z][a-z0-9]*(\.[a-z][a-z0-9]*(-[a-z0-9]+)*)+$/;

/**
 * Creates the registry of jobs and the queue.
 *
 * @throws {Error} when two definitions share a name, or one is malformed.
 */
export function createJobQueue({ bus, definitions }: Deps): Jobs {
  const names = definitions.map(({ name }) => name);
  const duplicate = names.find((name, i) => names.indexOf(name) !== i);
  if (duplicate !== undefined) throw new Error(`two jobs are named ${duplicate}`);
  const registry = new Map(definitions.map((job) => [job.name, { job, validate: payloadCheck(job) }]));
  const touched = new WeakSet<Tx>();

  const registered = (job: JobDefinition) => {
    if (registry.get(job.name)?.job !== job) throw new Error(`the job ${job.name} is not in the registry`);
    return job;
  };
  const validate = (name: string, payload: unknown) => {
    const entry = registry.get(name);
    return entry === undefined ? 'the job is not in the registry' : entry.validate(payload);
  };

  return {
    names,
    registered,
    validate,
    async enqueue(tx, job, payload, options = {}) {
      registered(job);
      const fault = validate(job.name, payload);
      if (fault !== null) throw new Error(`the job ${job.name} was rejected: ${fault}`);
      const { priority = 0, group = '', key = null, delaySec = 0 } = options;
      const content = { ...Object(payload) };
      await repository.insert(tx, { queue: job.name, payload: content, priority, group, key, delaySec });
      if (delaySec === 0) touched.add(tx);
    },
    async cancel(tx, job, key) {
      registered(job);
      if (await repository.cancel(tx, job.name, key)) touched.add(tx);
    },
    committed(tx) {
      if (touched.has(tx)) bus.publish(JOBS_TOPIC);
    },
  };
}

function payloadCheck({ name, payload, retrySec }: JobDefinition): (value: unknown) => string | null {
  if (!NAME.test(name)) throw new Error(`"${name}" is not a valid job name`);
  if (retrySec.some((pause) => !(pause >= 0))) throw new Error(`a pause of the job ${name} is negative`);
  if (Reflect.get(payload, 'type') !== 'object')
    throw new Error(`the payload of the job ${name} is not an object`);
  const shape = compileSchema(payload);
  return (value) => {
    const fault = shape.firstError(value);
    return fault === null ? null : `payload${fault}`;
  };
}
