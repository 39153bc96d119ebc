import type { CreateEngine, EngineHost, LocalTrack, TrackSource } from './media-engine.ts';
import type { Signal } from './protocol.ts';
import { ServerEngine } from './server-engine.ts';

/** Simulcast layers of the camera; the media server picks one for each receiver. */
const CAMERA_LAYERS: RTCRtpEncodingParameters[] = [
  { rid: 'h', maxBitrate: 1_500_000 },
  { rid: 'm', maxBitrate: 500_000, scaleResolutionDownBy: 2 },
  { rid: 'l', maxBitrate: 150_000, scaleResolutionDownBy: 4 },
];
const SCREEN_BITS_PER_SECOND = 2_000_000;
const ANSWER_MS = 10_000;
/** Time in the state "disconnected" after which a connection is renegotiated. */
const STUTTER_MS = 3000;

/** Stream of another participant in an offer of the media server. */
interface RemoteStream {
  mid: string;
  identity: string;
  source: TrackSource;
}

/** Media by Janus: one connection that sends, one that receives. */
export const createJanus: CreateEngine = (host) => new Janus(host);

class Janus extends ServerEngine {
  /** ID of this participant's session at the media server. */
  #visit: unknown = null;
  #sender: Sender | null = null;
  #receiver: Receiver;

  constructor(host: EngineHost) {
    super(host);
    this.#receiver = this.#newReceiver();
  }

  override async setMuted(source: TrackSource, muted: boolean): Promise<void> {
    await super.setMuted(source, muted);
    this.#tellSending();
  }

  signal(data: Signal): void {
    switch (data.op) {
      case 'open':
        this.#begin(data.visit);
        return;
      case 'answer':
        this.#sender?.answered(String(data.sdp));
        return;
      case 'offer':
        this.#receiver.take(String(data.sdp), readStreams(data.streams));
        return;
      case 'candidate':
        this.#candidate(data);
        return;
      case 'lost':
        this.#lost(data.pc === 'send');
    }
  }

  setPeers(): void {}

  close(): void {
    this.isClosed = true;
    this.#sender?.close();
    this.#receiver.close();
  }

  /** Starts a new session at the media server with new connections; sending does not wait for receiving. */
  #begin(visit: unknown): void {
    if (visit === this.#visit) return;
    this.#visit = visit;
    this.#renewReceiver();
    this.#dropSender();
    this.host.send({ op: 'hello' });
    void this.sync();
  }

  #lost(isSender: boolean): void {
    if (isSender) {
      this.#dropSender();
      void this.sync();
    } else {
      this.#renewReceiver();
      this.host.send({ op: 'again' });
    }
  }

  #dropSender(): void {
    this.#sender?.close();
    this.#sender = null;
  }

  #renewReceiver(): void {
    this.#receiver.close();
    this.#receiver = this.#newReceiver();
  }

  #newReceiver(): Receiver {
    const receiver: Receiver = new Receiver(this.host, {
      onState: () => this.#tellState(),
      onStutter: (isDead) => {
        if (receiver !== this.#receiver) return;
        if (isDead) this.#lost(false);
        else this.host.send({ op: 'restart' });
      },
    });
    return receiver;
  }

  protected sync(): Promise<void> {
    return this.enqueue(async () => {
      // There is no response before a session exists; the server sends `open` once there is one.
      if (this.#visit === null) return;
      if (this.#sender === null && this.tracks.size === 0) return;
      this.#sender ??= this.#newSender();
      await this.#sender.sync(this.tracks);
      this.#tellSending();
    });
  }

  #newSender(): Sender {
    const sender: Sender = new Sender(this.host, {
      onState: () => this.#tellState(),
      onStutter: (isDead) => {
        if (sender !== this.#sender) return;
        if (isDead) this.#lost(true);
        else void this.enqueue(() => sender.restart());
      },
    });
    return sender;
  }

  #candidate({ pc, candidate }: Signal): void {
    const connection = pc === 'send' ? this.#sender : this.#receiver;
    if (typeof candidate !== 'object') return;
    void connection?.add(candidate);
  }

  #tellSending(): void {
    const sources = new Set([...this.tracks.values()].map(({ source }) => source));
    this.host.send({ op: 'sending', sources: [...sources].filter((source) => !this.muted.has(source)) });
  }

  #tellState(): void {
    const isUp = this.#sender?.isUp !== false && this.#receiver.isUp !== false;
    this.tell(isUp);
  }
}

interface Watch {
  onState(): void;
  /** Called when the connection fails: new ICE credentials may help; a dead connection must be replaced. */
  onStutter(isDead: boolean): void;
}

