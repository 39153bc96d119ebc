import { createServer, type ServerResponse } from 'node:http';

/** The baseline: event streams on Node's plain HTTP server. A line on its input is sent to all. */
const open = new Set<ServerResponse>();
const server = createServer((_request, response) => {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store',
  });
  response.write('retry: 3000\n\n');
  open.add(response);
  response.on('close', () => open.delete(response));
});
process.on('message', (text) => {
  for (const response of open) response.write(`event: message\ndata: ${text}\n\n`);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) process.send?.(address.port);
});
