import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../platform/logger.ts';
import type { RoleProcess } from './role-process.ts';

/** Pauses before an ended process is started again. */
const PAUSES_MS = [200, 500, 1000, 2000, 5000];
/** Ends of a process within a minute that end the tree: a restart does not help. */
const MAX_DEATHS = 5;
const DEATHS_MS = 60_000;
/** Time of a replacement to become ready. */
const READY_MS = 60_000;

/** Part of a process that its place needs. */
export type MemberProcess = Pick<RoleProcess, 'name' | 'ready' | 'ended' | 'isReady' | 'stop'>;

/** A place of the tree. Its process is started again when it ends. */
export interface Member {
  readonly name: string;
  /** Resolves when the process of this place is ready for the first time. */
  readonly ready: Promise<void>;
  isReady(): boolean;
  /** Starts another process, and then lets the present one finish. @throws {Error} when the other one fails. */
  replace(): Promise<void>;
  stop(): Promise<void>;
}

interface MemberOptions {
  name: string;
  log: Logger;
  /** Starts a process. The tree knows it until it has ended. */
  start(): MemberProcess;
  onFatal(message: string): void;
}

/** Keeps one process of the tree running. */
export function createMember({ name, log, start, onFatal }: MemberOptions): Member {
  const firstReady = Promise.withResolvers<void>();
  const alive = new Set<MemberProcess>();
  let deathsAtMs: number[] = [];
  let current: MemberProcess;
  let isStopping = false;

  const launch = (): MemberProcess => {
    const process = start();
    alive.add(process);
    void process.ended.then(() => alive.delete(process));
    return process;
  };
  const watch = (process: MemberProcess): void => {
    current = process;
    process.ready.then(firstReady.resolve, () => {});
    void process.ended.then(async (cause) => {
      if (isStopping || process !== current) return;
      const pauseMs = noteDeath(cause);
      if (pauseMs === null) return;
      await sleep(pauseMs);
      if (!isStopping && process === current) watch(launch());
    });
  };
  /** @returns the pause before the next start, or null when there is none. */
  const noteDeath = (cause: string): number | null => {
    const nowMs = performance.now();
    deathsAtMs = [...deathsAtMs.filter((atMs) => atMs > nowMs - DEATHS_MS), nowMs];
    if (deathsAtMs.length >= MAX_DEATHS) {
      onFatal(`${name} ended ${MAX_DEATHS} times within a minute, the last time with ${cause}`);
      return null;
    }
    const pauseMs = PAUSES_MS[deathsAtMs.length - 1] ?? 0;
    log.error({ name, cause, restartInMs: pauseMs }, 'a process ended');
    return pauseMs;
  };
  watch(launch());
  return {
    name,
    ready: firstReady.promise,
    isReady: () => current.isReady(),
    async replace() {
      const next = launch();
      await readyInTime(next).catch(async (error: unknown) => {
        await next.stop('terminate');
        throw error;
      });
      const previous = current;
      watch(next);
      await previous.stop('retire');
    },
    async stop() {
      isStopping = true;
      await Promise.all([...alive].map((process) => process.stop('terminate')));
    },
  };
}

async function readyInTime(process: MemberProcess): Promise<void> {
  const late = sleep(READY_MS, undefined, { ref: false }).then(() => {
    throw new Error(`${process.name} was not ready after ${READY_MS / 1000} s`);
  });
  late.catch(() => {});
  await Promise.race([process.ready, late]);
}
