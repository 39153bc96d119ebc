import type { CreateEngine, EngineHost, LocalTrack, MediaEngine, TrackSource } from './media-engine.ts';
import type { Signal } from './protocol.ts';

/** Maximum bitrate per receiver, because the video is sent to each participant separately. */
const VIDEO_BITS_PER_SECOND = 900_000;

/** Source of each m-line of the sender, by `mid`. */
type Sources = Record<string, TrackSource>;

/** Message between two browsers. The gateway replaces `to` with `from`. */
interface MeshSignal {
  from: string;
  /** ID of one page load; another one means that the page was reloaded and the negotiated state is void. */
  visit: string;
  description?: RTCSessionDescriptionInit;
  /** Number of the offer, or of the offer that is answered: descriptions may be sent again. */
  offer?: number;
  sources?: Sources;
  candidate?: RTCIceCandidateInit | null;
}

/**
 * Creates the mesh engine: every browser sends to every other one, without a server, for at most four people.
 * Each pair negotiates by the pattern of perfect negotiation (W3C WebRTC, 10.7): the one with the smaller
 * identity is polite.
 */
export const createMesh: CreateEngine = (host) => new Mesh(host);

class Mesh implements MediaEngine {
  readonly #host: EngineHost;
  readonly #visit = crypto.randomUUID();
  readonly #peers = new Map<string, Peer>();
  readonly #tracks = new Map<string, LocalTrack>();
  #isDown = false;

  constructor(host: EngineHost) {
    this.#host = host;
  }

  async publish(tracks: LocalTrack[]): Promise<void> {
    for (const { source, track } of tracks) {
      this.#tracks.set(keyOf(source, track.kind), { source, track });
    }
    await this.#sync();
  }