/** Base of both connections: ICE candidates and monitoring of the connection state. */
class Connection {
  readonly pc: RTCPeerConnection;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(host: EngineHost, name: 'send' | 'receive', watch: Watch) {
    this.pc = new RTCPeerConnection({ iceServers: host.iceServers });
    this.pc.onicecandidate = ({ candidate }) =>
      host.send({ op: 'candidate', pc: name, candidate: candidate?.toJSON() ?? null });
    this.pc.onconnectionstatechange = () => {
      clearTimeout(this.#timer);
      const { connectionState } = this.pc;
      if (connectionState === 'disconnected')
        this.#timer = setTimeout(() => watch.onStutter(false), STUTTER_MS);
      if (connectionState === 'failed') watch.onStutter(true);
      watch.onState();
    };
  }

  /** Whether it is connected; null while that is undecided. */
  get isUp(): boolean | null {
    const { connectionState } = this.pc;
    if (connectionState === 'new' || connectionState === 'connecting') return null;
    return connectionState === 'connected';
  }

  async add(candidate: RTCIceCandidateInit | null): Promise<void> {
    // Errors of a closed connection are irrelevant.
    if (candidate !== null) await this.pc.addIceCandidate(candidate).catch(() => {});
  }

  close(): void {
    clearTimeout(this.#timer);
    this.pc.close();
  }
}

class Sender extends Connection {
  readonly #host: EngineHost;
  readonly #places = new Map<string, RTCRtpTransceiver>();
  #answered: (sdp: string) => void = () => {};

  constructor(host: EngineHost, watch: Watch) {
    super(host, 'send', watch);
    this.#host = host;
  }

  /** Sends only these tracks; an unused transceiver is reused for the next track of its source. */
  async sync(tracks: ReadonlyMap<string, LocalTrack>): Promise<void> {
    let isChanged = false;
    const turn = (place: RTCRtpTransceiver, direction: RTCRtpTransceiverDirection) => {
      isChanged ||= place.direction !== direction;
      place.direction = direction;
    };
    for (const [key, place] of this.#places) {
      if (tracks.has(key)) continue;
      await place.sender.replaceTrack(null);
      turn(place, 'inactive');
    }
    for (const [key, local] of tracks) {
      const place = this.#places.get(key);
      if (place === undefined) {
        this.#places.set(key, this.#add(local));
        isChanged = true;
      } else {
        await place.sender.replaceTrack(local.track);
        turn(place, 'sendonly');
      }
    }
    if (isChanged) await this.#offer();
  }

  async restart(): Promise<void> {
    await this.#offer({ iceRestart: true });
  }

  answered(sdp: string): void {
    this.#answered(sdp);
  }

  #add({ source, track }: LocalTrack): RTCRtpTransceiver {
    const layers = source === 'CAMERA' ? CAMERA_LAYERS : [{ maxBitrate: SCREEN_BITS_PER_SECOND }];
    const sendEncodings = track.kind === 'video' ? layers : [];
    return this.pc.addTransceiver(track, { direction: 'sendonly', sendEncodings });
  }

  async #offer(options: RTCOfferOptions = {}): Promise<void> {
    const offer = await this.pc.createOffer(options);
    const answer = new Promise<string>((resolve, reject) => {
      this.#answered = resolve;
      setTimeout(() => reject(new Error('the media server has not answered')), ANSWER_MS);
    });
    await this.pc.setLocalDescription(offer);
    const sources: Record<string, string> = {};
    for (const [key, { mid, direction }] of this.#places) {
      if (mid !== null && direction === 'sendonly') sources[mid] = key.split(' ')[0] ?? '';
    }
    this.#host.send({ op: 'publish', sdp: offer.sdp, sources });
    await this.pc.setRemoteDescription({ type: 'answer', sdp: await answer });
  }
}

class Receiver extends Connection {
  readonly #host: EngineHost;
  /** Streams handed to the room, by `mid`. */
  readonly #shown = new Map<string, RemoteStream>();
  #work: Promise<void> = Promise.resolve();

  constructor(host: EngineHost, watch: Watch) {
    super(host, 'receive', watch);
    this.#host = host;
  }

  /** Handles an offer. Offers are answered one after another. */
  take(sdp: string, streams: RemoteStream[]): void {
    this.#work = this.#work
      .then(() => this.#answer(sdp, streams))
      .catch((error: unknown) => {
        if (this.pc.signalingState !== 'closed') console.warn('media', error);
      });
  }

  async #answer(sdp: string, streams: RemoteStream[]): Promise<void> {
    if (this.pc.signalingState === 'closed') return;
    await this.pc.setRemoteDescription({ type: 'offer', sdp });
    const answer = await this.pc.createAnswer();
    await this.pc.setLocalDescription(answer);
    this.#host.send({ op: 'answer', sdp: answer.sdp });
    this.#show(streams);
  }

  override close(): void {
    super.close();
    this.#show([]);
  }

  #show(streams: RemoteStream[]): void {
    const isShown = (stream: RemoteStream) => {
      const before = this.#shown.get(stream.mid);
      return before?.identity === stream.identity && before.source === stream.source;
    };
    const former = [...this.#shown.values()];
    const fresh = streams.filter((stream) => !isShown(stream));
    this.#shown.clear();
    for (const stream of streams) this.#shown.set(stream.mid, stream);
    const nameOf = ({ identity, source }: RemoteStream) => `${source} ${identity}`;
    const present = new Set(streams.map(nameOf));
    const gone = new Map(former.map((stream) => [nameOf(stream), stream]));
    for (const [name, { identity, source }] of gone)
      if (!present.has(name)) this.#host.onTrackGone(identity, source);
    for (const { mid, identity, source } of fresh) {
      const place = this.pc.getTransceivers().find((one) => one.mid === mid);
      if (place !== undefined) this.#host.onTrack(identity, source, place.receiver.track);
    }
  }
}

function readStreams(value: unknown): RemoteStream[] {
  return Array.isArray(value) ? value : [];
}
