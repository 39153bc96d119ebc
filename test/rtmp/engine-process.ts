import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { waitFor } from '../harness/wait-for.ts';

/** Memory of the engine process after a garbage collection. */
export interface EngineMemory {
  /** Includes memory that the allocator has not returned to the system. */
  residentBytes: number;
  /** Referenced objects and buffers. */
  liveBytes: number;
}

export interface EngineProcess {
  port: number;
  memory(): Promise<EngineMemory>;
  /** Loopback ports that serve the started publishes, in order. */
  readPorts: number[];
  alive(): boolean;
}

/** Runs `engine-main.ts`; it ends with the test. Valid keys are those of `ingest.ts`. */
export async function startEngineProcess(t: TestContext): Promise<EngineProcess> {
  const child = fork(new URL('engine-main.ts', import.meta.url), { execArgv: ['--expose-gc'] });
  t.after(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  });
  const ports: number[] = [];
  const measured: EngineMemory[] = [];
  const readPorts: number[] = [];
  child.on('message', (message) => {
    if (typeof message !== 'object' || message === null) return;
    if ('port' in message && typeof message.port === 'number') ports.push(message.port);
    if ('memory' in message) measured.push(Object(message.memory));
    if ('readPort' in message && typeof message.readPort === 'number') readPorts.push(message.readPort);
  });
  const port = await waitFor(() => ports[0], { timeoutMs: 10_000, message: 'the engine process' });
  return {
    port,
    readPorts,
    alive: () => child.exitCode === null && child.signalCode === null,
    memory: async () => {
      const count = measured.length;
      child.send('memory');
      return waitFor(() => measured[count]);
    },
  };
}
