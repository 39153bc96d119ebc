import type { EngineHost, MediaEngine, TrackSource } from './media-engine.ts';
import {
  CLOSED,
  type ClientMessage,
  type MediaKind,
  type Moderation,
  PROTOCOL,
  type Published,
  type ServerMessage,
  type Welcome,
} from './protocol.ts';
import type { Outcome, Phase, RoomOptions, RoomState } from './room-state.ts';

const FIRST_WAIT_MS = 300;
const MAX_WAIT_MS = 8000;
const PING_MS = 4000;
const LEAVE_MS = 2000;
/** Time without a message after which a connection is treated as dead. */
const SILENT_MS = 9000;

const OUTCOMES: ReadonlyMap<number, Outcome> = new Map([
  [CLOSED.badMessage, 'BAD_MESSAGE'],
  [CLOSED.token, 'TOKEN'],
  [CLOSED.removed, 'REMOVED'],
  [CLOSED.notFound, 'NOT_FOUND'],
  [CLOSED.full, 'FULL'],
  [CLOSED.ended, 'ENDED'],
  [CLOSED.replaced, 'REPLACED'],
]);

/** One participant's connection to a room: signalling by the gateway, media by the engine that the room has. */
export class RoomClient {
  readonly state: RoomState = {
    phase: { name: 'connecting' },
    welcome: null,
    participants: new Map(),
    waitingRoom: [],
    mutedByHost: new Set(),
    recording: false,
    broadcast: false,
    hasMedia: true,
  };
  readonly #options: RoomOptions;
  readonly #tracks = new Map<TrackSource, readonly MediaStreamTrack[]>();
  readonly #muted = new Set<TrackSource>();
  #published: Published = { audio: false, video: false, screen: false };
  #socket: WebSocket | null = null;
  #engine: MediaEngine | null = null;
  #token: string;
  #resumeToken: string | null;
  #isRenewed = false;
  #attempt = 0;
  #heardAt = 0;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #pingTimer: ReturnType<typeof setInterval> | undefined;
  /** Messages are handled one after another, also those that wait for the engine to load. */
  #queue: Promise<void> = Promise.resolve();

  constructor(options: RoomOptions) {
    this.#options = options;
    this.#token = options.token;
    this.#resumeToken = options.resumeToken ?? null;
  }

  connect(): void {
    window.addEventListener('online', this.#tryNow);
    this.#open();
  }

  /** Ends a wait for the next attempt. */
  retry(): void {
    this.#tryNow();
  }

  leave(): void {
    this.#say({ type: 'leave' });
    // The gateway closes the connection after `leave`; if the client closed it, the gateway would treat it as
    // lost.
    const socket = this.#socket;
    this.#socket = null;
    setTimeout(() => socket?.close(), LEAVE_MS);
    this.#end('LEFT', '');
  }

  /**
   * Sends only these tracks of the source; an empty list unpublishes it. They persist through reconnections.
   */
  async publish(source: TrackSource, tracks: readonly MediaStreamTrack[]): Promise<void> {
    const before = this.#tracks.get(source) ?? [];
    if (before.length === tracks.length && tracks.every((track) => before.includes(track))) return;
    this.#tracks.set(source, tracks);
    this.#muted.delete(source);
    const isTakenDown = before.some(({ kind }) => tracks.every((track) => track.kind !== kind));
    if (isTakenDown) await this.#engine?.unpublish(source);
    if (tracks.length > 0) await this.#engine?.publish(tracks.map((track) => ({ source, track })));
    this.#tellPublished();
  }

  async setMuted(source: TrackSource, muted: boolean): Promise<void> {
    if (muted) this.#muted.add(source);
    else this.#muted.delete(source);
    await this.#engine?.setMuted(source, muted);
    this.#tellPublished();
  }

  chat(text: string): void {
    this.#say({ type: 'chat', text });
  }

  raiseHand(raised: boolean): void {
    this.#say({ type: 'hand', raised });
  }

  moderate(moderation: Moderation): void {
    this.#say({ type: 'moderate', ...moderation });
  }

  readonly #tryNow = () => {
    if (this.state.phase.name !== 'reconnecting') return;
    this.#attempt = 0;
    this.#open();
  };

