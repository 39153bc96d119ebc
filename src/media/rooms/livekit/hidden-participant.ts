import { randomUUID } from 'node:crypto';
import { type ParticipantInfo, SignalRequest, SignalResponse, SignalTarget } from '@livekit/protocol';
import { AccessToken } from 'livekit-server-sdk';
import { WebSocket } from 'ws';
import type { LivekitServer } from './api.ts';
import { HIDDEN_IDENTITY_PREFIX } from './identities.ts';

export interface HiddenParticipantEvents {
  /** Called with new, changed and departed participants; at first with all. */
  onPeople(people: readonly ParticipantInfo[]): void;
  /** Called when the subscriptions have changed: respond with {@link HiddenParticipant.answer}. */
  onOffer(sdp: string): void;
  onCandidate(candidate: Record<string, unknown>): void;
  /** Called once, for any reason but `close`. */
  onLost(reason: string): void;
}

const TOKEN_SEC = 60;
const OPEN_MS = 5000;
/**
 * Newest supported protocol version:
 * https://github.com/livekit/protocol/blob/main/protobufs/livekit_rtc.proto
 */
const PROTOCOL = '15';

/**
 * Connection to LiveKit's signaling that is hidden from the room and sends nothing. As a recorder it may
 * subscribe to media that browsers permit only to each other.
 */
export class HiddenParticipant {
  readonly #socket: WebSocket;
  readonly #events: HiddenParticipantEvents;
  #pings: NodeJS.Timeout | undefined;
  #offerId = 0;
  #isClosed = false;

  private constructor(socket: WebSocket, events: HiddenParticipantEvents) {
    this.#socket = socket;
    this.#events = events;
    socket.on('message', (data) => {
      if (Buffer.isBuffer(data)) this.#take(SignalResponse.fromBinary(data));
    });
    socket.on('error', (error) => this.#end(error.message));
    socket.on('close', () => this.#end('the connection has closed'));
  }

  /** @throws {Error} when LiveKit is unreachable, or the room does not exist. */
  static async enter(
    server: LivekitServer,
    room: string,
    events: HiddenParticipantEvents,
  ): Promise<HiddenParticipant> {
    const { url, apiKey, apiSecret } = server;
    const token = new AccessToken(apiKey, apiSecret, {
      identity: `${HIDDEN_IDENTITY_PREFIX}${randomUUID()}`,
      ttl: TOKEN_SEC,
    });
    token.addGrant({
      ...{ roomJoin: true, room, hidden: true, recorder: true },
      ...{ canPublish: false, canPublishData: false, canSubscribe: true },
    });
    const authorization = `Bearer ${await token.toJwt()}`;
    const address = `${url}/rtc?auto_subscribe=0&protocol=${PROTOCOL}`;
    const socket = new WebSocket(address, { headers: { authorization }, handshakeTimeout: OPEN_MS });
    const visitor = new HiddenParticipant(socket, events);
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
      socket.once('close', () => reject(new Error('LiveKit closed the connection')));
    });
    return visitor;
  }

  subscribe(trackSid: string): void {
    this.#send({ case: 'subscription', value: { trackSids: [trackSid], subscribe: true } });
  }

  answer(sdp: string): void {
    this.#send({ case: 'answer', value: { type: 'answer', sdp, id: this.#offerId } });
  }

  candidate(candidate: Record<string, unknown> | null): void {
    const value = { candidateInit: JSON.stringify(candidate ?? {}), final: candidate === null };
    this.#send({ case: 'trickle', value: { ...value, target: SignalTarget.SUBSCRIBER } });
  }

  close(): void {
    this.#end(null);
    this.#socket.terminate();
  }

  #send(message: NonNullable<ConstructorParameters<typeof SignalRequest>[0]>['message']): void {
    if (this.#socket.readyState !== WebSocket.OPEN || message === undefined) return;
    this.#socket.send(new SignalRequest({ message }).toBinary());
  }

  #take({ message }: SignalResponse): void {
    if (this.#isClosed) return;
    switch (message.case) {
      case 'join':
        this.#keepAlive(message.value.pingInterval);
        this.#events.onPeople(message.value.otherParticipants);
        return;
      case 'update':
        this.#events.onPeople(message.value.participants);
        return;
      case 'offer':
        this.#offerId = message.value.id;
        this.#events.onOffer(message.value.sdp);
        return;
      case 'trickle': {
        const { target, candidateInit } = message.value;
        const candidate: unknown = JSON.parse(candidateInit);
        if (target === SignalTarget.SUBSCRIBER) this.#events.onCandidate({ ...Object(candidate) });
        return;
      }
      case 'leave':
        this.#end('LiveKit removed the participant');
        this.#socket.close();
    }
  }

  #keepAlive(everySec: number): void {
    if (everySec === 0) return;
    const ping = () => this.#send({ case: 'ping', value: BigInt(Math.round(performance.now())) });
    this.#pings = setInterval(ping, everySec * 1000).unref();
  }

  #end(reason: string | null): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#pings);
    if (reason !== null) this.#events.onLost(reason);
  }
}
