import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import { requestedSubprotocols, webSocketRoute } from '../../http/web-socket.ts';
import { createConcurrencyLimiter } from '../../kernel/cache.ts';
import { ipBlock } from '../../kernel/ip-block.ts';
import { RoomJoinError } from './admission.service.ts';
import { streamsOf } from './bridges.repository.ts';
import type { RoomGatewayDeps } from './gateway-deps.ts';
import { createMessageHandler } from './gateway-handler.ts';
import type { CloseReason } from './gateway-messages.ts';
import { LocalRoom, type LocalRoomPorts } from './local-room.ts';
import { capacityNow, ROOM_TOPIC } from './locked.ts';
import { createNodeHeartbeat } from './node-heartbeat.ts';
import type { ParticipantRow } from './participants.repository.ts';
import * as participants from './participants.repository.ts';
import * as repository from './repository.ts';
import type { RoomGrant } from './tokens.ts';
import { Connection } from './websocket-connection.ts';

const PROTOCOL = 'marquee.room.v1';
/** Maximum size of a message: fits an SDP answer with some hundred people. */
const MAX_MESSAGE_BYTES = 256 * 1024;
const MAX_OPEN = 20_000;
const MAX_PER_ADDRESS = 100;
const MAX_PER_WORKSPACE = 2000;
const STOP_MS = 2000;

type OfRoom = FastifyRequest<{ Params: { roomId: string } }>;

/** Credentials of a client: a token that admits it, a resume token, or the reason why neither is valid. */
interface ClientCredentials {
  grant: RoomGrant | null;
  participantId: string | null;
  refusal: CloseReason;
}

/** `GET /rtc/rooms/:roomId`, the WebSocket that people are in a room by (docs/concepts/rooms.md#the-gateway). */
export function roomGatewayPage(deps: RoomGatewayDeps): (app: FastifyInstance) => void {
  return (app) => {
    const gateway = new RoomGateway(deps);
    webSocketRoute(app, {
      path: '/rtc/rooms/:roomId',
      protocol: PROTOCOL,
      maxPayload: MAX_MESSAGE_BYTES,
      onOpen: (socket, request: OfRoom) => gateway.open(socket, request),
    });
    app.addHook('preClose', () => gateway.stop());
  };
}

class RoomGateway {
  readonly #deps: RoomGatewayDeps;
  readonly #rooms = new Map<string, LocalRoom>();
  readonly #open = new Set<Connection>();
  readonly #addresses = createConcurrencyLimiter({ all: MAX_OPEN, each: MAX_PER_ADDRESS });
  readonly #workspaces = createConcurrencyLimiter({ all: MAX_OPEN, each: MAX_PER_WORKSPACE });
  readonly #onMessage: ReturnType<typeof createMessageHandler>;
  readonly #life: ReturnType<typeof createNodeHeartbeat>;
  #isStopping = false;