  #open(): void {
    clearTimeout(this.#retryTimer);
    this.#drop();
    // The resume token for the seat comes first; if the seat is gone, the token may be valid for another one.
    const ways = this.#resumeToken === null ? [this.#token] : [this.#resumeToken, this.#token];
    const socket = new WebSocket(this.#options.url, [PROTOCOL, ...ways]);
    this.#socket = socket;
    this.#heardAt = performance.now();
    socket.addEventListener('message', ({ data }) => {
      if (socket !== this.#socket) return;
      this.#heardAt = performance.now();
      const message: ServerMessage = JSON.parse(String(data));
      this.#queue = this.#queue.then(() => this.#handle(message)).catch(console.error);
    });
    socket.addEventListener('close', ({ code, reason }) => {
      // Messages received before the close are handled before it.
      this.#queue = this.#queue.then(() => {
        if (socket === this.#socket) this.#lost(code, reason);
      });
    });
    this.#pingTimer = setInterval(() => this.#ping(socket), PING_MS);
  }

  /** Drops the connection without a message. */
  #drop(): void {
    clearInterval(this.#pingTimer);
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }

  #ping(socket: WebSocket): void {
    if (performance.now() - this.#heardAt > SILENT_MS) {
      if (socket === this.#socket) this.#lost(0, '');
      return;
    }
    this.#say({ type: 'ping' });
  }

  #lost(code: number, reason: string): void {
    this.#drop();
    if (this.state.phase.name === 'over') return;
    const outcome = OUTCOMES.get(code);
    if (outcome === 'TOKEN') {
      void this.#renew(reason);
      return;
    }
    if (outcome !== undefined) {
      this.#end(outcome, reason);
      return;
    }
    this.#attempt += 1;
    const longest = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (this.#attempt - 1));
    this.#retryTimer = setTimeout(() => this.#open(), longest * (0.5 + Math.random() / 2));
    this.#setPhase({ name: 'reconnecting', attempt: this.#attempt });
  }

  /** Requests another token when both have expired, once per connection. */
  async #renew(words: string): Promise<void> {
    const renew = this.#isRenewed ? undefined : this.#options.renew;
    this.#isRenewed = true;
    const token = await renew?.();
    if (this.state.phase.name === 'over') return;
    if (token === undefined || token === null) {
      this.#end('TOKEN', words);
      return;
    }
    this.#token = token;
    this.#resumeToken = null;
    this.#open();
  }

  #end(outcome: Outcome, words: string): void {
    window.removeEventListener('online', this.#tryNow);
    clearTimeout(this.#retryTimer);
    this.#drop();
    this.#closeEngine();
    this.#setPhase({ name: 'over', outcome, words });
  }

  #closeEngine(): void {
    this.#engine?.close();
    this.#engine = null;
  }

