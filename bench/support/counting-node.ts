import { startApi } from '../../src/main/api.ts';
import { createContainer } from '../../src/main/container.ts';
import { loadConfig } from '../../src/platform/config.ts';
import { counterFactory } from '../../src/platform/counters.ts';

/** Node whose counts are stored in the database, only in memory, or in the parent. It sends its port to the parent. */
const [databaseUrl = '', dataDir = '', counts] = process.argv.slice(2);
const config = loadConfig({ PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'silent' });
const container = await createContainer({
  ...{ config, databaseUrl, secretKey: Buffer.alloc(32), name: 'bench' },
  ...(counts === 'tree' ? { parent: process } : {}),
});
const inMemory = counterFactory(null, () => container.clock.ms());
const requestCounts = {
  perMinute: inMemory({ name: 'minute', window: 60, withoutStore: 'open' }),
  perDay: inMemory({ name: 'day', window: 'day', withoutStore: 'open' }),
};
const { app } = await startApi(counts === 'memory' ? { ...container, requestCounts } : container, () => true);
const address = app.server.address();
process.send?.(typeof address === 'object' ? address?.port : null);
process.on('disconnect', () => process.exit(0));
