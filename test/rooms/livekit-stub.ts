import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AccessToken } from 'livekit-server-sdk';

export interface StubPerson {
  identity: string;
  attributes?: Record<string, string>;
  tracks?: { sid: string; type: 'AUDIO' | 'VIDEO'; source: string; muted?: boolean }[];
  permission?: object;
}

/** Stub of a LiveKit server for the platform: it records the calls, and tracks who is in which room. */
export interface LivekitStub {
  env: { LIVEKIT_URL: string; LIVEKIT_API_KEY: string; LIVEKIT_API_SECRET: string };
  /** Calls received, as `<method> <room> <identity>`. */
  calls: string[];
  /** Number of participant list requests, by room. */
  looks: Map<string, number>;
  /** Returns the body of the newest call with this prefix. */
  said(call: string): Record<string, unknown> | undefined;
  people: Map<string, StubPerson[]>;
  /** It breaks every connection off. */
  isDown: boolean;
  /** A message to the platform, and its signature. */
  message(event: object, secret?: string): Promise<{ body: string; authorization: string }>;
  close(): void;
}

const KEY = 'APIstub';
const SECRET = 'a secret of thirty-two characters';

export async function startLivekitStub(): Promise<LivekitStub> {
  const bodies = new Map<string, Record<string, unknown>>();
  const server = createServer(async (request, response) => {
    if (stub.isDown) return void request.socket.destroy();
    const method = /RoomService\/(\w+)$/.exec(request.url ?? '')?.[1] ?? '';
    const said = Object(JSON.parse(Buffer.concat(await request.toArray()).toString()));
    const { room = said.name ?? '', identity = '' } = said;
    const call = `${method} ${room} ${identity}`.trim();
    if (!/^List/.test(method)) stub.calls.push(call);
    bodies.set(call, said);
    const answer = answerOf(stub.people, method, { room, identity });
    if (method === 'ListParticipants') stub.looks.set(room, (stub.looks.get(room) ?? 0) + 1);
    response.writeHead(answer === null ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? { code: 'not_found', msg: 'participant does not exist' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const stub: LivekitStub = {
    env: { LIVEKIT_URL: `ws://127.0.0.1:${port}`, LIVEKIT_API_KEY: KEY, LIVEKIT_API_SECRET: SECRET },
    calls: [],
    looks: new Map(),
    said: (call) => bodies.get(call),
    people: new Map(),
    isDown: false,
    async message(event, secret = SECRET) {
      const body = JSON.stringify(event);
      const token = new AccessToken(KEY, secret, { ttl: 300 });
      const digest = await crypto.subtle.digest('SHA-256', Buffer.from(body));
      token.sha256 = Buffer.from(digest).toString('base64');
      return { body, authorization: await token.toJwt() };
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return stub;
}

/** Returns the response in the JSON of Twirp; null if there is none. */
function answerOf(
  rooms: LivekitStub['people'],
  method: string,
  { room, identity }: { room: string; identity: string },
): object | null {
  const people = rooms.get(room) ?? [];
  const person = people.find((one) => one.identity === identity);
  switch (method) {
    case 'ListRooms':
      return { rooms: [] };
    case 'CreateRoom':
      return { name: room };
    case 'ListParticipants':
      return { participants: people };
    case 'GetParticipant':
    case 'UpdateParticipant':
      return person ?? null;
    case 'RemoveParticipant':
      rooms.set(
        room,
        people.filter((one) => one !== person),
      );
      return person === undefined ? null : {};
    case 'DeleteRoom':
      return rooms.delete(room) ? {} : null;
    default:
      return null;
  }
}
