import { JanusClient, JanusError, type JanusHandle } from '../janus/client.ts';
import { type JanusLink, readLink } from '../janus/link-file.ts';
import { ROOM_EXISTS, roomRequest } from '../janus/room-request.ts';
import { MirroredRoom, type MirrorSource } from './mirrored-room.ts';

export interface MirrorOptions extends MirrorSource {
  /** File with the connection data of Janus. */
  linkFile: string;
}

/** Mirror of LiveKit rooms in the local Janus: published media is relayed into a room of the same name. */
export interface RoomMirror {
  /** Mirrors exactly these rooms. Resolves when the rooms exist; media follows later. */
  show(rooms: ReadonlySet<string>): Promise<void>;
  stop(): Promise<void>;
}

/** Maximum tracks in a room. */
const MOST = 2000;
const SILENT = { onEvent() {}, onTrickle() {}, onPeer() {}, onDetached() {} };

/** @returns a mirror without rooms yet (docs/decisions/room-recordings.md#livekit). */
export function createLivekitMirror(options: MirrorOptions): RoomMirror {
  return new Mirror(options);
}

interface Session {
  client: JanusClient;
  link: JanusLink;
  desk: JanusHandle;
}

class Mirror implements RoomMirror {
  readonly #options: MirrorOptions;
  readonly #rooms = new Map<string, MirroredRoom>();
  #session: Session | null = null;

  constructor(options: MirrorOptions) {
    this.#options = options;
  }

  async show(rooms: ReadonlySet<string>): Promise<void> {
    for (const [id, room] of this.#rooms) if (!rooms.has(id)) await this.#drop(id, room);
    if (rooms.size === 0) return;
    const session = await this.#reach();
    if (session === null) return;
    for (const id of rooms) await this.#keep(session, id);
  }

  async stop(): Promise<void> {
    for (const [id, room] of this.#rooms) await this.#drop(id, room);
    this.#session?.client.close();
    this.#session = null;
  }

  async #keep({ client, link, desk }: Session, id: string): Promise<void> {
    const known = this.#rooms.get(id);
    if (known !== undefined) return known.look();
    await accept(ROOM_EXISTS, desk.send(roomRequest(link, id, MOST)));
    const room = new MirroredRoom({ ...this.#options, client, id });
    this.#rooms.set(id, room);
    room.look();
  }

  async #drop(id: string, room: MirroredRoom): Promise<void> {
    this.#rooms.delete(id);
    await room.close();
    // The room may be gone together with its Janus.
    await this.#session?.desk.send({ request: 'destroy', room: id }).catch(() => {});
  }

  async #reach(): Promise<Session | null> {
    if (this.#session !== null) return this.#session;
    const { linkFile, log } = this.#options;
    const link = await readLink(linkFile);
    if (link === null) return null;
    try {
      const client = await JanusClient.connect(link);
      this.#session = { client, link, desk: await client.attach(SILENT) };
      client.onClose(() => {
        this.#session = null;
        for (const room of this.#rooms.values()) void room.close();
        this.#rooms.clear();
      });
      return this.#session;
    } catch (error) {
      log.debug({ err: error }, 'Janus cannot be reached');
      return null;
    }
  }
}

async function accept(code: number, answer: Promise<unknown>): Promise<void> {
  await answer.catch((error: unknown) => {
    if (!(error instanceof JanusError) || error.code !== code) throw error;
  });
}
