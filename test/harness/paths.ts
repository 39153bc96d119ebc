import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** Cluster of the tests' database server. */
export const SERVER_FOLDER = join(ROOT, '.cache/test-postgres');

/** Where it answers. In the system's temporary folder, as a socket's path has at most 107 bytes. */
export const SERVER_SOCKET = join(
  tmpdir(),
  `marquee-test-${createHash('sha256').update(ROOT).digest('hex').slice(0, 12)}.sock`,
);