  async unpublish(source: TrackSource): Promise<void> {
    for (const [key, outgoing] of this.#tracks) if (outgoing.source === source) this.#tracks.delete(key);
    await this.#sync();
  }

  async setMuted(source: TrackSource, muted: boolean): Promise<void> {
    for (const outgoing of this.#tracks.values()) {
      if (outgoing.source === source) outgoing.track.enabled = !muted;
    }
  }

  signal(data: Signal): void {
    const { from } = data;
    if (typeof from !== 'string' || typeof data.visit !== 'string') return;
    const message: MeshSignal = { ...data, from, visit: data.visit };
    const known = this.#peers.get(from);
    const isNew = known === undefined || (known.visit !== null && known.visit !== message.visit);
    const peer = isNew ? this.#open(from) : known;
    peer.visit = message.visit;
    peer.receive(message);
  }

  setPeers(identities: readonly string[]): void {
    for (const identity of this.#peers.keys()) if (!identities.includes(identity)) this.#drop(identity);
    for (const identity of identities) {
      if (!this.#peers.has(identity)) this.#open(identity);
    }
  }

  restart(): void {
    for (const peer of this.#peers.values()) peer.restart();
  }

  close(): void {
    for (const identity of [...this.#peers.keys()]) this.#drop(identity);
  }

  #open(identity: string): Peer {
    this.#drop(identity);
    const peer = new Peer(identity, this.#host, this.#visit, () => this.#tellState());
    this.#peers.set(identity, peer);
    peer.greet();
    void peer.sync([...this.#tracks.values()]);
    return peer;
  }

  #drop(identity: string): void {
    this.#peers.get(identity)?.close();
    this.#peers.delete(identity);
  }

  /** Reports the state: down when no participant is reachable. */
  #tellState(): void {
    const states = [...this.#peers.values()].map(({ isUp }) => isUp).filter((isUp) => isUp !== null);
    const isDown = states.length > 0 && !states.includes(true);
    if (isDown === this.#isDown) return;
    this.#isDown = isDown;
    this.#host.onState(isDown ? 'down' : 'up');
  }

  async #sync(): Promise<void> {
    const tracks = [...this.#tracks.values()];
    await Promise.all([...this.#peers.values()].map((peer) => peer.sync(tracks)));
  }
}

/** The connection to one other browser. */
class Peer {
  readonly #identity: string;
  readonly #host: EngineHost;
  readonly #ownVisit: string;
  readonly #connection: RTCPeerConnection;
  readonly #isPolite: boolean;
  /** Transceivers of sent tracks, by source and kind; they are reused after their track is unpublished. */
  readonly #sending = new Map<string, RTCRtpTransceiver>();
  /** Sources handed to the room, by `mid`. */
  readonly #shown = new Map<string, TrackSource>();
  /** ID of the other browser's page load, known from its first message. */
  visit: string | null = null;
  #isOffering = false;
  /** Numbers of the last own offer, and of the last remote one that was answered. */
  #offered = 0;
  #answered = 0;
  /** Queue of operations in order of arrival. */
  #work: Promise<void> = Promise.resolve();
  #ignoresOffer = false;
  #sources: Sources = {};

  constructor(identity: string, host: EngineHost, visit: string, onState: () => void) {
    this.#identity = identity;
    this.#host = host;
    this.#ownVisit = visit;
    this.#isPolite = host.self < identity;
    this.#connection = new RTCPeerConnection({ iceServers: host.iceServers });
    this.#connection.onnegotiationneeded = () => void this.#offer();
    this.#connection.onicecandidate = ({ candidate }) =>
      this.#send({ candidate: candidate?.toJSON() ?? null });
    this.#connection.onconnectionstatechange = () => {
      if (this.#connection.connectionState === 'failed') this.#connection.restartIce();
      onState();
    };
  }

  /** null while there is nothing to send or get. */
  get isUp(): boolean | null {
    const { connectionState } = this.#connection;
    if (connectionState === 'new') return null;
    return connectionState === 'connected' || connectionState === 'connecting';
  }

  /** Announces this page load to the other browser, which may still have a connection to an earlier one. */
  greet(): void {
    this.#send({});
  }

  /** Sends these tracks and no others. */
  async sync(tracks: LocalTrack[]): Promise<void> {
    const wanted = new Map(tracks.map((outgoing) => [keyOf(outgoing.source, outgoing.track.kind), outgoing]));
    for (const [key, transceiver] of this.#sending) {
      if (wanted.has(key) || transceiver.direction === 'inactive') continue;
      transceiver.direction = 'inactive';
      await transceiver.sender.replaceTrack(null);
    }
    for (const [key, { track }] of wanted) {
      const transceiver = this.#sending.get(key);
      if (transceiver === undefined) this.#sending.set(key, this.#add(track));
      else {
        await transceiver.sender.replaceTrack(track);
        transceiver.direction = 'sendonly';
      }
    }
  }

  receive(message: MeshSignal): void {
    this.#work = this.#work.then(() => this.#take(message));
  }

  async #take(message: MeshSignal): Promise<void> {
    const { description, candidate } = message;
    try {
      if (description !== undefined) await this.#agree(description, message);
      else if (candidate) await this.#connection.addIceCandidate(candidate);
      else if (candidate === undefined) this.#repeat();
    } catch (error) {
      // Candidates of an ignored offer are irrelevant; other errors are resolved by the next restart.
      if (!this.#ignoresOffer && this.#connection.signalingState !== 'closed') console.warn('mesh', error);
    }
  }

  restart(): void {
    this.greet();
    this.#repeat();
    if (this.#connection.connectionState !== 'connected') this.#connection.restartIce();
  }

  close(): void {
    this.#connection.close();
    for (const source of new Set(this.#shown.values())) this.#host.onTrackGone(this.#identity, source);
    this.#shown.clear();
  }

  #add(track: MediaStreamTrack): RTCRtpTransceiver {
    const sendEncodings = track.kind === 'video' ? [{ maxBitrate: VIDEO_BITS_PER_SECOND }] : [];
    return this.#connection.addTransceiver(track, { direction: 'sendonly', sendEncodings });
  }

  async #offer(): Promise<void> {
    try {
      this.#isOffering = true;
      this.#offered += 1;
      await this.#connection.setLocalDescription();
      this.#repeat();
    } catch (error) {
      if (this.#connection.signalingState !== 'closed') console.warn('mesh', error);
    } finally {
      this.#isOffering = false;
    }
  }

  async #agree(
    description: RTCSessionDescriptionInit,
    { sources = {}, offer = 0 }: MeshSignal,
  ): Promise<void> {
    const isOffer = description.type === 'offer';
    if (isOffer && offer === this.#answered) {
      // The answer may have been lost.
      if (this.#connection.localDescription?.type === 'answer') this.#sendDescription(offer);
      return;
    }
    // A repeated or late answer does not match the current offer.
    if (!isOffer && (offer !== this.#offered || this.#connection.signalingState !== 'have-local-offer'))
      return;
    const collides = isOffer && (this.#isOffering || this.#connection.signalingState !== 'stable');
    this.#ignoresOffer = collides && !this.#isPolite;
    if (this.#ignoresOffer) return;
    await this.#connection.setRemoteDescription(description);
    this.#sources = sources;
    if (isOffer) {
      await this.#connection.setLocalDescription();
      this.#answered = offer;
      this.#sendDescription(offer);
    }
    this.#show();
  }

  /** Passes received tracks to the room, and removes ended ones. */
  #show(): void {
    const sent = new Set(this.#sending.values());
    for (const transceiver of this.#connection.getTransceivers()) {
      const { mid, currentDirection, receiver } = transceiver;
      if (mid === null || sent.has(transceiver)) continue;
      const source = currentDirection === 'recvonly' ? this.#sources[mid] : undefined;
      const before = this.#shown.get(mid);
      if (source === before) continue;
      if (source !== undefined) {
        this.#shown.set(mid, source);
        this.#host.onTrack(this.#identity, source, receiver.track);
      } else if (before !== undefined) {
        this.#shown.delete(mid);
        if (![...this.#shown.values()].includes(before)) this.#host.onTrackGone(this.#identity, before);
      }
    }
  }

  /** Sends an offer again whose answer may have been lost. */
  #repeat(): void {
    if (this.#connection.signalingState === 'have-local-offer') this.#sendDescription(this.#offered);
  }

  #sendDescription(offer: number): void {
    const description = this.#connection.localDescription;
    if (description === null) return;
    const sources: Sources = {};
    for (const [key, { mid, direction }] of this.#sending) {
      if (mid !== null && direction !== 'inactive') sources[mid] = sourceOf(key);
    }
    this.#send({ description: description.toJSON(), sources, offer });
  }

  #send(message: Omit<MeshSignal, 'from' | 'visit'>): void {
    this.#host.send({ to: this.#identity, visit: this.#ownVisit, ...message });
  }
}

function keyOf(source: TrackSource, kind: string): string {
  return `${source} ${kind}`;
}

function sourceOf(key: string): TrackSource {
  const [source] = key.split(' ');
  return source === 'CAMERA' || source === 'SCREEN' ? source : 'MICROPHONE';
}
