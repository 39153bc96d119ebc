import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../platform/config.ts';
import { readCertificate } from './certificate.ts';

/** What a process of ours that lost its parent may need to let go of its port. */
const PATIENCE_MS = 2000;
const PAUSE_MS = 100;

/**
 * Finds out that a port is in use, or the certificate of one unusable, before seconds went into a database and
 * processes that would only be ended again.
 *
 * @throws the listener's error (EADDRINUSE, EACCES). @throws {ConfigError} of the certificate.
 */
export async function requireFreePorts(config: Config): Promise<void> {
  const { ROLES, HOST, PORT, RTMP_PORT, RTMPS_PORT, MEDIA_HOST, MEDIA_PORT } = config;
  if (ROLES.includes('api')) await requireFree(PORT, HOST);
  if (!ROLES.includes('media')) return;
  await requireFree(RTMP_PORT, HOST);
  await requireFree(MEDIA_PORT, MEDIA_HOST);
  if ((await readCertificate(config)) !== null) await requireFree(RTMPS_PORT, HOST);
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
