import { randomUUID } from 'node:crypto';
import type { ParticipantInfo } from '@livekit/protocol';
import { parseSdp } from '../../protocols/sdp/parse.ts';
import { attributeOf } from '../../protocols/sdp/session-description.ts';
import type { JanusClient, JanusHandle } from '../janus/client.ts';
import { describe, type Source } from '../janus/sources.ts';
import type { LivekitServer } from './api.ts';
import { HiddenParticipant } from './hidden-participant.ts';

/** Track published at LiveKit. */
export interface RemoteTrack {
  sid: string;
  identity: string;
  source: Source;
}

export interface TrackRelayOptions {
  server: LivekitServer;
  client: JanusClient;
  room: string;
  /** Track to relay; null for a relay that only watches the participants. */
  track: RemoteTrack | null;
  /** Called with all participants of the LiveKit room, and later with new, changed and departed ones. */
  onPeople?(people: readonly ParticipantInfo[]): void;
  /** Called once, unless it was closed. */
  onLost(reason: string): void;
}

/**
 * Relay of one track from LiveKit to the room of the same name at Janus: LiveKit offers, Janus answers, and
 * the media flows directly between them. Each has its own connection, so that a file of Janus is one track of
 * one person.
 */
export class TrackRelay {
  readonly #options: TrackRelayOptions;
  #visitor: HiddenParticipant | null = null;
  #handle: JanusHandle | null = null;
  #isPublishing = false;
  #isClosed = false;
  /** Queue of offers, which are answered one after another. */
  #work: Promise<void> = Promise.resolve();

  constructor(options: TrackRelayOptions) {
    this.#options = options;
    this.#open().catch((error: unknown) => this.#lost(String(error)));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#visitor?.close();
    await this.#handle?.detach();
  }

  async #open(): Promise<void> {
    const { client, server, room, track, onPeople } = this.#options;
    this.#handle = await client.attach({
      onEvent: () => {},
      onTrickle: (candidate) => this.#visitor?.candidate(candidate),
      onPeer: (state) => {
        if (state === 'hangup') this.#lost('the media connection was lost');
      },
      onDetached: () => this.#lost('Janus closed the connection'),
    });
    await this.#handle.send({ request: 'join', ptype: 'publisher', room, id: randomUUID() });
    this.#visitor = await HiddenParticipant.enter(server, room, {
      onPeople: (people) => onPeople?.(people),
      onOffer: (sdp) => {
        this.#work = this.#work
          .then(() => this.#answer(sdp))
          .catch((error: unknown) => this.#lost(String(error)));
      },
      onCandidate: (candidate) => this.#handle?.trickle(candidate),
      onLost: (reason) => this.#lost(reason),
    });
    if (track !== null) this.#visitor.subscribe(track.sid);
    if (this.#isClosed) await this.close();
  }

  async #answer(sdp: string): Promise<void> {
    if (this.#isClosed) return;
    const request = this.#isPublishing ? 'configure' : 'publish';
    const descriptions = this.#describe(sdp);
    const answer = await this.#handle?.send({ request, descriptions }, { type: 'offer', sdp });
    this.#isPublishing = true;
    if (answer?.jsep?.type !== 'answer') throw new Error('Janus did not answer the offer');
    this.#visitor?.answer(answer.jsep.sdp);
  }

  /** LiveKit does not forward audio levels. */
  #describe(sdp: string): { mid: string; description: string }[] {
    const { track } = this.#options;
    if (track === null) return [];
    const description = describe({ ...track, levelId: null });
    return parseSdp(sdp).media.flatMap(({ kind, attributes }) => {
      const mid = attributeOf(attributes, 'mid');
      return mid === undefined || (kind !== 'audio' && kind !== 'video') ? [] : [{ mid, description }];
    });
  }

  #lost(reason: string): void {
    if (this.#isClosed) return;
    void this.close();
    this.#options.onLost(reason);
  }
}
