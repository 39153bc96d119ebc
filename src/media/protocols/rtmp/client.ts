import type { Socket } from 'node:net';
import type { PushUrl } from '../../../kernel/push-url.ts';
import { READ_BUDGETS, ReadMeter } from '../../read-budget.ts';
import { ReadSlices } from '../../read-slices.ts';
import { PushError, sanitizeRemoteMessage, toPushError, type Who } from '../../restream/failure.ts';
import { type AmfValue, decodeAmf0, encodeAmf0, isAmfObject } from './amf0.ts';
import { ChunkReader, PUBLISHING_LIMITS, UNAUTHENTICATED_LIMITS } from './chunk-reader.ts';
import { ClientHandshake } from './handshake.ts';
import { splitAggregate } from './media-messages.ts';
import {
  acknowledgement,
  command,
  encodeMessage,
  MessageType,
  type RtmpMessage,
  setChunkSize,
  UserControl,
  userControl,
} from './messages.ts';
import { ProtocolError } from './protocol-error.ts';

/** Chunk size accepted by every server; OBS uses it too. */
export const CHUNK_BYTES = 4096;
const FLASH_VERSION = 'FMLE/3.0 (compatible; Marquee)';
const CONNECT = 1;
const RELEASE = 2;
const FC_PUBLISH = 3;
const CREATE_STREAM = 4;
const PUBLISH = 5;
/** A live stream of this name, or else a recorded one (section 7.2.2.1). */
const LIVE_OR_RECORDED = -2000;
const MEDIA: ReadonlySet<number> = new Set([
  MessageType.audio,
  MessageType.video,
  MessageType.data,
  MessageType.dataAmf3,
  MessageType.aggregate,
]);
const ENDS: ReadonlySet<string> = new Set([
  'NetStream.Play.UnpublishNotify',
  'NetStream.Play.Stop',
  'NetStream.Play.Complete',
]);
/** Chunks between two looks at the clock. */
const MAX_CHUNKS_PER_STEP = 64;
/** Smallest interval between acknowledgements, in bytes, when a server requests more frequent ones. */
const MIN_ACK_WINDOW_BYTES = 8192;
/** Limit of unread replies: a server that exceeds it floods us with pings. */
const MAX_UNREAD_BYTES = 256 * 1024;

export interface RtmpClientOptions {
  socket: Socket;
  address: PushUrl;
  /** Key of the stream to publish or play. */
  streamKey: string;
  /** The server takes the broadcast: media may be written; or it will send it. */
  onAccepted(): void;
  onFailure(failure: PushError): void;
  /** Plays instead of publishing, if set. */
  play?: RtmpPlay;
}

export interface RtmpPlay {
  /**
   * Receives an audio, video or metadata message, never an aggregate; its payload is valid until the next
   * one.
   */
  onMedia(message: RtmpMessage): void;
  /** Called when the server announces the end. */
  onEnded(): void;
}

/**
 * Client side of a publish or a play (Adobe RTMP 1.0): handshake, connect, createStream, publish or play.
 * Responses of the server are read within tight limits; the media it plays within those of an encoder.
 */
export class RtmpClient {
  readonly #options: RtmpClientOptions;
  readonly #handshake = new ClientHandshake();
  readonly #reader = new ChunkReader(UNAUTHENTICATED_LIMITS);
  readonly #who: Who;
  readonly #slices: ReadSlices;
  #meter = new ReadMeter(READ_BUDGETS.rtmpReplies);
  #countedMessages = 0;
  /** This client has paused the socket; others pause it as well. */
  #isPaused = false;
  #isShaken = false;
  #isAccepted = false;
  #isAsking = false;
  #isFailed = false;
  #messageStream = 0;
  #received = 0;
  #acknowledged = 0;
  #ackWindow = 2_500_000;