  constructor(deps: RoomGatewayDeps) {
    this.#deps = deps;
    this.#onMessage = createMessageHandler(deps, (id) => this.#rooms.get(id));
    this.#life = createNodeHeartbeat(deps, { rooms: this.#rooms, open: this.#open });
    deps.bus.subscribe(ROOM_TOPIC, (roomId) => void this.#rooms.get(roomId)?.refresh());
    deps.engine.onEvent((event) => {
      if (event.type === 'joined') void this.#screen(event.roomId, event);
      else for (const room of this.#rooms.values()) void room.heard(event);
    });
  }

  open(socket: WebSocket, request: OfRoom): void {
    const connection = new Connection(socket, this.#onMessage);
    const leave = this.#addresses.acquire(ipBlock(request.ip));
    if (leave === null || this.#isStopping) {
      leave?.();
      connection.close(this.#isStopping ? 'STOPPING' : 'TOO_MANY');
      return;
    }
    this.#open.add(connection);
    // Its messages wait until it is admitted.
    const entering = this.#enter(connection, request).catch((error: unknown) => {
      this.#deps.log.error(
        { err: error, roomId: request.params.roomId },
        'a participant could not join a room',
      );
      connection.close('FAILED');
    });
    connection.enqueue(() => entering);
    void connection.over.then(async () => {
      leave();
      await entering;
      await this.#closed(connection);
      this.#open.delete(connection);
    });
  }

  /** Closes all connections; the seats stay reserved for people who reconnect to another node. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const all = [...this.#open];
    for (const connection of all) connection.close('STOPPING');
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, STOP_MS);
    });
    await Promise.race([Promise.all(all.map(({ over }) => over)), late]);
    clearTimeout(timer);
    for (const connection of this.#open) connection.drop();
    await this.#life.stop();
  }

  async #enter(connection: Connection, request: OfRoom): Promise<void> {
    const { roomId } = request.params;
    const shown = this.#read(roomId, request);
    if (shown.grant === null && shown.participantId === null) return connection.close(shown.refusal);
    const room = await repository.findOpenRoom(this.#deps.db, roomId);
    if (room === undefined) return connection.close('NO_ROOM');
    const leave = this.#workspaces.acquire(room.workspace_id);
    if (leave === null) return connection.close('TOO_MANY');
    void connection.over.then(leave);
    try {
      await this.#life.begin();
      const row = await this.#seat(roomId, shown, connection);
      const local = this.#rooms.get(roomId) ?? this.#make(roomId);
      local.add(connection, row);
      await local.refresh();
    } catch (error) {
      if (!(error instanceof RoomJoinError)) throw error;
      connection.close(CLOSES[error.reason]);
    }
  }

  #read(roomId: string, request: OfRoom): ClientCredentials {
    const { tokens, isOwnOrigin } = this.#deps;
    const shown: ClientCredentials = { grant: null, participantId: null, refusal: 'BAD_TOKEN' };
    for (const text of requestedSubprotocols(request).filter((name) => name !== PROTOCOL)) {
      shown.participantId ??= tokens.readResume(text, roomId);
      const grant = tokens.read(text, roomId);
      if (grant === 'expired') shown.refusal = 'EXPIRED_TOKEN';
      else if (grant?.isGuest === true && !isOwnOrigin(request.headers)) shown.refusal = 'FOREIGN_PAGE';
      else shown.grant ??= grant;
    }
    return shown;
  }

  async #seat(roomId: string, shown: ClientCredentials, connection: Connection): Promise<ParticipantRow> {
    const { entrance, relay } = this.#deps;
    const id = { connectionId: connection.id, nodeId: relay.nodeId };
    if (shown.participantId !== null) {
      try {
        return await entrance.comeBack(roomId, shown.participantId, id);
      } catch (error) {
        const mayEnter = error instanceof RoomJoinError && error.reason === 'GONE' && shown.grant !== null;
        if (!mayEnter) throw error;
      }
    }
    if (shown.grant === null) throw new RoomJoinError('GONE');
    return entrance.enter(roomId, shown.grant, id);
  }

  /** Handles a closed socket: reserves the seat, or releases it after a `leave` message. */
  async #closed(connection: Connection): Promise<void> {
    const { row } = connection;
    if (row === null) return;
    const room = this.#rooms.get(row.room_id);
    room?.remove(connection);
    try {
      const { entrance } = this.#deps;
      const what = connection.hasLeft ? entrance.leave : entrance.lose;
      await what(row.room_id, row.id, connection.id);
    } catch (error) {
      this.#deps.log.warn({ err: error, roomId: row.room_id }, 'a lost connection could not be stored');
    }
    void room?.refresh();
  }

  /**
   * Removes a participant without a connection here from the engine's room: the engine's tokens outlive seats
   * and mutes.
   */
  async #screen(roomId: string, { ref, identity }: { ref: string; identity: string }): Promise<void> {
    const { db, engine, log } = this.#deps;
    try {
      // The server may also have rooms of other platforms.
      if ((await repository.findAnyRoom(db, roomId)) === undefined) return;
      const row = await participants.findPresent(db, roomId, identity);
      if (row?.state !== 'ACTIVE' || row.disconnected_since !== null)
        await engine.removeParticipant(ref, identity);
    } catch (error) {
      log.warn({ err: error, roomId }, 'the participants of the media server could not be checked');
    }
  }

  #make(roomId: string): LocalRoom {
    const room = new LocalRoom(
      roomId,
      this.#ports(() => this.#rooms.get(roomId) === room),
    );
    this.#rooms.set(roomId, room);
    return room;
  }

  #ports(isCurrent: () => boolean): LocalRoomPorts {
    const { db, engine, relay, log, tokens, engineMax, iceServers, moderation } = this.#deps;
    return {
      engine,
      relay,
      log,
      iceServers,
      read: async (id) => ({
        room: await repository.findAnyRoom(db, id),
        present: await participants.presentIn(db, id),
        isBroadcast: (await streamsOf(db, [id])).has(id),
      }),
      readGone: (id, ids) => participants.participantsByIds(db, id, ids),
      capacity: (room) => capacityNow(db, room, engineMax()),
      resumeToken: (row) => tokens.mintResume(row.room_id, row.id),
      onTracksGone(row, tracks) {
        const has = (kind: string) => tracks.some((track) => track.kind === kind);
        const sending = {
          audio: row.audio && has('AUDIO'),
          video: row.video && has('VIDEO'),
          screen: row.screen && has('SCREEN'),
        };
        const isSame =
          sending.audio === row.audio && sending.video === row.video && sending.screen === row.screen;
        if (!isSame && engine.name !== 'mesh') void moderation.setSending(row, sending);
      },
      onEmpty: (id) => {
        if (isCurrent()) this.#rooms.delete(id);
      },
    };
  }
}

const CLOSES = {
  NO_ROOM: 'NO_ROOM',
  ENDED: 'ENDED',
  BANNED: 'BANNED',
  FULL: 'FULL',
  GONE: 'BAD_TOKEN',
} as const satisfies Record<RoomJoinError['reason'], CloseReason>;