  async #handle(message: ServerMessage): Promise<void> {
    const { state } = this;
    const { listener } = this.#options;
    switch (message.type) {
      case 'welcome':
        await this.#welcome(message);
        return;
      case 'waiting':
        this.#attempt = 0;
        this.#setPhase({ name: 'waiting' });
        return;
      case 'signal':
        this.#engine?.signal(message.data);
        return;
      case 'chat':
        listener.onChat(message);
        return;
      case 'error':
        listener.onRefused(message.code, message.message);
        return;
      case 'muted':
        this.#setMutedByHost(message.kind, message.muted);
        return;
      case 'ended':
        this.#end(message.reason === 'KICKED' ? 'REMOVED' : 'ENDED', message.reason);
        return;
      case 'pong':
        return;
      case 'recording':
        state.recording = message.on;
        break;
      case 'broadcast':
        state.broadcast = message.on;
        break;
      case 'waitingRoom':
        state.waitingRoom = message.people;
        break;
      case 'engine':
        this.#engineChanged(message.state === 'up');
        break;
      default:
        this.#presence(message);
    }
    listener.onChange(state);
  }

  #presence(message: Extract<ServerMessage, { type: 'joined' | 'updated' | 'left' | 'hand' }>): void {
    const { participants } = this.state;
    const { listener } = this.#options;
    if (message.type === 'hand') {
      const known = participants.get(message.identity);
      if (known !== undefined) participants.set(message.identity, { ...known, hand: message.raised });
      return;
    }
    if (message.type === 'left') {
      const known = participants.get(message.identity);
      participants.delete(message.identity);
      if (known !== undefined) listener.onPresence(known, message.reason);
    } else {
      const isNew = !participants.has(message.participant.identity);
      participants.set(message.participant.identity, message.participant);
      if (isNew) listener.onPresence(message.participant, null);
    }
    this.#tellPeers();
  }

  async #welcome(welcome: Welcome): Promise<void> {
    const { state } = this;
    const isSame = state.welcome?.self.identity === welcome.self.identity;
    this.#attempt = 0;
    this.#isRenewed = false;
    this.#resumeToken = welcome.resumeToken;
    this.#options.onTokens?.({ token: this.#token, resumeToken: welcome.resumeToken });
    state.welcome = welcome;
    state.recording = welcome.recording;
    state.broadcast = welcome.broadcast === true;
    state.hasMedia = true;
    state.participants = new Map(
      [...welcome.participants, welcome.self].map((participant) => [participant.identity, participant]),
    );
    if (this.#engine !== null && isSame) this.#engine.restart();
    else if (!(await this.#startEngine(welcome))) return;
    this.#tellPeers();
    this.#tellPublished();
    this.#setPhase({ name: 'in' });
    for (const kind of ['AUDIO', 'VIDEO', 'SCREEN'] as const) {
      this.#setMutedByHost(kind, welcome.muted.includes(kind));
    }
  }

  #setMutedByHost(kind: MediaKind, isMuted: boolean): void {
    const { mutedByHost } = this.state;
    if (mutedByHost.has(kind) === isMuted) return;
    if (isMuted) mutedByHost.add(kind);
    else mutedByHost.delete(kind);
    this.#options.listener.onMuted(kind, isMuted);
  }

  async #startEngine(welcome: Welcome): Promise<boolean> {
    this.#closeEngine();
    const create = await this.#options.engines[welcome.engine]?.();
    if (this.state.phase.name === 'over') return false;
    if (create === undefined) {
      this.#end('NO_ENGINE', '');
      return false;
    }
    const { listener } = this.#options;
    const host: EngineHost = {
      self: welcome.self.identity,
      iceServers: welcome.iceServers,
      send: (data) => this.#say({ type: 'signal', data }),
      onTrack: (identity, source, track) => listener.onTrack(identity, source, track),
      onTrackGone: (identity, source) => listener.onTrackGone(identity, source),
      onState: (state) => {
        this.state.hasMedia = state === 'up';
        listener.onChange(this.state);
      },
    };
    const engine = create(host);
    this.#engine = engine;
    void this.#publishAll(engine);
    return true;
  }

  async #publishAll(engine: MediaEngine): Promise<void> {
    const tracks = [...this.#tracks].flatMap(([source, own]) => own.map((track) => ({ source, track })));
    if (tracks.length > 0) await engine.publish(tracks);
    for (const source of this.#muted) await engine.setMuted(source, true);
  }

  /** Handles the engine behind the gateway going down, or returning without its state. */
  #engineChanged(isUp: boolean): void {
    this.state.hasMedia = isUp;
    if (isUp) this.#engine?.restart();
  }

  #tellPeers(): void {
    const self = this.state.welcome?.self.identity;
    this.#engine?.setPeers([...this.state.participants.keys()].filter((identity) => identity !== self));
  }

  #tellPublished(): void {
    const sends = (source: TrackSource) =>
      !this.#muted.has(source) && (this.#tracks.get(source)?.length ?? 0) > 0;
    this.#published = { audio: sends('MICROPHONE'), video: sends('CAMERA'), screen: sends('SCREEN') };
    const { state } = this;
    const self = state.welcome?.self.identity;
    const known = self === undefined ? undefined : state.participants.get(self);
    if (known !== undefined) state.participants.set(known.identity, { ...known, ...this.#published });
    this.#say({ type: 'state', ...this.#published });
    this.#options.listener.onChange(state);
  }

  #say(message: ClientMessage): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #setPhase(phase: Phase): void {
    this.state.phase = phase;
    this.#options.listener.onChange(this.state);
  }
}
