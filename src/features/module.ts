import type { FastifyInstance } from 'fastify';
import type { EventDefinition } from '../events/catalogue.ts';
import type { EventConsumer } from '../events/index.ts';
import type { WebAssets } from '../http/assets.ts';
import type { Route } from '../http/route.ts';
import type { JobDefinition, JobWorker } from '../jobs/job.ts';
import type { ScheduledTask } from '../jobs/schedule.ts';
import { HOUR_MS, MINUTE_MS } from '../kernel/durations.ts';
import type { CommandDefinition, CommandRunner } from './commands.ts';

/** Intervals of periodic tasks. */
export const INTERVALS = { second: 1000, minute: MINUTE_MS, hour: HOUR_MS } as const;

/**
 * Declarations of a feature (`…Declarations` of its `module.ts`), read before it is created, so that the event
 * catalog, the queue and the command line are complete from the start.
 */
export interface Declarations {
  /** Events that the feature appends. */
  events?: readonly EventDefinition[];
  /** Jobs that the feature enqueues. */
  jobs?: readonly JobDefinition[];
  /** Commands of the feature on the operator's command line. */
  commands?: readonly CommandDefinition[];
}

/**
 * A feature as the roles see it. `create…Module(deps)` of a feature's `module.ts` returns it, together with the
 * services that other features need. Each role uses its own members; those that are expensive to build or have
 * effects are functions, called once by the role that needs them.
 */
export interface FeatureModule {
  /** api: endpoints below the base URL. */
  routes?(role: ApiRole): Route[];
  /** api: pages and files outside the base URL; each registers its own Fastify routes. */
  pages?(role: PageRole): Page[] | Promise<Page[]>;
  /** worker: handlers of its jobs. */
  jobs?(): JobWorker[];
  /** Periodic tasks of the worker. */
  tasks?(): ScheduledTask[];
  /** The command line: handlers of its commands. */
  commands?(): CommandRunner[];
  /** All: run in the transactions that append events. */
  consumers?: readonly EventConsumer[];
  /** Services that run as long as their role. */
  services?: { api?(): Service; worker?(): Service };
  /**
   * Called before a role starts, on the embedded database only: no other process uses DATA_DIR then, so work that the
   * previous process left unfinished can be released.
   */
  recover?: { api?(): Promise<void>; worker?(): Promise<void> };
  /** The first process: called when the database is migrated, before its first account is created. */
  onMigrated?(): Promise<void>;
  /** All: called at the end, before the ports are closed. */
  close?(): Promise<void> | void;
}

/** Information that only the API role has. */
export interface ApiRole {
  /** Reports whether the media process runs, or this node has none. */
  mediaRuns(): boolean;
}

export interface PageRole extends ApiRole {
  assets: WebAssets;
}

export type Page = (app: FastifyInstance) => void;

/** Background service, which runs from its creation. */
export interface Service {
  /** Called at the same time as `stop` of the other services. */
  stop?(): Promise<void>;
  /** Called when all services of the role have stopped. */
  dispose?(): Promise<void>;
}
