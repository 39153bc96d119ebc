import { parseSdp } from '../protocols/sdp/parse.ts';
import { isSending, SdpError, type SdpMedia } from '../protocols/sdp/session-description.ts';
import { writeSdp } from '../protocols/sdp/write.ts';
import type { EngineConnection, RoomEngine, RoomPeer, RoomPermissions, Signal } from './engine.ts';
import { InvalidSignalError } from './engine.ts';

/** Relay of signals to participants connected to other nodes. */
export interface SignalRelay {
  send(ref: string, to: string, signal: Signal): void;
  subscribe(listener: (ref: string, to: string, signal: Signal) => void): void;
}

interface Member {
  peer: RoomPeer;
  send(signal: Signal): void;
}

/**
 * Maximum participants: each browser sends to every other one, so more would exceed the uplink of typical
 * users.
 */
const MAX_PARTICIPANTS = 4;

/**
 * Creates an engine without a media server: browsers connect to each other, and the engine relays their
 * signals by identity. The browser sends `{to, description}` or `{to, candidate}` (the members of
 * RTCPeerConnection); the recipient gets `from` in place of `to`.
 *
 * @param relay for signals to participants connected to other nodes.
 */
export function createMeshEngine({ relay }: { relay: SignalRelay }): RoomEngine {
  const rooms = new Map<string, Map<string, Member>>();
  relay.subscribe((ref, to, signal) => rooms.get(ref)?.get(to)?.send(signal));

  const drop = (ref: string, identity: string, member?: Member) => {
    const members = rooms.get(ref);
    if (members === undefined || (member !== undefined && members.get(identity) !== member)) return;
    members.delete(identity);
    if (members.size === 0) rooms.delete(ref);
  };

  return {
    name: 'mesh',
    caps: {
      ...{ maxParticipants: MAX_PARTICIPANTS, recording: false, serverMute: false, multiNode: true },
      bridges: false,
    },
    createRoom: async ({ roomId }) => ({ ref: roomId }),
    async endRoom(ref) {
      rooms.delete(ref);
    },
    async connect(ref, peer, send) {
      const member = { peer, send };
      const members = rooms.get(ref) ?? new Map<string, Member>();
      rooms.set(ref, members.set(peer.identity, member));
      const isIn = () => rooms.get(ref)?.get(peer.identity) === member;
      const connection: EngineConnection = {
        async signal(message) {
          if (!isIn()) return;
          const { to, ...rest } = message;
          if (typeof to !== 'string')
            throw new InvalidSignalError('`to` is required: the recipient of the signal.');
          const signal = { ...rest, ...descriptionIn(rest, peer.permissions), from: peer.identity };
          const near = rooms.get(ref)?.get(to);
          if (near === undefined) relay.send(ref, to, signal);
          else near.send(signal);
        },
        close: async () => drop(ref, peer.identity, member),
      };
      return connection;
    },
    listParticipants: async (ref) =>
      [...(rooms.get(ref)?.keys() ?? [])].map((identity) => ({ identity, tracks: [] })),
    removeParticipant: async (ref, identity) => drop(ref, identity),
    setMuted: async () => {},
    onEvent: () => {},
    health: async () => ({ ok: true, detail: null }),
    async close() {
      rooms.clear();
    },
  };
}

/**
 * Returns the description of a signal, parsed and serialized again, so that a browser never gets unvalidated
 * content.
 *
 * @throws {InvalidSignalError} when it is malformed, or sends media that its author may not send.
 */
function descriptionIn({ description }: Signal, permissions: RoomPermissions): Signal {
  if (description === undefined || description === null) return {};
  const { type, sdp }: Signal = typeof description === 'object' ? { ...description } : {};
  // Browsers convert other values to text.
  if (typeof sdp !== 'string' || !isDescriptionType(type))
    throw new InvalidSignalError('A description must have a `type`, and a session description in `sdp`.');
  try {
    const parsed = parseSdp(sdp);
    if (parsed.media.every((section) => maySend(section, permissions)))
      return { description: { type, sdp: writeSdp(parsed) } };
  } catch (error) {
    if (error instanceof SdpError) throw new InvalidSignalError(error.message);
    throw error;
  }
  throw new InvalidSignalError('You are not allowed to send this media or data to the room.');
}

function isDescriptionType(type: unknown): boolean {
  return type === 'offer' || type === 'pranswer' || type === 'answer';
}

function maySend(section: SdpMedia, { canPublish, canPublishData }: RoomPermissions): boolean {
  return !isSending(section) || (section.kind === 'application' ? canPublishData : canPublish);
}
