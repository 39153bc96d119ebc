/** Process that runs Janus in the folder of its argument until it is killed. */
import { join } from 'node:path';
import { startJanus } from '../../src/media/rooms/janus/process.ts';
import { createLogger } from '../../src/platform/logger.ts';

const folder = process.argv[2] ?? '';
startJanus({
  program: 'janus',
  folder: join(folder, 'janus'),
  linkFile: join(folder, 'janus.json'),
  ports: { first: 21_200, last: 21_299 },
  publicIp: undefined,
  log: createLogger('silent', { process: 'test' }),
});
