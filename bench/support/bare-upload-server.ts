/** Baseline of uploads without the platform: bodies are written to a file, which is synced at the end. */
import { createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

const [folder = '.'] = process.argv.slice(2);
let count = 0;
const server = createServer((request, response) => {
  const path = join(folder, `bare-${count++}`);
  const store = async () => {
    await pipeline(request, createWriteStream(path));
    const file = await open(path, 'r+');
    await file.sync().finally(() => file.close());
    response.writeHead(204).end();
  };
  store().catch(() => response.destroy());
});
server.requestTimeout = 0;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.(typeof address === 'object' && address !== null ? address.port : 0);
});
process.on('disconnect', () => process.exit(0));
