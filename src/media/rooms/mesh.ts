import type { EngineConnection, RoomEngine, RoomPeer, Signal } from './engine.ts';
import { BadSignal } from './engine.ts';

/** Carries signals to people who are connected to other nodes. */
export interface SignalRelay {
  send(ref: string, to: string, signal: Signal): void;
  subscribe(listener: (ref: string, to: string, signal: Signal) => void): void;
}

interface Member {
  peer: RoomPeer;
  send(signal: Signal): void;
}

/** Each browser sends to each other one: more than this is too much for the line of most people. */
const MAX_PARTICIPANTS = 4;

/**
 * No media server: browsers connect to each other, and this engine hands their signals on by identity. From the browser
 * `{to, description}` or `{to, candidate}` (the members of RTCPeerConnection); the other one gets `from` for `to`.
 *
 * @param relay for the signals to whoever is not connected to this node.
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
          if (typeof to !== 'string') throw new BadSignal('A signal names in `to` whom it is for.');
          refuseMedia(peer, rest);
          const signal = { ...rest, from: peer.identity };
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

/** @throws {BadSignal} when the description would send what its author may not. */
function refuseMedia({ permissions }: RoomPeer, { description }: Signal): void {
  if (permissions.canPublish || typeof description !== 'object' || description === null) return;
  const sdp = 'sdp' in description ? description.sdp : null;
  if (typeof sdp !== 'string') return;
  const media = sdp.split(/^(?=m=)/m).filter((section) => /^m=(audio|video)/.test(section));
  if (media.every((section) => /^a=(recvonly|inactive)\s*$/m.test(section))) return;
  throw new BadSignal('You may not send sound or pictures into this room.');
}
