import { randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';
import type { JanusLink } from './link-file.ts';

type Json = Record<string, unknown>;

/** A session description as Janus takes and gives it. */
export interface Jsep {
  type: 'offer' | 'answer';
  sdp: string;
}

/** What the plugin answers, or tells by itself. */
export interface PluginEvent {
  data: Json;
  jsep: Jsep | null;
}

/** What a handle is told beside its answers. */
export interface HandleEvents {
  onEvent(event: PluginEvent): void;
  /** A candidate, or null for the end of them. */
  onTrickle(candidate: Json | null): void;
  /** Its peer connection came up, or has gone. */
  onPeer(state: 'up' | 'hangup'): void;
  /** Janus has let go of it. */
  onDetached(): void;
}

/** One place in a plugin. */
export interface JanusHandle {
  /** @throws {JanusError} with the plugin's code where it refuses. */
  send(body: Json, jsep?: Jsep): Promise<PluginEvent>;
  trickle(candidate: Json | null): void;
  /** Idempotent; resolves when Janus has let go, or is gone. */
  detach(): Promise<void>;
}

/** Janus has refused, or not answered. */
export class JanusError extends Error {
  /** The plugin's or the core's number; 0 where there was no answer. */
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const PLUGINS = {
  room: 'janus.plugin.videoroom',
  feed: 'janus.plugin.streaming',
  viewer: 'janus.plugin.nosip',
} as const;
const ANSWER_MS = 5000;
/** Janus gives up a session after 60 s of silence. */
const KEEPALIVE_MS = 25_000;

interface Waiting {
  resolve(message: Json): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
  /** The answer comes after an acknowledgement. */
  isLater: boolean;
}

/**
 * One session of Janus's API over a WebSocket (https://janus.conf.meetecho.com/docs/rest.html): requests by their
 * transaction, a keep-alive, and handles of the video room plugin.
 */
export class JanusClient {
  readonly #socket: WebSocket;
  readonly #link: JanusLink;
  readonly #waiting = new Map<string, Waiting>();
  readonly #handles = new Map<number, HandleEvents>();
  #session = 0;
  #keepalive: NodeJS.Timeout | undefined;
  #isClosed = false;
  #onClose: () => void = () => {};

  private constructor(link: JanusLink) {
    this.#link = link;
    this.#socket = new WebSocket(`ws://127.0.0.1:${link.port}`, 'janus-protocol', {
      perMessageDeflate: false,
      handshakeTimeout: ANSWER_MS,
    });
    this.#socket.on('message', (data) => this.#take(String(data)));
    this.#socket.on('error', () => this.#end());
    this.#socket.on('close', () => this.#end());
  }

  /** @throws {JanusError} when there is no Janus at the link, or it does not know the secret. */
  static async connect(link: JanusLink): Promise<JanusClient> {
    const client = new JanusClient(link);
    try {
      await client.#open();
      return client;
    } catch (error) {
      client.close();
      throw error;
    }
  }

  async #open(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#socket.once('open', () => resolve());
      this.#socket.once('close', () => reject(new JanusError(0, 'Janus cannot be reached')));
    });
    this.#session = idOf(await this.#request({ janus: 'create' }));
    this.#keepalive = setInterval(() => {
      // One that does not answer has hung.
      this.#request({ janus: 'keepalive', session_id: this.#session }).catch(() => this.close());
    }, KEEPALIVE_MS).unref();
  }

  /** Called once, when the connection has gone for whatever reason but `close`. */
  onClose(listener: () => void): void {
    this.#onClose = listener;
    if (this.#isClosed) listener();
  }

  /** @throws {JanusError} when it does not answer in time. */
  async ping(): Promise<void> {
    await this.#request({ janus: 'ping' });
  }

  /** @param plugin a place in a room, a feed of media that comes by plain RTP, or a viewer of such media. */
  async attach(events: HandleEvents, plugin: keyof typeof PLUGINS = 'room'): Promise<JanusHandle> {
    const asked = { janus: 'attach', session_id: this.#session, plugin: PLUGINS[plugin] };
    const handle = idOf(await this.#request(asked));
    this.#handles.set(handle, events);
    const of = { session_id: this.#session, handle_id: handle };
    return {
      send: async (body, jsep) => {
        const told = { janus: 'message', ...of, body, ...(jsep === undefined ? {} : { jsep }) };
        return eventOf(await this.#request(told));
      },
      trickle: (candidate) => {
        this.#request({ janus: 'trickle', ...of, candidate: candidate ?? { completed: true } }).catch(
          () => {},
        );
      },
      detach: async () => {
        if (!this.#handles.delete(handle)) return;
        await this.#request({ janus: 'detach', ...of }).catch(() => {});
      },
    };
  }

  close(): void {
    this.#onClose = () => {};
    this.#end();
    this.#socket.terminate();
  }

  #request(message: Json): Promise<Json> {
    if (this.#isClosed) return Promise.reject(new JanusError(0, 'Janus cannot be reached'));
    const transaction = randomUUID();
    const answer = new Promise<Json>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(transaction);
        reject(new JanusError(0, 'Janus does not respond'));
      }, ANSWER_MS);
      this.#waiting.set(transaction, { resolve, reject, timer, isLater: message.janus === 'message' });
    });
    this.#socket.send(JSON.stringify({ ...message, transaction, apisecret: this.#link.secret }), () => {});
    return answer;
  }

  #take(text: string): void {
    const message = objectOf(JSON.parse(text));
    const { janus, transaction } = message;
    const waiting = typeof transaction === 'string' ? this.#waiting.get(transaction) : undefined;
    if (janus === 'ack' && waiting?.isLater === true) return;
    if (waiting === undefined || typeof transaction !== 'string') {
      this.#tell(message);
      return;
    }
    this.#waiting.delete(transaction);
    clearTimeout(waiting.timer);
    const refusal = refusalOf(message);
    if (refusal === null) waiting.resolve(message);
    else waiting.reject(refusal);
  }

  #tell(message: Json): void {
    const events = this.#handles.get(numberOf(message.sender));
    if (events === undefined) return;
    if (message.janus === 'event') events.onEvent(eventOf(message));
    else if (message.janus === 'trickle') events.onTrickle(candidateOf(message.candidate));
    else if (message.janus === 'webrtcup') events.onPeer('up');
    else if (message.janus === 'hangup') events.onPeer('hangup');
    else if (message.janus === 'detached') {
      this.#handles.delete(numberOf(message.sender));
      events.onDetached();
    }
  }

  #end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#keepalive);
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new JanusError(0, 'Janus has stopped'));
    }
    this.#waiting.clear();
    this.#handles.clear();
    this.#onClose();
  }
}

const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
const numberOf = (value: unknown) => (typeof value === 'number' ? value : 0);

function idOf(message: Json): number {
  return numberOf(objectOf(message.data).id);
}

function eventOf(message: Json): PluginEvent {
  const { type, sdp } = objectOf(message.jsep);
  const isJsep = (type === 'offer' || type === 'answer') && typeof sdp === 'string';
  return { data: objectOf(objectOf(message.plugindata).data), jsep: isJsep ? { type, sdp } : null };
}

function candidateOf(value: unknown): Json | null {
  const candidate = objectOf(value);
  return candidate.completed === true ? null : candidate;
}

/** The core says `error`, the plugin `error_code` within an answer. */
function refusalOf(message: Json): JanusError | null {
  if (message.janus === 'error') {
    const { code, reason } = objectOf(message.error);
    return new JanusError(numberOf(code), String(reason));
  }
  const { error_code: code, error } = objectOf(objectOf(message.plugindata).data);
  return code === undefined ? null : new JanusError(numberOf(code), String(error));
}

/** Returns the objects of a list in a message; none for what is no list. */
export const listOf = (value: unknown): Json[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : [];