  constructor(options: RtmpClientOptions) {
    this.#options = options;
    this.#who = options.play === undefined ? 'destination' : 'source';
    const { socket, address } = options;
    this.#slices = new ReadSlices(
      () => `${this.#who} ${address.host}`,
      () => this.#guard(() => this.#process()),
    );
    socket.setNoDelay(true);
    socket.on('data', (data: Buffer) => this.#onData(data));
    socket.write(this.#handshake.begin());
  }

  /** Message stream that carries the media. */
  get messageStream(): number {
    return this.#messageStream;
  }

  /** Reports whether the key was sent, and no response has arrived yet. */
  get isAsking(): boolean {
    return this.#isAsking && !this.#isAccepted;
  }

  /** Ends the publish as an encoder does. */
  leave(): void {
    if (!this.#isAccepted) return;
    this.#send(command(0, 'FCUnpublish', PUBLISH + 1, [null, this.#options.streamKey]));
    this.#send(command(0, 'deleteStream', PUBLISH + 2, [null, this.#messageStream]));
  }

  #onData(data: Buffer): void {
    this.#guard(() => {
      this.#received += data.length;
      this.#count(0, data.length);
      this.#read(data);
      if (this.#received - this.#acknowledged < this.#ackWindow) return;
      this.#acknowledged = this.#received;
      this.#send(acknowledgement(this.#received >>> 0));
    });
  }

