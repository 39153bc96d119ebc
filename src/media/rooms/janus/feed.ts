import { randomBytes, randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { networkInterfaces } from 'node:os';
import { JanusClient, JanusError, type JanusHandle } from './client.ts';
import { type JanusLink, readLink } from './link-file.ts';
import { isRoom, ROOM_EXISTS, roomRequest } from './room-request.ts';
import { describe } from './sources.ts';

/** Media sent into a room as plain RTP, as if by a browser. */
export interface RoomFeed {
  /** Does nothing after `close`. */
  send(kind: 'audio' | 'video', packet: Buffer): void;
  /** Resolves when the room, or Janus, is gone. */
  readonly gone: Promise<void>;
  close(): Promise<void>;
}

export interface RoomFeedOptions {
  linkFile: string;
  room: string;
  maxParticipants: number;
  identity: string;
}

export const PAYLOAD_TYPES = { audio: 111, video: 96 } as const;

const LOOPBACK = '127.0.0.1';
const NOTHING = { onEvent() {}, onTrickle() {}, onPeer() {}, onDetached() {} };
const CONNECT_MS = 10_000;

/**
 * Opens a feed: Janus receives plain RTP in one of its plugins and sends it by WebRTC to a seat in the room
 * of the same Janus (docs/decisions/bridges.md#rooms).
 *
 * @throws {JanusError} when Janus does not run, or rejects a request.
 */
export async function openRoomFeed(options: RoomFeedOptions): Promise<RoomFeed> {
  const link = await readLink(options.linkFile);
  if (link === null) throw new JanusError(0, 'Janus is not running');
  const client = await JanusClient.connect(link);
  const socket = createSocket('udp4');
  const gone = Promise.withResolvers<void>();
  let isClosed = false;
  client.onClose(gone.resolve);
  let mountpoint: { handle: JanusHandle; id: string; secret: string } | null = null;
  const close = async () => {
    isClosed = true;
    // Ending the session releases its handles in the room, but not the mountpoint.
    if (mountpoint !== null) {
      const { handle, id, secret } = mountpoint;
      await handle.send({ request: 'destroy', id, secret }).catch(() => {});
    }
    client.close();
    socket.close();
  };
  try {
    const made = await createMountpoint(client, link);
    mountpoint = made;
    await publish(client, link, made, { ...options, onGone: gone.resolve });
    return {
      gone: gone.promise,
      send(kind, packet) {
        if (!isClosed) socket.send(packet, made.ports[kind], LOOPBACK, () => {});
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Creates the mountpoint that receives the packets. */
async function createMountpoint(client: JanusClient, link: JanusLink) {
  let onUp = () => {};
  const up = new Promise<void>((resolve) => {
    onUp = resolve;
  });
  const handle = await client.attach({ ...NOTHING, onPeer: (state) => state === 'up' && onUp() }, 'feed');
  const [id, secret] = [randomUUID(), randomBytes(16).toString('hex')];
  const ports = { audio: await freePort(), video: await freePort() };
  const of = (kind: 'audio' | 'video', codec: string, rtpmap: string) => ({
    ...{ type: kind, mid: kind, pt: PAYLOAD_TYPES[kind], codec, rtpmap },
    ...{ port: ports[kind], iface: LOOPBACK },
  });
  const media = [of('audio', 'opus', 'opus/48000/2'), of('video', 'vp8', 'VP8/90000')];
  const admin = { admin_key: link.adminKey, is_private: true, secret };
  await handle.send({ request: 'create', type: 'rtp', id, ...admin, media });
  return { handle, id, secret, ports, up };
}

async function publish(
  client: JanusClient,
  link: JanusLink,
  { handle, id, up }: Awaited<ReturnType<typeof createMountpoint>>,
  { room, maxParticipants, identity, onGone }: RoomFeedOptions & { onGone(): void },
): Promise<void> {
  const place = await client.attach({
    ...NOTHING,
    onEvent: ({ data }) => {
      if (data.videoroom === 'destroyed' || data.leaving === 'ok') onGone();
    },
    onPeer: (state) => state === 'hangup' && onGone(),
    onDetached: onGone,
  });
  if (!(await isRoom(place, room))) {
    await place.send(roomRequest(link, room, maxParticipants)).catch((error: unknown) => {
      if (!(error instanceof JanusError) || error.code !== ROOM_EXISTS) throw error;
    });
  }
  await place.send({ request: 'join', ptype: 'publisher', room, id: randomUUID(), display: identity });
  const { jsep: offer } = await handle.send({ request: 'watch', id });
  if (offer === null) throw new JanusError(0, 'Janus did not send an offer');
  const descriptions = [
    { mid: 'audio', description: describe({ source: 'MICROPHONE', identity, levelId: null }) },
    { mid: 'video', description: describe({ source: 'CAMERA', identity, levelId: null }) },
  ];
  const { jsep: answer } = await place.send(
    { request: 'publish', descriptions },
    { ...offer, sdp: withOwnAddresses(offer.sdp) },
  );
  if (answer === null) throw new JanusError(0, 'Janus did not answer');
  await handle.send({ request: 'start' }, { ...answer, sdp: withOwnAddresses(answer.sdp) });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new JanusError(0, 'Janus cannot connect to itself')), CONNECT_MS);
  });
  await Promise.race([up, late]).finally(() => clearTimeout(timer));
}

/** Replaces the public address for browsers, which may be unreachable from here, with the machine's own. */
function withOwnAddresses(sdp: string): string {
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const addresses = own.filter(({ family }) => family === 'IPv4').map(({ address }) => address);
  return sdp.replace(
    /^a=candidate:(\S+) (\d+ udp \d+) (\S+) (\d+) typ host.*$/gim,
    (line, name, middle, told, port) => {
      const more = addresses.filter((address) => address !== told);
      return [
        line.trimEnd(),
        ...more.map(
          (address, index) => `a=candidate:${name}${index + 1} ${middle} ${address} ${port} typ host`,
        ),
      ].join('\r\n');
    },
  );
}

function freePort(): Promise<number> {
  const socket = createSocket('udp4');
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(0, LOOPBACK, () => {
      const { port } = socket.address();
      socket.close(() => resolve(port));
    });
  });
}
