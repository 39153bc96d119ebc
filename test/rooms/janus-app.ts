import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startJanus } from '../../src/media/rooms/janus/process.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { startTestApp, type TestApp } from '../harness/app.ts';
import { waitFor } from '../harness/wait-for.ts';

/** The API in this process, and a Janus that carries its rooms. */
export interface JanusApp {
  app: TestApp;
  /** File with the connection data of Janus. */
  linkFile: string;
  close(): Promise<void>;
}

/** @param firstPort the first of 100 UDP ports that no other test uses. */
export async function startJanusApp(firstPort: number): Promise<JanusApp> {
  const dir = await mkdtemp(join(tmpdir(), 'janus-app-'));
  // Otherwise Janus, which runs as a separate user, would work elsewhere and leave a folder there.
  await chmod(dir, 0o755);
  const linkFile = join(dir, 'janus.json');
  const janus = startJanus({
    ...{ program: 'janus', folder: join(dir, 'janus'), linkFile, publicIp: undefined },
    ports: { first: firstPort, last: firstPort + 99 },
    log: createLogger('silent', { process: 'test' }),
  });
  const app = await startTestApp({
    env: { ROOMS_LINK_FILE: linkFile },
    rooms: { name: 'janus', lack: null },
  });
  const engine = app.container.roomEngine();
  await waitFor(async () => (await engine.health()).ok, { message: 'Janus' });
  return {
    ...{ app, linkFile },
    async close() {
      await app.close();
      await janus.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
