import { randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';
import type { JanusLink } from './link-file.ts';

type Json = Record<string, unknown>;

/** Session description in the format of Janus. */
export interface Jsep {
  type: 'offer' | 'answer';
  sdp: string;
}

/** Response or asynchronous event of the plugin. */
export interface PluginEvent {
  data: Json;
  jsep: Jsep | null;
}

/** Asynchronous events of a handle. */
export interface HandleEvents {
  onEvent(event: PluginEvent): void;
  /** Called with a candidate, or null for the end of candidates. */
  onTrickle(candidate: Json | null): void;
  /** Called when its peer connection is up, or has closed. */
  onPeer(state: 'up' | 'hangup'): void;
  /** Called when Janus has detached the handle. */
  onDetached(): void;
}

/** Handle attached to a plugin. */
export interface JanusHandle {
  /** @throws {JanusError} with the plugin's code when it rejects the request. */
  send(body: Json, jsep?: Jsep): Promise<PluginEvent>;
  trickle(candidate: Json | null): void;
  /** Idempotent; resolves when Janus has detached the handle, or is gone. */
  detach(): Promise<void>;
}

/** Janus rejected a request, or did not respond. */
export class JanusError extends Error {
  /** Code of the plugin or the core; 0 when there was no response. */
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
/** Interval of keep-alives: Janus ends a session after 60 s of silence. */
const KEEPALIVE_MS = 25_000;

interface Waiting {
  resolve(message: Json): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
  /** Whether the response follows an acknowledgement. */
  isLater: boolean;
}

/**
 * Session of Janus's API over a WebSocket (https://janus.conf.meetecho.com/docs/rest.html): requests by their
 * transaction, a keep-alive, and handles of the plugins.
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

  /** @throws {JanusError} when there is no Janus at the link, or it rejects the secret. */
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
      // A missing response means that Janus has hung.
      this.#request({ janus: 'keepalive', session_id: this.#session }).catch(() => this.close());
    }, KEEPALIVE_MS).unref();
  }

  /** Called once, when the connection has ended for any reason but `close`. */
  onClose(listener: () => void): void {
    this.#onClose = listener;
    if (this.#isClosed) listener();
  }

  /** @throws {JanusError} when it does not respond in time. */
  async ping(): Promise<void> {
    await this.#request({ janus: 'ping' });
  }

  /** @param plugin a seat in a room, a feed of plain RTP, or a viewer of such a feed. */
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
    const refusal = errorOf(message);
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

/** The core reports errors as `error`, the plugin as `error_code` within a response. */
function errorOf(message: Json): JanusError | null {
  if (message.janus === 'error') {
    const { code, reason } = objectOf(message.error);
    return new JanusError(numberOf(code), String(reason));
  }
  const { error_code: code, error } = objectOf(objectOf(message.plugindata).data);
  return code === undefined ? null : new JanusError(numberOf(code), String(error));
}

/** Returns the objects of a list in a message; an empty list for any other value. */
export const listOf = (value: unknown): Json[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : [];
