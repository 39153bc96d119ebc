import {
  DisconnectReason,
  type LocalTrackPublication,
  type RemoteParticipant,
  type RemoteTrack,
  type RemoteTrackPublication,
  Room,
  RoomEvent,
  setLogLevel,
  Track,
  type TrackPublishOptions,
} from 'livekit-client';
import type { CreateEngine, EngineHost, TrackSource } from './media-engine.ts';
import type { Signal } from './protocol.ts';
import { ServerEngine } from './server-engine.ts';

const CAMERA_BITS_PER_SECOND = 1_500_000;
const SCREEN_BITS_PER_SECOND = 2_000_000;
const FRAMES_PER_SECOND = 30;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 8000;

/** Disconnect reasons after which the gateway decides: it confirms them, or readmits this participant. */
const FINAL: ReadonlySet<DisconnectReason | undefined> = new Set([
  DisconnectReason.PARTICIPANT_REMOVED,
  DisconnectReason.DUPLICATE_IDENTITY,
]);

/** Creates the LiveKit engine, to which the browser connects in addition to the gateway. */
export const createLivekit: CreateEngine = (host) => new Livekit(host);

class Livekit extends ServerEngine {
  /** Publications of this participant, by the same keys as `tracks`. */
  readonly #published = new Map<string, LocalTrackPublication>();
  /** Tracks handed to the page, with their identity and source. */
  readonly #shown = new Map<RemoteTrack, { identity: string; source: TrackSource }>();
  #peers: ReadonlySet<string> = new Set();
  #room: Room | null = null;
  #attempt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** If two tokens arrive for one attempt, the first is used. */
  #isAsking = false;

  constructor(host: EngineHost) {
    super(host);
    // LiveKit logs every disconnect as an error; relevant ones are reported below.
    setLogLevel('silent');
  }

  signal(data: Signal): void {
    if (data.op === 'open') {
      this.#attempt = 0;
      this.#ask();
    }
    if (data.op === 'token' && this.#isAsking) void this.#join(String(data.url), String(data.token));
  }

  setPeers(identities: readonly string[]): void {
    this.#peers = new Set(identities);
    this.#arrange();
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.#timer);
    this.#leave();
  }

  /** Requests a token. Tokens are valid for a minute, so each attempt requests a new one. */
  #ask(): void {
    clearTimeout(this.#timer);
    if (this.isClosed) return;
    this.#isAsking = true;
    this.host.send({ op: 'hello' });
  }

  #retry(): void {
    const longest = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#attempt);
    this.#attempt += 1;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(), longest * (0.5 + Math.random() / 2));
  }

  #leave(): void {
    const room = this.#room;
    this.#room = null;
    this.#published.clear();
    for (const track of this.#shown.keys()) this.#hide(track);
    void room?.disconnect(false);
  }

