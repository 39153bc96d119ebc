import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** Of this checkout. */
const NAME = `marquee-test-${createHash('sha256').update(ROOT).digest('hex').slice(0, 12)}`;

/** Cluster of the tests' database server. */
export const SERVER_FOLDER = join(ROOT, '.cache/test-postgres');

/** The same in memory (tmpfs), while the server runs: a database is cloned in a tenth of the processor time. */
export const SERVER_MEMORY = join('/dev/shm', NAME);

/** Where it answers. In the system's temporary folder, as a socket's path has at most 107 bytes. */
export const SERVER_SOCKET = join(tmpdir(), `${NAME}.sock`);
