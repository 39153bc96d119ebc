import type { Server } from 'node:net';

/**
 * Listens on an address, or adopts a socket that already listens on it.
 *
 * @param handle accepted by `server.listen(handle)`.
 * @returns the bound port (for port 0 the assigned one). @throws the listener's own error, plain.
 */
export async function listen(
  server: Server,
  address: { host: string; port: number },
  handle?: unknown,
): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(handle ?? address, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const bound = server.address();
  return typeof bound === 'object' && bound !== null ? bound.port : address.port;
}

/** Stops listening and waits for open connections to end; fine for a server that never listened. */
export function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
