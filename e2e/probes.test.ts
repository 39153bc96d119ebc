import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { freePort, type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { childrenOf, singleItem } from '../test/harness/processes.ts';
import { waitFor } from '../test/harness/wait-for.ts';

/** Probes of a node without the API role. */

let platform: RunningPlatform;
after(() => platform?.stop());

test('a media node reports on its metrics port whether its media process runs', async () => {
  const metricsPort = await freePort();
  platform = await startPlatform({ environment: { ROLES: 'media', METRICS_PORT: String(metricsPort) } });
  const probe = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${metricsPort}${path}`);
    return { status: response.status, body: await response.json() };
  };
  assert.deepEqual(await probe('/healthz'), { status: 200, body: { status: 'OK' } });
  assert.deepEqual(await probe('/readyz'), { status: 200, body: { status: 'OK' } });
  process.kill(singleItem(childrenOf(platform.process.pid ?? -1, '/media.')), 'SIGKILL');
  await waitFor(async () => (await probe('/readyz')).status === 503, { intervalMs: 1 });
  await waitFor(async () => (await probe('/readyz')).status === 200);
});
