import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

const STEP_MS = 25;

/**
 * Stops listening, lets requests in flight finish, and then closes the remaining connections: those opened
 * and never used would otherwise keep the server running until they time out.
 *
 * @returns the function that drains; call it once.
 */
export function createDrain(app: FastifyInstance, patienceMs: number): () => Promise<void> {
  let underWay = 0;
  app.server.on('request', (_request, response) => {
    underWay += 1;
    response.once('close', () => {
      underWay -= 1;
    });
  });
  return async () => {
    const closed = app.close();
    const deadline = performance.now() + patienceMs;
    while (underWay > 0 && performance.now() < deadline) await sleep(STEP_MS);
    app.server.closeAllConnections();
    await closed;
  };
}
