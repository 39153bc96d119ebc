import { createServer, type IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import type { FileReply, LiveFiles } from '../../src/media/contract/index.ts';

/** The live routes on a bare Node server, without any gate. */
export async function startPlaybackServer(
  playback: LiveFiles,
): Promise<{ url: string; requests: string[]; close(): Promise<void> }> {
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    requests.push(request.url ?? '');
    const reply = await route(playback, request);
    response.writeHead(reply.status, reply.headers);
    if (reply.body === null || typeof reply.body === 'string' || Buffer.isBuffer(reply.body)) {
      response.end(reply.body);
    } else if (response.destroyed) {
      reply.body.destroy();
    } else {
      pipeline(reply.body, response, () => {});
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function route(playback: LiveFiles, request: IncomingMessage): Promise<FileReply> {
  const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
  const { range, 'if-none-match': ifNoneMatch } = request.headers;
  const common = { method, range, ifNoneMatch } as const;
  const path = (request.url ?? '').split('?')[0] ?? '';
  const parts = path.split('/').slice(1);
  const [live, streamId = '', first = '', second = '', file = ''] = parts;
  if (live !== 'live') return Promise.resolve(playback.notFound());
  if (parts.length === 3 && first === 'master.m3u8') return playback.readMaster({ ...common, streamId });
  if (parts.length === 4 && second === 'index.m3u8') {
    return playback.readMediaPlaylist({ ...common, streamId, rung: first, waitMs: 5000 });
  }
  return playback.openSegment({ ...common, streamId, epoch: first, rung: second, file });
}
