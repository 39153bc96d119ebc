import { createServer, type Server, type Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { plainAddress } from '../../kernel/ip-block.ts';
import { withTimeout } from '../../kernel/timeout.ts';
import type { Logger } from '../../platform/logger.ts';
import type {
  IngestEndReason,
  IngestEngine,
  IngestHooks,
  IngestProtocol,
  IngestSession,
  IngestStats,
  Publication,
  PublishGrant,
  PublishRequest,
  RejectionIssue,
} from '../contract/index.ts';
import { timeRead } from '../longest-read.ts';
import { type ConnectionHost, type PublishRejection, RtmpConnection } from '../protocols/rtmp/connection.ts';
import { Broadcast } from './broadcast.ts';
import { ConnectionLimit, type ConnectionLimits, DEFAULT_CONNECTION_LIMITS } from './connection-limit.ts';
import { feed } from './flv-feed.ts';
import { close, listen } from './listen.ts';
import { PublishSession } from './publish-session.ts';

export interface IngestLimits extends ConnectionLimits {
  handshakeMs: number;
  /** Timeout from the end of the handshake to the publish command. */
  publishMs: number;
  /** Time without audio or video after which a publish ends as `idle`. */
  idleMs: number;
  /** Timeout of the authorization, which is retried until then while it fails. */
  authoriseMs: number;
  /** Timeout of the start hook, and of the wait for the end hook of a replaced session. */
  hookMs: number;
  readerQueueBytes: number;
}

const DEFAULT_LIMITS: IngestLimits = {
  handshakeMs: 10_000,
  publishMs: 10_000,
  idleMs: 10_000,
  authoriseMs: 5000,
  hookMs: 5000,
  ...DEFAULT_CONNECTION_LIMITS,
  readerQueueBytes: 8 * 1024 * 1024,
};

export interface EmbeddedRtmpOptions {
  host: string;
  /** 0 takes any free port; see `port`. */
  port: number;
  nodeId: string;
  log: Logger;
  clock: Clock;
  /** Names accepted as the app after the host; default: `live`. */
  apps?: readonly string[];
  limits?: Partial<IngestLimits>;
  /** Adds an RTMPS listener, or accepts RTMPS connections from `take` with `isShared`. */
  tls?: Certificate & { port: number };
  /**
   * Another process listens on the ports, counts the connections and passes them to `take`. The engine itself
   * listens only for programs of this machine, on a free port.
   */
  isShared?: boolean;
  /** Sockets that listen on the ports already. */
  handles?: { rtmp?: unknown; rtmps?: unknown };
}

const LOOPBACK = '127.0.0.1';

/** PEM texts. */
export interface Certificate {
  key: string;
  /** Certificate, followed by the intermediate ones. */
  cert: string;
}

/** Pause before a failed authorization is retried. */
const AUTHORISE_RETRY_MS = 500;

/** Connection that owns a session, as far as the engine needs it. */
type Publisher = Pick<RtmpConnection, 'closed' | 'dismiss'>;

export function createEmbeddedRtmp(options: EmbeddedRtmpOptions): EmbeddedRtmpEngine {
  return new EmbeddedRtmpEngine(options);
}

/** Default engine: our own publish-only RTMP server, in this process, without global state. */
export class EmbeddedRtmpEngine implements IngestEngine {
  #options: EmbeddedRtmpOptions;
  #limits: IngestLimits;
  #log: Logger;
  #hooks: IngestHooks | null = null;
  #servers: Server[] = [];
  #secure: TlsServer | undefined;
  #sockets = new Set<Socket>();
  #admitted: ConnectionLimit;
  #connections = new Set<RtmpConnection>();
  #sessions = new Map<string, PublishSession>();
  #byStream = new Map<string, PublishSession>();
  /** The last step in the queue of publishes that open on a stream, one at a time. */
  #opening = new Map<string, Promise<unknown>>();
  #timer: NodeJS.Timeout | undefined;
  #isRefusing = false;
  #ports = { rtmp: 0, rtmps: 0 };

  constructor(options: EmbeddedRtmpOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#admitted = new ConnectionLimit(this.#limits);
    this.#log = options.log;
  }

  /** Bound ports, known after `start`; `rtmps` is 0 without TLS. */
  get ports(): { rtmp: number; rtmps: number } {
    return { ...this.#ports };
  }

  /** @throws the listener's error (EADDRINUSE, EACCES); nothing is left listening then. */
  async start(hooks: IngestHooks): Promise<void> {
    this.#hooks = hooks;
    const { host, port, tls, handles, isShared = false } = this.#options;
    try {
      const plain = createServer((socket) => this.#onConnection(socket, 'rtmp'));
      const address = isShared ? { host: LOOPBACK, port: 0 } : { host, port };
      this.#ports.rtmp = await this.#listen(plain, address, handles?.rtmp);
      if (tls !== undefined) {
        this.#secure = this.#secureServer(tls);
        if (!isShared)
          this.#ports.rtmps = await this.#listen(this.#secure, { host, port: tls.port }, handles?.rtmps);
      }
    } catch (error) {
      await this.stop();
      throw error;
    }
    const { handshakeMs, publishMs, idleMs } = this.#limits;
    const everyMs = Math.min(500, Math.max(20, Math.min(handshakeMs, publishMs, idleMs) / 4));
    this.#timer = setInterval(() => this.#tick(), everyMs);
  }

  #secureServer({ key, cert }: Certificate): TlsServer {
    const server = createTlsServer({ key, cert, handshakeTimeout: this.#limits.handshakeMs });
    server.on('secureConnection', (socket) => this.#onConnection(socket, 'rtmps'));
    server.on('tlsClientError', (error) => this.#log.debug({ error: error.message }, 'rtmps: no TLS'));
    return server;
  }

  /** Accepts a connection that another process has admitted; nothing of it has been read. */
  take(socket: Socket, protocol: 'rtmp' | 'rtmps'): void {
    this.#track(socket);
    if (protocol === 'rtmp') this.#onConnection(socket, protocol);
    else if (this.#secure === undefined) socket.destroy();
    else this.#secure.emit('connection', socket);
  }

  /** Replaces the certificate for later handshakes. @throws when key and certificate do not match. */
  setCertificate({ key, cert }: Certificate): void {
    this.#secure?.setSecureContext({ key, cert });
  }

  /** Refuses new publishes with a message; open ones continue. */
  refusePublishes(): void {
    this.#isRefusing = true;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    const closed = this.#servers.map(close);
    this.#servers = [];
    const ends = [...this.#sessions.values()].map((session) => session.end('shutdown'));
    await withTimeout(Promise.all(ends), this.#limits.hookMs, null);
    for (const connection of this.#connections) connection.destroy();
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(closed);
  }

  feed({ sessionId }: IngestSession, reader: Writable, gatherMs?: number): void {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) reader.end();
    else feed(session.broadcast, reader, gatherMs);
  }

  async kick(sessionId: string, reason: IngestEndReason): Promise<void> {
    await this.#sessions.get(sessionId)?.end(reason);
  }

  refuse(sessionId: string, issue: RejectionIssue): void {
    this.#sessions.get(sessionId)?.refuse(issue);
  }

  list(): IngestSession[] {
    const publishing = [...this.#sessions.values()].filter((session) => session.publishing);
    return publishing.map((session) => session.describe());
  }

  stats(sessionId: string): IngestStats | null {
    return this.#sessions.get(sessionId)?.stats() ?? null;
  }

  async #listen(server: Server, address: { host: string; port: number }, handle: unknown): Promise<number> {
    server.prependListener('connection', (socket: Socket) => this.#admit(socket));
    const bound = await listen(server, address, handle);
    // Such as EMFILE at accept: no reason to die.
    server.on('error', (error) => this.#log.error({ err: error }, 'rtmp: listener error'));
    this.#servers.push(server);
    return bound;
  }

  /** Counts the TCP connection, of RTMPS too, before a byte of it is read. */
  #admit(socket: Socket): void {
    const address = plainAddress(socket.remoteAddress ?? '');
    if (!this.#admitted.admit(address)) {
      const connections = this.#admitted.count(address);
      this.#log.info({ ip: address, connections }, 'rtmp: too many connections');
      socket.destroy();
      return;
    }
    this.#track(socket);
    socket.once('close', () => this.#admitted.release(address));
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #onConnection(socket: Socket, protocol: IngestProtocol): void {
    if (socket.destroyed) return;
    const host: ConnectionHost = {
      apps: new Set(this.#options.apps ?? ['live']),
      handshakeMs: this.#limits.handshakeMs,
      publishMs: this.#limits.publishMs,
      accept: async (request, connection) =>
        this.#isRefusing
          ? 'unavailable'
          : this.#accept({ ...request, ip: connection.address, protocol }, connection).catch(
              (error: unknown): PublishRejection => {
                this.#log.error({ err: error }, 'ingest: accept failed');
                return 'unavailable';
              },
            ),
    };
    const connection = new RtmpConnection(socket, host, this.#log);
    this.#connections.add(connection);
    socket.once('close', () => this.#connections.delete(connection));
  }

  async publish(
    grant: PublishGrant,
    protocol: IngestProtocol,
    onEnded: (reason: IngestEndReason) => void,
  ): Promise<Publication | null> {
    let session: PublishSession | null = null;
    const publisher = { closed: false, dismiss: onEnded };
    // A connected encoder has priority.
    const isTaken = protocol === 'bridge' && this.#byStream.has(grant.streamId);
    if (!isTaken && !this.#isRefusing) session = await this.#enqueue(grant, protocol, publisher);
    if (session === null) return null;
    const { sessionId } = session;
    const opened = session;
    return {
      sessionId,
      media: (message) =>
        timeRead(
          () => opened.label,
          () => {
            opened.received(1, message.payload.length);
            opened.media(message);
          },
        ),
      end: (reason) => opened.end(reason),
    };
  }

  async #accept(
    request: PublishRequest,
    connection: RtmpConnection,
  ): Promise<PublishSession | PublishRejection> {
    const grant = await this.#authorise(request, connection);
    if (grant === null) {
      this.#log.info({ ip: request.ip }, 'ingest: publish rejected');
      return 'invalid-key';
    }
    return (await this.#enqueue(grant, request.protocol, connection)) ?? 'invalid-key';
  }

  async #enqueue(
    grant: PublishGrant,
    protocol: IngestProtocol,
    publisher: Publisher,
  ): Promise<PublishSession | null> {
    const previous = this.#opening.get(grant.streamId) ?? Promise.resolve();
    const opening = previous.then(() => this.#open(grant, protocol, publisher));
    const opened = opening.catch(() => null);
    this.#opening.set(grant.streamId, opened);
    try {
      return await opening;
    } finally {
      if (this.#opening.get(grant.streamId) === opened) this.#opening.delete(grant.streamId);
    }
  }

  /** Asks until there is an answer, since the database may be back in a moment. Rejects when there is none. */
  async #authorise(request: PublishRequest, publisher: Publisher): Promise<PublishGrant | null> {
    const deadlineMs = performance.now() + this.#limits.authoriseMs;
    for (;;) {
      const hooks = this.#hooks;
      if (hooks === null || publisher.closed) return null;
      const leftMs = Math.max(0, deadlineMs - performance.now());
      try {
        const answer = await withTimeout(hooks.authorise(request), leftMs, undefined);
        if (answer !== undefined) return answer;
      } catch (error) {
        if (performance.now() + AUTHORISE_RETRY_MS >= deadlineMs) throw error;
        await sleep(AUTHORISE_RETRY_MS);
        continue;
      }
      throw new Error('the stream key could not be checked in time');
    }
  }

  /** Replaces the stream's session, if there is one, and starts a new one. Serialized per stream. */
  async #open(
    grant: PublishGrant,
    protocol: IngestProtocol,
    publisher: Publisher,
  ): Promise<PublishSession | null> {
    const hooks = this.#hooks;
    const old = this.#byStream.get(grant.streamId);
    if (publisher.closed || hooks === null) return null;
    if (old !== undefined) await withTimeout(old.end('replaced'), this.#limits.hookMs, null);
    if (publisher.closed) return null;
    const sessionId = newId('ing');
    const session = new PublishSession({
      sessionId,
      nodeId: this.#options.nodeId,
      protocol,
      grant,
      broadcast: new Broadcast({ readerQueueBytes: this.#limits.readerQueueBytes }),
      hooks,
      clock: this.#options.clock,
      log: this.#log.child({ sessionId, streamId: grant.streamId }),
      onEnded: (reason) => {
        this.#forget(session);
        if (reason !== 'unpublish' && reason !== 'closed') publisher.dismiss(reason);
      },
    });
    // Readable already within the start hook, which may begin a packager.
    this.#sessions.set(sessionId, session);
    this.#byStream.set(grant.streamId, session);
    return (await session.start(this.#limits.hookMs)) ? session : null;
  }

  #forget(session: PublishSession): void {
    this.#sessions.delete(session.sessionId);
    if (this.#byStream.get(session.streamId) === session) this.#byStream.delete(session.streamId);
  }

  #tick(): void {
    const now = performance.now();
    for (const connection of this.#connections) connection.checkDeadline(now);
    for (const session of this.#sessions.values()) {
      if (session.publishing && session.silentMs(now) > this.#limits.idleMs) void session.end('idle');
    }
  }
}
