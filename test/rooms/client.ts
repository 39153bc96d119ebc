import { WebSocket } from 'ws';
import type { TestApp } from '../harness/app.ts';
import { waitFor } from '../harness/wait-for.ts';

type Message = Record<string, unknown> & { type: string };

/** Client of a room, by a WebSocket of the package `ws`. */
export interface RoomClient {
  /** Messages received, in order. */
  messages: Message[];
  /** Close code and reason of the connection. */
  closed: { code: number; reason: string } | null;
  send(message: object): void;
  raw(text: string): void;
  /** The first message of this type that is not older than the last one that was waited for. */
  next(type: string, fits?: (message: Message) => boolean): Promise<Message>;
  /** @returns the close code. */
  end(): Promise<number>;
  /** Stops reading, including the close; it can still send. */
  deafen(): void;
  /** Drops the connection without a close frame. */
  cut(): void;
  close(): Promise<void>;
}

/**
 * Connects without waiting for a message.
 *
 * @param tokens behind the sub-protocol, in this order.
 * @param options.from the client's IP address, as forwarded by a proxy.
 */
export function connectRoom(
  app: Pick<TestApp, 'port'>,
  roomId: string,
  tokens: readonly string[],
  { origin, from }: { origin?: string; from?: string } = {},
): RoomClient {
  const address = `ws://127.0.0.1:${app.port}/rtc/rooms/${roomId}`;
  const socket = new WebSocket(address, ['marquee.room.v1', ...tokens], {
    ...(origin === undefined ? {} : { origin }),
    ...(from === undefined ? {} : { headers: { 'x-forwarded-for': from } }),
  });
  let read = 0;
  const client: RoomClient = {
    messages: [],
    closed: null,
    send: (message) => socket.send(JSON.stringify(message)),
    raw: (text) => socket.send(text),
    async next(type, fits = () => true) {
      const message = () =>
        `${type}; it got ${JSON.stringify(client.messages.slice(-5))} ${JSON.stringify(client.closed)}`;
      return waitFor(
        () => {
          const at = client.messages.findIndex(
            (one, index) => index >= read && one.type === type && fits(one),
          );
          if (at < 0) return null;
          read = at + 1;
          return client.messages[at];
        },
        { message },
      );
    },
    end: async () => (await waitFor(() => client.closed, { message: 'the connection to be closed' })).code,
    deafen: () => socket.pause(),
    cut: () => socket.terminate(),
    async close() {
      socket.close();
      await client.end();
    },
  };
  socket.on('message', (data) => client.messages.push(JSON.parse(String(data))));
  socket.on('close', (code, reason) => {
    client.closed = { code, reason: String(reason) };
  });
  // `close` follows.
  socket.on('error', () => {});
  return client;
}

export async function createRoom(app: TestApp, key: string, body: object = {}): Promise<string> {
  const made = await app.request('POST', '/rooms', { key, body: { name: 'Class', ...body } });
  return made.assertOk(201).string('data.id');
}

export async function mintToken(app: TestApp, key: string, roomId: string, body: object): Promise<string> {
  const made = await app.request('POST', `/rooms/${roomId}/tokens`, { key, body });
  return made.assertOk(201).string('data.token');
}

/** Joins with a new token and waits for the welcome, or for `waiting`. */
export async function joinRoom(
  app: TestApp,
  key: string,
  roomId: string,
  who: { identity: string; name?: string; role?: string; permissions?: object },
  { at = app, until: awaited = 'welcome' }: { at?: TestApp; until?: string } = {},
): Promise<RoomClient & { welcome: Message }> {
  const client = connectRoom(at, roomId, [await mintToken(app, key, roomId, who)]);
  const welcome = await client.next(awaited);
  return Object.assign(client, { welcome });
}
