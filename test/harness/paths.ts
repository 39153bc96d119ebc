import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** Name unique to this checkout. */
const NAME = `marquee-test-${createHash('sha256').update(ROOT).digest('hex').slice(0, 12)}`;

/** Cluster of the tests' database server. */
export const SERVER_FOLDER = join(ROOT, '.cache/test-postgres');

/** Folder in memory (tmpfs) while the server runs: cloning a database takes a tenth of the processor time. */
export const SERVER_MEMORY = join('/dev/shm', NAME);

/**
 * Socket of the server. It is in the system's temporary folder because a socket path is limited to 107 bytes.
 */
export const SERVER_SOCKET = join(tmpdir(), `${NAME}.sock`);
