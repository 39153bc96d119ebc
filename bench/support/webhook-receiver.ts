import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

/**
 * HTTPS receiver in a separate process that responds to all requests with 200. Arguments: files of its key
 * and certificate, and the delay of a response in milliseconds. Sends its port, and on request the number of
 * its requests.
 */
const [keyFile = '', certFile = '', delayMs = '0'] = process.argv.slice(2);
let requests = 0;
const server = createServer(
  { key: readFileSync(keyFile), cert: readFileSync(certFile), keepAliveTimeout: 60_000 },
  (request, response) => {
    request.resume();
    request.on('end', () => {
      requests++;
      if (delayMs === '0') response.end();
      else setTimeout(() => response.end(), Number(delayMs));
    });
  },
);
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.(address !== null && typeof address === 'object' ? address.port : 0);
});
process.on('message', () => process.send?.(requests));
process.on('disconnect', () => process.exit(0));