  #guard(read: () => void): void {
    try {
      read();
    } catch (error) {
      // Thrown from here it would end the process, and with it all others that it carries.
      this.#isFailed = true;
      this.#options.onFailure(toPushError(error, this.#who));
    }
  }

  /** @throws {PushError} */
  #count(messages: number, bytes: number): void {
    if (this.#meter.add(messages, bytes) > 0) {
      throw new PushError('normal', `The ${this.#who} sent more data than expected.`);
    }
  }

  #read(data: Buffer): void {
    if (this.#isShaken) this.#reader.push(data);
    else {
      const { reply, rest } = this.#handshake.push(data);
      if (reply !== null) this.#options.socket.write(reply);
      if (rest === null) return;
      this.#isShaken = true;
      this.#connect();
      this.#reader.push(rest);
    }
    this.#process();
  }

  /** Handles received input for one slice. */
  #process(): void {
    const { socket } = this.#options;
    // A pause by other code while messages are handled is checked below.
    if (this.#isPaused) socket.resume();
    this.#isPaused = false;
    const isAllRead = this.#slices.run(() => {
      if (this.#isFailed) return false;
      const message = this.#reader.next(MAX_CHUNKS_PER_STEP);
      this.#count(this.#reader.messageCount - this.#countedMessages, 0);
      this.#countedMessages = this.#reader.messageCount;
      if (message !== null) this.#onMessage(message);
      return message !== null || this.#reader.isInterrupted;
    });
    if (isAllRead || socket.isPaused()) return;
    socket.pause();
    this.#isPaused = true;
  }

  #send(message: RtmpMessage): void {
    const { socket, play } = this.#options;
    // When publishing, media is queued there as well, which its writer limits.
    if (play !== undefined && socket.writableLength > MAX_UNREAD_BYTES) {
      throw new ProtocolError('it does not read from the connection');
    }
    socket.write(encodeMessage(message, CHUNK_BYTES));
  }

  #connect(): void {
    const { scheme, host, port, app } = this.#options.address;
    const tcUrl = `${scheme}://${host}:${port}/${app}`;
    const { socket } = this.#options;
    socket.cork();
    // Before it takes effect, so in chunks of the first size: it is short.
    this.#send(setChunkSize(CHUNK_BYTES));
    this.#send(command(0, 'connect', CONNECT, [{ app, type: 'nonprivate', flashVer: FLASH_VERSION, tcUrl }]));
    socket.uncork();
  }

  #onMessage(message: RtmpMessage): void {
    const { type, payload } = message;
    const { play } = this.#options;
    if (play !== undefined && MEDIA.has(type)) this.#onMedia(play, message);
    else if (type === MessageType.windowAckSize && payload.length >= 4) {
      this.#ackWindow = Math.max(MIN_ACK_WINDOW_BYTES, payload.readUInt32BE(0));
    } else if (type === MessageType.userControl) {
      const isPing = payload.length >= 6 && payload.readUInt16BE(0) === UserControl.pingRequest;
      if (isPing) this.#send(userControl(UserControl.pingResponse, payload.readUInt32BE(2)));
      if (payload.length >= 2 && payload.readUInt16BE(0) === UserControl.streamEof) play?.onEnded();
    } else if (type === MessageType.command) this.#onCommand(decodeAmf0(payload));
    else if (type === MessageType.commandAmf3) this.#onCommand(decodeAmf0(payload.subarray(1)));
  }

  #onMedia(play: RtmpPlay, message: RtmpMessage): void {
    const isAggregate = message.type === MessageType.aggregate;
    const parts = isAggregate ? splitAggregate(message) : [message];
    if (isAggregate) this.#count(parts.length, 0);
    for (const part of parts) play.onMedia(part);
  }

  #onCommand([name, transaction, ...args]: AmfValue[]): void {
    if (name === '_result' && transaction === CONNECT) this.#publishSoon();
    else if (name === '_result' && transaction === CREATE_STREAM) this.#publish(args[1]);
    else if (name === '_error' && (transaction === CONNECT || transaction === CREATE_STREAM)) {
      this.#options.onFailure(this.#refusal(args[1]));
    } else if (name === 'onStatus') this.#onStatus(args[1]);
    else if (name === 'close')
      this.#options.onFailure(new PushError('normal', `The ${this.#who} closed the connection.`));
  }

  #publishSoon(): void {
    const { socket, streamKey, play } = this.#options;
    if (play !== undefined) {
      this.#send(command(0, 'createStream', CREATE_STREAM, [null]));
      return;
    }
    socket.cork();
    this.#send(command(0, 'releaseStream', RELEASE, [null, streamKey]));
    this.#send(command(0, 'FCPublish', FC_PUBLISH, [null, streamKey]));
    this.#send(command(0, 'createStream', CREATE_STREAM, [null]));
    socket.uncork();
  }

  #publish(stream: AmfValue): void {
    if (typeof stream !== 'number' || !Number.isInteger(stream) || stream < 0 || stream >= 2 ** 32) {
      throw new ProtocolError('it returned no stream ID');
    }
    this.#messageStream = stream;
    this.#isAsking = true;
    const { streamKey, play } = this.#options;
    if (play === undefined) this.#send(command(stream, 'publish', PUBLISH, [null, streamKey, 'live']));
    else {
      this.#reader.setLimits(PUBLISHING_LIMITS);
      this.#meter = new ReadMeter(READ_BUDGETS.rtmpPull);
      this.#send(command(stream, 'play', PUBLISH, [null, streamKey, LIVE_OR_RECORDED]));
    }
  }

  #onStatus(info: AmfValue): void {
    const { level, code } = statusOf(info);
    const { play } = this.#options;
    if (play !== undefined && ENDS.has(code)) play.onEnded();
    else if (code === (play === undefined ? 'NetStream.Publish.Start' : 'NetStream.Play.Start')) {
      if (this.#isAccepted) return;
      this.#isAccepted = true;
      this.#options.onAccepted();
    } else if (level === 'error' || /Rejected|Failed|Closed|BadName|Denied|NotFound/.test(code)) {
      this.#options.onFailure(this.#refusal(info));
    }
  }

  /** Converts a rejection to an error: its cause decides whether it is retried. */
  #refusal(info: AmfValue): PushError {
    const { code, description } = statusOf(info);
    const said = sanitizeRemoteMessage(description === '' ? code : description, [this.#options.streamKey]);
    const behind = said === '' ? '.' : `: ${said}`;
    const who = this.#who;
    if (/StreamNotFound/.test(code)) return new PushError('normal', `The source has no such stream${behind}`);
    if (/authmod=/.test(description)) {
      return new PushError('fatal', `The ${who} requires a user name and password, which is not supported.`);
    }
    if (/InvalidApp/.test(code) || /invalid app|application .*not/i.test(description)) {
      return new PushError('fatal', `The ${who} does not know the application in the URL${behind}`);
    }
    if (/codec|unsupported|not supported/i.test(`${code} ${description}`)) {
      return new PushError(
        'fatal',
        `The destination does not support the encoding of the broadcast${behind}`,
      );
    }
    if (/BadName|Denied|Unauthorized|Rejected|auth|key/i.test(`${code} ${description}`)) {
      return new PushError('refused', `The ${who} rejected the stream key${behind}`);
    }
    return new PushError(
      'normal',
      `The ${who} rejected or ended the ${who === 'source' ? 'play' : 'publish'}${behind}`,
    );
  }
}

/** Maximum characters of each text; a status needs one line. */
const MAX_STATUS = 1000;

function statusOf(info: AmfValue): { level: string; code: string; description: string } {
  const text = (value: AmfValue) => (typeof value === 'string' ? value.slice(0, MAX_STATUS) : '');
  if (info === undefined || !isAmfObject(info)) return { level: '', code: '', description: text(info) };
  return { level: text(info.level), code: text(info.code), description: text(info.description) };
}

/** `@setDataFrame` before the metadata of a stream, so that a server stores it. */
export const SET_DATA_FRAME = encodeAmf0(['@setDataFrame']);
