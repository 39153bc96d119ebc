/**
 * Node on the database of a test, in a process that the test kills. It sends its port to the parent. With `tree` it
 * counts in the parent.
 */
import { startApi } from '../../src/main/api.ts';
import { createContainer } from '../../src/main/container.ts';
import { loadConfig } from '../../src/platform/config.ts';
import { SECRET_KEY } from './app.ts';
import { TestClock } from './clock.ts';

const [databaseUrl = '', dataDir = '', redisUrl = '', clockMs, shape] = process.argv.slice(2);
const config = loadConfig({
  PORT: '0',
  DATA_DIR: dataDir,
  LOG_LEVEL: 'silent',
  TRUST_PROXY: 'true',
  REDIS_URL: redisUrl || undefined,
});
const settings = { config, databaseUrl, secretKey: SECRET_KEY, name: 'node' };
const container = await createContainer({
  ...settings,
  ...(clockMs === undefined ? {} : { clock: new TestClock(Number(clockMs)) }),
  ...(shape === 'tree' ? { parent: process } : {}),
});
const { app } = await startApi(container, () => true);
const address = app.server.address();
process.send?.(typeof address === 'object' ? address?.port : null);
process.on('disconnect', () => process.exit(0));
