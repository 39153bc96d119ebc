import { type ChildProcess, fork, type SendHandle } from 'node:child_process';
import type { ChildChannel } from '../../platform/count-server.ts';
import type { MetricsSource, ProcessMetrics } from '../../platform/metrics-gathering.ts';
import { programFile } from '../../platform/root.ts';
import type { ProcessOrder, ProcessReply } from './messages.ts';

export type { SendHandle } from 'node:child_process';

const ENTRY = programFile('src/main/processes/role');

/** A running process of the tree. */
export interface RoleProcess extends MetricsSource {
  /** Resolves when it runs its role; rejects when it ends before. */
  readonly ready: Promise<void>;
  /** Resolves with the cause when it has ended. */
  readonly ended: Promise<string>;
  /** Its channel, for counts. */
  readonly channel: ChildChannel;
  isReady(): boolean;
  send(order: ProcessOrder, handle?: SendHandle): void;
  /** Lets it finish its work. Resolves when it has ended. */
  stop(how: 'terminate' | 'retire'): Promise<void>;
}

interface RoleProcessOptions {
  name: string;
  /** Time to stop; a process that has not ended by then is killed. */
  stopMs: number;
  onReply(reply: ProcessReply, handle: SendHandle): void;
}

/** Starts a process of the tree. It loads its code and waits for its `init`. */
export function startRoleProcess({ name, stopMs, onReply }: RoleProcessOptions): RoleProcess {
  const child = fork(ENTRY, [name], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: process.execArgv,
  });
  let refresh = Promise.withResolvers<void>();
  let metrics: ProcessMetrics = [];
  const ready = Promise.withResolvers<void>();
  ready.promise.catch(() => {});
  let isReady = false;
  const ended = new Promise<string>((resolve) => {
    child.on('error', (error) => {
      // Other errors are failed signals and messages.
      if (child.pid === undefined) resolve(error.message);
    });
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  void ended.then((cause) => {
    isReady = false;
    ready.reject(new Error(`${name} ended: ${cause}`));
    refresh.resolve();
  });
  child.on('message', (reply: ProcessReply, handle: SendHandle) => {
    if (reply.type === 'metrics') {
      metrics = reply.metrics;
      refresh.resolve();
      refresh = Promise.withResolvers();
      return;
    }
    if (reply.type === 'ready') {
      isReady = true;
      ready.resolve();
    }
    onReply(reply, handle);
  });
  const send = (order: ProcessOrder, handle?: SendHandle) => {
    if (child.connected) child.send(order, handle, () => {});
  };
  return {
    name,
    ready: ready.promise,
    ended,
    channel: child,
    isReady: () => isReady,
    send,
    refresh() {
      send({ type: 'metrics' });
      return refresh.promise;
    },
    last: () => metrics,
    async stop(how) {
      isReady = false;
      if (how === 'retire') send({ type: 'retire' });
      else child.kill('SIGTERM');
      await endedInTime(child, ended, stopMs);
    },
  };
}

async function endedInTime(child: ChildProcess, ended: Promise<unknown>, stopMs: number): Promise<void> {
  const kill = setTimeout(() => child.kill('SIGKILL'), stopMs);
  await ended;
  clearTimeout(kill);
}
