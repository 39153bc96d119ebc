import { fork } from 'node:child_process';
import { join } from 'node:path';
import { systemClock } from '../../src/kernel/clock.ts';
import { openMachineCounts } from '../../src/main/machine-counts.ts';
import { loadConfig } from '../../src/platform/config.ts';
import { createLogger } from '../../src/platform/logger.ts';

/** First process of a tree with one node, which counts here. It sends the port of the node to the parent. */
const [databaseUrl = '', dataDir = ''] = process.argv.slice(2);
const counts = await openMachineCounts({
  config: loadConfig({ DATA_DIR: dataDir }),
  databaseUrl,
  secretKey: Buffer.alloc(32),
  clock: systemClock,
  log: createLogger('silent'),
});
const node = fork(join(import.meta.dirname, 'counting-node.ts'), [databaseUrl, dataDir, 'tree']);
counts?.attach(node);
node.on('message', (port) => {
  if (typeof port === 'number') process.send?.(port);
});
process.on('disconnect', () => process.exit(0));
