import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../platform/config.ts';

/** What a process of ours that lost its parent may need to let go of its port. */
const PATIENCE_MS = 2000;
const PAUSE_MS = 100;

/**
 * Finds out that a port is in use before seconds went into a database and processes that would only be ended again.
 *
 * @throws the listener's error (EADDRINUSE, EACCES).
 */
export async function requireFreePorts(config: Config): Promise<void> {
  const { ROLES, HOST, PORT, RTMP_PORT } = config;
  const ports = [...(ROLES.includes('api') ? [PORT] : []), ...(ROLES.includes('media') ? [RTMP_PORT] : [])];
  for (const port of ports) await requireFree(port, HOST);
}

async function requireFree(port: number, host: string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const server = createServer();
    try {
      server.listen({ port, host });
      await once(server, 'listening');
      server.close();
      await once(server, 'close');
      return;
    } catch (error) {
      if (performance.now() >= deadline) throw error;
    }
    await sleep(PAUSE_MS);
  }
}