  async #join(url: string, token: string): Promise<void> {
    if (this.isClosed) return;
    this.#isAsking = false;
    this.#leave();
    const room = new Room({ dynacast: true, stopLocalTrackOnUnpublish: false });
    this.#room = room;
    this.#listen(room);
    const { iceServers } = this.host;
    // LiveKit uses its own ICE servers unless others are configured.
    const rtcConfig = iceServers.length === 0 ? {} : { rtcConfig: { iceServers } };
    try {
      await room.connect(url, token, { autoSubscribe: false, maxRetries: 0, ...rtcConfig });
    } catch (error) {
      if (room !== this.#room) return;
      console.warn('livekit', error);
      this.tell(false);
      this.#retry();
      return;
    }
    if (room !== this.#room) return;
    this.#attempt = 0;
    this.tell(true);
    this.#arrange();
    await this.sync();
  }

  #listen(room: Room): void {
    const whileMine =
      <A extends unknown[]>(act: (...given: A) => void) =>
      (...given: A) => {
        if (room === this.#room) act(...given);
      };
    const arrange = whileMine(() => this.#arrange());
    const sync = whileMine(() => void this.sync());
    room
      .on(RoomEvent.ParticipantConnected, arrange)
      .on(RoomEvent.TrackPublished, arrange)
      .on(
        RoomEvent.TrackSubscribed,
        whileMine((track, publication, from) => this.#show(track, publication, from)),
      )
      .on(
        RoomEvent.TrackUnsubscribed,
        whileMine((track) => this.#hide(track)),
      )
      .on(RoomEvent.ParticipantPermissionsChanged, sync)
      .on(
        RoomEvent.LocalTrackUnpublished,
        whileMine((publication) => this.#lost(publication)),
      )
      .on(
        RoomEvent.Reconnecting,
        whileMine(() => this.tell(false)),
      )
      .on(
        RoomEvent.Reconnected,
        whileMine(() => {
          this.tell(true);
          this.#arrange();
          void this.sync();
        }),
      )
      .on(
        RoomEvent.Disconnected,
        whileMine((reason?: DisconnectReason) => {
          this.#leave();
          this.tell(false);
          if (!FINAL.has(reason)) this.#retry();
        }),
      );
  }

  /**
   * Limits sending and receiving to participants that the gateway lists: LiveKit also has others while a
   * removed participant reconnects with a token issued just before the removal.
   */
  #arrange(): void {
    const room = this.#room;
    if (room === null || room.state !== 'connected') return;
    const people = [...room.remoteParticipants.values()];
    const isPeer = (one: RemoteParticipant) => this.#peers.has(identityOf(one));
    room.localParticipant.setTrackSubscriptionPermissions(
      false,
      people.filter(isPeer).map(({ identity }) => ({ participantIdentity: identity, allowAll: true })),
    );
    for (const one of people) {
      for (const publication of one.trackPublications.values()) {
        const isWanted = isPeer(one) && sourceOf(publication) !== null;
        if (publication.isDesired !== isWanted) publication.setSubscribed(isWanted);
      }
    }
  }

  #show(track: RemoteTrack, publication: RemoteTrackPublication, from: RemoteParticipant): void {
    const source = sourceOf(publication);
    if (source === null) return;
    const identity = identityOf(from);
    this.#shown.set(track, { identity, source });
    this.host.onTrack(identity, source, track.mediaStreamTrack);
  }

  #hide(track: RemoteTrack): void {
    const gone = this.#shown.get(track);
    this.#shown.delete(track);
    if (gone === undefined) return;
    const isLeft = [...this.#shown.values()].some(
      ({ identity, source }) => identity === gone.identity && source === gone.source,
    );
    if (!isLeft) this.host.onTrackGone(gone.identity, gone.source);
  }

  /** The server has taken it down, as when a host mutes; it is put up again when it may be. */
  #lost(publication: LocalTrackPublication): void {
    for (const [key, own] of this.#published) if (own === publication) this.#published.delete(key);
  }

  protected sync(): Promise<void> {
    return this.enqueue(async () => {
      const room = this.#room;
      if (room === null || room.state !== 'connected') return;
      await this.#publishAll(room).catch((error: unknown) => {
        if (room === this.#room) throw error;
      });
    });
  }

  async #publishAll(room: Room): Promise<void> {
    const { localParticipant: me } = room;
    for (const [key, publication] of this.#published) {
      if (this.tracks.has(key)) continue;
      this.#published.delete(key);
      if (publication.track !== undefined) await me.unpublishTrack(publication.track, false);
    }
    for (const [key, { source, track }] of this.tracks) {
      const place = this.#published.get(key)?.track;
      const options = optionsOf(source, track.kind);
      if (place !== undefined) {
        if (place.mediaStreamTrack !== track) await place.replaceTrack(track, true);
      } else if (mayPublish(room, options.source)) {
        const publication = await me.publishTrack(track, options);
        if (room === this.#room) this.#published.set(key, publication);
      }
    }
  }
}

/**
 * Returns the identity. One too long for LiveKit is in an attribute, next to a short one that LiveKit
 * accepts.
 */
function identityOf({ identity, attributes }: RemoteParticipant): string {
  return attributes.identity ?? identity;
}

/** Returns the source of a track; null when its kind is that of another source, which would evade a mute. */
function sourceOf({ source, kind }: RemoteTrackPublication): TrackSource | null {
  const isAudio = kind === Track.Kind.Audio;
  switch (source) {
    case Track.Source.Camera:
      return isAudio ? null : 'CAMERA';
    case Track.Source.Microphone:
      return isAudio ? 'MICROPHONE' : null;
    case Track.Source.ScreenShare:
      return isAudio ? null : 'SCREEN';
    case Track.Source.ScreenShareAudio:
      return isAudio ? 'SCREEN' : null;
    default:
      return null;
  }
}

function optionsOf(source: TrackSource, kind: string): TrackPublishOptions & { source: Track.Source } {
  const maxFramerate = FRAMES_PER_SECOND;
  if (source === 'MICROPHONE') return { source: Track.Source.Microphone };
  if (source === 'CAMERA') {
    const videoEncoding = { maxBitrate: CAMERA_BITS_PER_SECOND, maxFramerate };
    return { source: Track.Source.Camera, videoCodec: 'vp8', simulcast: true, videoEncoding };
  }
  if (kind === 'audio') return { source: Track.Source.ScreenShareAudio };
  const screenShareEncoding = { maxBitrate: SCREEN_BITS_PER_SECOND, maxFramerate };
  return { source: Track.Source.ScreenShare, videoCodec: 'vp8', simulcast: false, screenShareEncoding };
}

/**
 * Reports whether the source may be published. The server closes the connection of a client that publishes
 * without permission.
 */
function mayPublish({ localParticipant: { permissions } }: Room, source: Track.Source): boolean {
  if (permissions === undefined) return true;
  const { canPublish, canPublishSources } = permissions;
  return (
    canPublish && (canPublishSources.length === 0 || canPublishSources.includes(Track.sourceToProto(source)))
  );
}
