import { AccessToken, type ParticipantInfo, RoomServiceClient } from 'livekit-server-sdk';
import type { RoomPermissions } from '../engine.ts';
import { attributesOf, livekitPermissions, nameOf, type ParticipantConnection } from './identities.ts';

export interface LivekitServer {
  /** Origin with the scheme `ws:` or `wss:`. */
  url: string;
  apiKey: string;
  apiSecret: string;
}

/** Token lifetime; a browser requests a new one for each connection. */
const TOKEN_SEC = 60;
const CALL_SEC = 5;
const LOOK_SEC = 3;
/** Time after which LiveKit deletes an empty room; it is created again for the next participant. */
const EMPTY_SEC = 300;
const LEFT_SEC = 60;
/** Attempts while a participant who has just joined cannot be addressed yet. */
const TRIES = 4;
const AGAIN_MS = 250;

/** Client of a LiveKit server's API. Calls for a missing participant or room succeed. */
export class LivekitApi {
  readonly #server: LivekitServer;
  readonly #rooms: RoomServiceClient;
  readonly #looks: RoomServiceClient;

  constructor(server: LivekitServer) {
    this.#server = server;
    const open = (requestTimeout: number) =>
      new RoomServiceClient(server.url, server.apiKey, server.apiSecret, { requestTimeout, failover: false });
    this.#rooms = open(CALL_SEC);
    this.#looks = open(LOOK_SEC);
  }

  /** Checks the server. @returns an error message; null when it works. */
  async lack(): Promise<string | null> {
    try {
      // A missing room, so that the response is short.
      await this.#looks.listRooms(['-']);
      return null;
    } catch (error) {
      const status = statusOf(error);
      if (status === null) return 'cannot be reached';
      return status === 401 ? 'rejected LIVEKIT_API_KEY and LIVEKIT_API_SECRET' : `returned status ${status}`;
    }
  }

  /** Creates a room; an existing one is unchanged. */
  async createRoom(name: string): Promise<void> {
    // The server has no participant limit: it is checked before a token is issued.
    await this.#rooms.createRoom({ name, emptyTimeout: EMPTY_SEC, departureTimeout: LEFT_SEC });
  }

  async deleteRoom(name: string): Promise<void> {
    await accept(this.#rooms.deleteRoom(name));
  }

  async list(room: string): Promise<ParticipantInfo[]> {
    return (await accept(this.#rooms.listParticipants(room))) ?? [];
  }

  async find(room: string, identity: string): Promise<ParticipantInfo | null> {
    return accept(this.#rooms.getParticipant(room, nameOf(identity)));
  }

  /** @param revokeSec invalidates tokens issued before, if the server supports it; epoch seconds. */
  async remove(room: string, identity: string, revokeSec: number | null): Promise<void> {
    const options = revokeSec === null ? {} : { revokeTokenTs: BigInt(revokeSec) };
    await accept(again(() => this.#rooms.removeParticipant(room, nameOf(identity), options)));
  }

  async update(room: string, who: ParticipantConnection, permissions: RoomPermissions): Promise<void> {
    const change = { permission: livekitPermissions(permissions, who.muted), attributes: attributesOf(who) };
    await accept(again(() => this.#rooms.updateParticipant(room, nameOf(who.identity), change)));
  }

  /** Issues a token for one browser; it replaces any other connection of that identity. */
  token(room: string, who: ParticipantConnection, permissions: RoomPermissions): Promise<string> {
    const { apiKey, apiSecret } = this.#server;
    const options = { identity: nameOf(who.identity), ttl: TOKEN_SEC, attributes: attributesOf(who) };
    const token = new AccessToken(apiKey, apiSecret, options);
    token.addGrant({ roomJoin: true, room, ...livekitPermissions(permissions, who.muted) });
    return token.toJwt();
  }
}

const NOT_FOUND = 404;
const UNAVAILABLE = 503;

/** Returns the status of LiveKit's response; null when there was none. */
function statusOf(error: unknown): number | null {
  const status = error instanceof Error && 'status' in error ? error.status : null;
  return typeof status === 'number' ? status : null;
}

async function accept<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (statusOf(error) === NOT_FOUND) return null;
    throw error;
  }
}

async function again<T>(call: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await call();
    } catch (error) {
      if (tried === TRIES || statusOf(error) !== UNAVAILABLE) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}
