import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type WebSocket, WebSocketServer } from 'ws';
import { writeLink } from '../../src/media/rooms/janus/link-file.ts';

/** Stub of Janus for the platform: it accepts every request, and emits the peer events of the test. */
export interface JanusStub {
  linkFile: string;
  /** Requests received, in order. */
  asked: Record<string, unknown>[];
  /** The connection of the client is there. */
  peerIsUp(): void;
}

/** @param answers additional response data, by the name of the request. */
export async function startJanusStub(
  t: TestContext,
  answers: Readonly<Record<string, object>> = {},
): Promise<JanusStub> {
  const asked: Record<string, unknown>[] = [];
  const sockets: WebSocket[] = [];
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  server.on('connection', (socket) => {
    sockets.push(socket);
    socket.on('message', (text) => {
      const { janus, transaction, body, jsep } = Object(JSON.parse(String(text)));
      if (janus !== 'message') {
        socket.send(JSON.stringify({ janus: 'success', transaction, data: { id: 1 } }));
        return;
      }
      asked.push(body);
      const plugindata = { data: answers[body.request] ?? {} };
      const answer = jsep === undefined ? {} : { jsep: { type: 'answer', sdp: 'v=0\r\n' } };
      socket.send(JSON.stringify({ janus: 'event', sender: 1, transaction, plugindata, ...answer }));
    });
  });
  await once(server, 'listening');
  const folder = await mkdtemp(join(tmpdir(), 'marquee-janus-'));
  t.after(async () => {
    for (const socket of sockets) socket.terminate();
    server.close();
    await rm(folder, { recursive: true });
  });
  const linkFile = join(folder, 'janus.json');
  const { port } = server.address() as AddressInfo;
  await writeLink(linkFile, { port, secret: 's', adminKey: 'a', folder, pid: process.pid });
  return {
    ...{ linkFile, asked },
    peerIsUp() {
      for (const socket of sockets) socket.send(JSON.stringify({ janus: 'webrtcup', sender: 1 }));
    },
  };
}
