import { type ParticipantInfo, ParticipantInfo_State } from '@livekit/protocol';
import type { Logger } from '../../../platform/logger.ts';
import type { JanusClient } from '../janus/client.ts';
import type { LivekitServer } from './api.ts';
import { identityOf, isHiddenParticipant, remoteTracksOf } from './identities.ts';
import { type RemoteTrack, TrackRelay, type TrackRelayOptions } from './track-relay.ts';

export interface MirrorSource {
  server: LivekitServer;
  /**
   * Reports whether the identity has a seat in a room: participants who join with an outdated token are not
   * mirrored.
   */
  isPresent(roomId: string, identity: string): Promise<boolean>;
  log: Logger;
}

interface Options extends MirrorSource {
  client: JanusClient;
  id: string;
}

/** One LiveKit room mirrored to Janus: a relay that watches the participants, and one for each track. */
export class MirroredRoom {
  readonly #options: Options;
  /** Participants by `sid`; null before they are known. */
  #people: Map<string, ParticipantInfo> | null = null;
  /** Relays by the `sid` of the track. */
  readonly #legs = new Map<string, TrackRelay>();
  #watcher: TrackRelay | null = null;
  #isClosed = false;
  #work: Promise<void> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Restores lost relays. */
  look(): void {
    if (this.#isClosed) return;
    if (this.#watcher === null) this.#watch();
    else this.#arrange();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#work;
    const legs = [this.#watcher, ...this.#legs.values()];
    this.#legs.clear();
    await Promise.all(legs.map((leg) => leg?.close()));
  }

  #watch(): void {
    this.#people = null;
    this.#watcher = this.#begin(null, {
      onPeople: (people) => {
        this.#people ??= new Map();
        for (const person of people) note(this.#people, person);
        this.#arrange();
      },
      onLost: () => {
        this.#watcher = null;
      },
    });
  }

  #arrange(): void {
    this.#work = this.#work
      .then(() => this.#follow())
      .catch((error: unknown) =>
        this.#options.log.warn({ err: error, room: this.#options.id }, 'cannot follow a LiveKit room'),
      );
  }

  async #follow(): Promise<void> {
    if (this.#people === null) return;
    const { id, isPresent } = this.#options;
    const tracks = [...this.#people.values()].flatMap((person) =>
      remoteTracksOf(person).map((track) => ({ ...track, identity: identityOf(person) })),
    );
    const sids = new Set(tracks.map(({ sid }) => sid));
    for (const [sid, leg] of this.#legs) {
      if (sids.has(sid)) continue;
      this.#legs.delete(sid);
      await leg.close();
    }
    for (const track of tracks) {
      if (this.#legs.has(track.sid) || !(await isPresent(id, track.identity)) || this.#isClosed) continue;
      const { sid } = track;
      this.#legs.set(sid, this.#begin(track, { onLost: () => void this.#legs.delete(sid) }));
    }
  }

  #begin(track: RemoteTrack | null, told: Pick<TrackRelayOptions, 'onPeople' | 'onLost'>): TrackRelay {
    const { server, client, id, log } = this.#options;
    return new TrackRelay({
      ...{ server, client, room: id, track },
      ...told,
      onLost: (reason) => {
        log.debug({ reason, room: id, track: track?.sid }, 'a LiveKit track stopped arriving');
        if (!this.#isClosed) told.onLost(reason);
      },
    });
  }
}

function note(people: Map<string, ParticipantInfo>, person: ParticipantInfo): void {
  if (isHiddenParticipant(person)) return;
  if (person.state === ParticipantInfo_State.DISCONNECTED) people.delete(person.sid);
  else people.set(person.sid, person);
}
