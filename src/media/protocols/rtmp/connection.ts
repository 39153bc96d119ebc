import type { Socket } from 'node:net';
import { plainAddress } from '../../../kernel/ip-block.ts';
import type { Logger } from '../../../platform/logger.ts';
import { READ_BUDGETS, ReadMeter } from '../../read-budget.ts';
import { ReadSlices } from '../../read-slices.ts';
import { type AmfValue, decodeAmf0, isAmfObject } from './amf0.ts';
import { ChunkReader, PUBLISHING_LIMITS, UNAUTHENTICATED_LIMITS } from './chunk-reader.ts';
import { ServerHandshake } from './handshake.ts';
import * as messages from './messages.ts';
import { encodeMessage, MessageType, type RtmpMessage, UserControl } from './messages.ts';
import { ProtocolError } from './protocol-error.ts';

/** Receiver of an accepted publisher's media. */
export interface PublishSink {
  /** Names the publish in the log. */
  readonly label: string;
  /** The publish is being ended because of its content: further input need not be read. */
  readonly isRefused: boolean;
  /** Counts messages of every type, and the bytes that carried them. */
  received(messages: number, bytes: number): void;
  /** Audio, video, data and aggregate messages. */
  media(message: RtmpMessage): void;
  /** Called when the encoder ended the publish, or its connection was lost. */
  ended(reason: 'unpublish' | 'closed'): void;
}

/** Reason why a publish is rejected. `unavailable`: the key could not be checked. */
export type PublishRejection = 'invalid-key' | 'unavailable';

/** Interface of the server that owns a connection. */
export interface ConnectionHost {
  apps: ReadonlySet<string>;
  handshakeMs: number;
  /** Timeout from the end of the handshake to the publish command. */
  publishMs: number;
  /** Never throws; may take seconds. */
  accept(
    request: { app: string; key: string },
    connection: RtmpConnection,
  ): Promise<PublishSink | PublishRejection>;
}

type Phase = 'handshake' | 'opened' | 'connected' | 'accepting' | 'publishing' | 'closing';

/** ffmpeg sends in chunks of the announced size: one for most frames. */
const OUTGOING_CHUNK_BYTES = 65_536;
const WINDOW_BYTES = 2_500_000;
const KEY_MAX_CHARS = 256;
/** Length including the query string. */
const APP_MAX_CHARS = 2048;
const MESSAGE_STREAMS_MAX = 16;
/**
 * FourCCs accepted in enhanced RTMP, independent of the ffmpeg version here. MP3 has its own number, which
 * every ffmpeg reads.
 */
const FOUR_CCS = ['avc1', 'hvc1', 'av01', 'vp09', 'mp4a', 'Opus'];
/** Input buffered while the key is being checked; beyond it the socket is paused. */
const HELD_INPUT_MAX_BYTES = 256 * 1024;
const HELD_INPUT_MAX_PIECES = 256;
/** Chunks between two looks at the clock. */
const MAX_CHUNKS_PER_STEP = 64;
/** Smallest interval between acknowledgements, in bytes, when an encoder requests more frequent ones. */
const MIN_ACK_WINDOW_BYTES = 8192;
/** Limit of unread output: our replies are small, so a peer that exceeds it floods us with pings. */
const HELD_OUTPUT_MAX_BYTES = 256 * 1024;
/** Time for a peer to read the last message before the socket is destroyed. */
const LINGER_MS = 2000;

const MEDIA_TYPES: ReadonlySet<number> = new Set([
  MessageType.audio,
  MessageType.video,
  MessageType.data,
  MessageType.dataAmf3,
  MessageType.aggregate,
]);

/**
 * One encoder's connection: handshake, connect, createStream, publish, media (Adobe RTMP 1.0). A protocol
 * error ends this connection and nothing else; every socket event is guarded.
 */
export class RtmpConnection {
  readonly address: string;
  #socket: Socket;
  #host: ConnectionHost;
  #log: Logger;
  #phase: Phase = 'handshake';
  #handshake = new ServerHandshake();
  #reader = new ChunkReader(UNAUTHENTICATED_LIMITS);
  #slices: ReadSlices;
  /** Applies until a publish is accepted, which has a budget of its own. */
  #meter = new ReadMeter(READ_BUDGETS.rtmpCommands);
  #countedMessages = 0;
  #uncountedBytes = 0;
  #outgoingChunkBytes = 128;
  #app = '';
  #messageStreams = 0;
  #publishStreamId = 0;
  #sink: PublishSink | null = null;
  #deadline: { at: number; reason: string } | null;
  #receivedBytes = 0;
  #acknowledgedBytes = 0;
  #ackWindowBytes = WINDOW_BYTES;
  #linger: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(socket: Socket, host: ConnectionHost, log: Logger) {
    this.#socket = socket;
    this.#host = host;
    this.#log = log;
    this.address = plainAddress(socket.remoteAddress ?? '');
    this.#deadline = { at: performance.now() + host.handshakeMs, reason: 'handshake took too long' };
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 15_000);
    this.#slices = new ReadSlices(
      () => this.#sink?.label ?? `connection from ${this.address}`,
      () => this.#corked(() => this.#process()),
    );
    socket.on('data', (data: Buffer) => this.#corked(() => this.#onData(data)));
    socket.on('error', (error) => this.#log.debug({ error: error.message }, 'rtmp: socket error'));
    socket.on('close', () => this.#guard(() => this.#onClose()));
  }

  get closed(): boolean {
    return this.#phase === 'closing';
  }

  /** Ends the connection if it has overrun a deadline; `now` as of `performance.now()`. */
  checkDeadline(now: number): void {
    if (this.#deadline !== null && now > this.#deadline.at) this.#fail(this.#deadline.reason);
  }

  /** Notifies the encoder that the server ended its publish, with the reason, and hangs up. */
  dismiss(reason: string): void {
    this.#guard(() =>
      this.#hangUp([
        messages.onStatus(this.#publishStreamId, 'status', 'NetConnection.Connect.Closed', reason),
      ]),
    );
  }

  destroy(): void {
    this.#phase = 'closing';
    this.#socket.destroy();
  }

  /** Sends all replies of an action in one packet. */
  #corked(action: () => void): void {
    this.#socket.cork();
    this.#guard(action);
    this.#socket.uncork();
  }

  #guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      if (error instanceof ProtocolError) this.#fail(error.message);
      else {
        this.#log.error({ err: error, ip: this.address }, 'rtmp: unexpected error');
        this.destroy();
      }
    }
  }

  #fail(reason: string): void {
    this.#log.info({ ip: this.address, phase: this.#phase, reason }, 'rtmp: connection rejected');
    this.destroy();
  }

  /** Pending input is handled first: it may contain the encoder's end of the publish. */
  #onClose(): void {
    this.#isClosed = true;
    clearTimeout(this.#linger);
    if (this.#slices.isInterrupted && this.#isReading) return;
    this.#phase = 'closing';
    const sink = this.#sink;
    this.#sink = null;
    sink?.ended('closed');
  }

  #onData(data: Buffer): void {
    if (this.#phase === 'closing') return;
    this.#receivedBytes += data.length;
    if (this.#phase === 'handshake') {
      const { reply, rest } = this.#handshake.push(data);
      if (reply !== null) this.#write(reply);
      if (rest === null) return;
      this.#phase = 'opened';
      this.#deadline = { at: performance.now() + this.#host.publishMs, reason: 'no publish in time' };
      this.#push(rest);
    } else {
      this.#push(data);
    }
    this.#process();
    this.#acknowledge();
  }

  #push(data: Buffer): void {
    this.#uncountedBytes += data.length;
    this.#reader.push(data);
  }

  /** Handles received input for one slice, up to the point where the key must be checked first. */
  #process(): void {
    const isAllRead = this.#slices.run(() => {
      if (!this.#isReading) return false;
      const message = this.#reader.next(MAX_CHUNKS_PER_STEP);
      if (message !== null) this.#handle(message);
      return message !== null || this.#reader.isInterrupted;
    });
    if (this.#phase === 'closing') return;
    this.#count();
    if (this.#isClosed) this.#onClose();
    else if (!isAllRead || this.#isHeldUp) this.#socket.pause();
    else if (this.#socket.isPaused()) this.#socket.resume();
  }

  get #isReading(): boolean {
    return this.#phase !== 'accepting' && this.#phase !== 'closing' && this.#sink?.isRefused !== true;
  }

  get #isHeldUp(): boolean {
    const { pendingBytes, pendingPieces } = this.#reader;
    return (
      this.#sink?.isRefused === true ||
      pendingBytes > HELD_INPUT_MAX_BYTES ||
      pendingPieces > HELD_INPUT_MAX_PIECES
    );
  }

  #count(): void {
    const messages = this.#reader.messageCount - this.#countedMessages;
    const bytes = this.#uncountedBytes;
    this.#countedMessages += messages;
    this.#uncountedBytes = 0;
    if (this.#sink !== null) this.#sink.received(messages, bytes);
    else if (this.#meter.add(messages, bytes) > 0) throw new ProtocolError('too much before the publish');
  }

  #acknowledge(): void {
    const unacknowledged = this.#receivedBytes - this.#acknowledgedBytes;
    if (this.closed || unacknowledged < this.#ackWindowBytes) return;
    this.#acknowledgedBytes = this.#receivedBytes;
    this.#send(messages.acknowledgement(this.#receivedBytes));
  }

  #handle(message: RtmpMessage): void {
    if (MEDIA_TYPES.has(message.type)) {
      // Only an accepted publisher has a sink: media of any other connection is dropped here.
      this.#sink?.media(message);
      return;
    }
    switch (message.type) {
      case MessageType.command:
        this.#command(message, message.payload);
        return;
      case MessageType.commandAmf3:
        // One byte is the format; encoders put AMF0 after it.
        this.#command(message, message.payload.subarray(1));
        return;
      case MessageType.windowAckSize:
        if (message.payload.length >= 4) {
          this.#ackWindowBytes = Math.max(MIN_ACK_WINDOW_BYTES, message.payload.readUInt32BE(0));
        }
        return;
      case MessageType.userControl:
        this.#userControl(message.payload);
        return;
    }
  }

  #userControl(payload: Buffer): void {
    if (payload.length < 6 || payload.readUInt16BE(0) !== UserControl.pingRequest) return;
    this.#send(messages.userControl(UserControl.pingResponse, payload.readUInt32BE(2)));
  }

  #command(message: RtmpMessage, payload: Buffer): void {
    const [name, transaction, argument, ...rest] = decodeAmf0(payload);
    if (typeof name !== 'string') throw new ProtocolError('command without a name');
    const id = typeof transaction === 'number' ? transaction : 0;
    switch (name) {
      case 'connect':
        this.#connect(id, argument);
        return;
      case 'releaseStream':
      case 'FCPublish':
        this.#send(messages.command(0, '_result', id, [null, undefined]));
        return;
      case 'createStream':
        if (++this.#messageStreams > MESSAGE_STREAMS_MAX) throw new ProtocolError('too many message streams');
        this.#send(messages.command(0, '_result', id, [null, this.#messageStreams]));
        return;
      case 'publish':
        this.#publish(message.streamId, rest[0]);
        return;
      case 'play':
      case 'play2':
        this.#refuse(
          message.streamId,
          'NetStream.Play.StreamNotFound',
          'This server accepts publishers only.',
        );
        return;
      case 'FCUnpublish':
      case 'deleteStream':
      case 'closeStream':
        this.#unpublish();
        return;
    }
  }

  #connect(transaction: number, argument: AmfValue): void {
    if (this.#phase !== 'opened') throw new ProtocolError('connect sent twice');
    const wanted = isAmfObject(argument) && typeof argument.app === 'string' ? argument.app : '';
    // To look for the last of many slashes takes the square of their number.
    const isLong = wanted.length > APP_MAX_CHARS;
    const app = isLong ? '' : wanted.replace(/\?.*$/s, '').replace(/\/+$/, '');
    if (isLong || !this.#host.apps.has(app)) {
      const info = {
        level: 'error',
        code: 'NetConnection.Connect.InvalidApp',
        description: 'Unknown application.',
      };
      this.#hangUp([messages.command(0, '_error', transaction, [null, info])]);
      return;
    }
    this.#app = app;
    this.#phase = 'connected';
    this.#send(messages.windowAckSize(WINDOW_BYTES));
    this.#send(messages.setPeerBandwidth(WINDOW_BYTES));
    this.#send(messages.setChunkSize(OUTGOING_CHUNK_BYTES));
    this.#outgoingChunkBytes = OUTGOING_CHUNK_BYTES;
    const properties = { fmsVer: 'FMS/3,0,1,123', capabilities: 31 };
    const info = {
      level: 'status',
      code: 'NetConnection.Connect.Success',
      description: 'Connection succeeded.',
      objectEncoding: 0,
      fourCcList: FOUR_CCS,
    };
    this.#send(messages.command(0, '_result', transaction, [properties, info]));
  }

  #publish(streamId: number, name: AmfValue): void {
    if (this.#phase !== 'connected') throw new ProtocolError('publish out of order');
    const key = typeof name === 'string' ? name.replace(/\?.*$/s, '').replace(/^\/+/, '') : '';
    this.#publishStreamId = streamId;
    if (key === '' || key.length > KEY_MAX_CHARS) {
      this.#refuse(streamId, 'NetStream.Publish.BadName', 'Invalid stream key.');
      return;
    }
    this.#phase = 'accepting';
    this.#deadline = null;
    void this.#host.accept({ app: this.#app, key }, this).then((sink) => {
      this.#guard(() => this.#onAccepted(sink));
    });
  }

  #onAccepted(sink: PublishSink | PublishRejection): void {
    if (this.#phase !== 'accepting') {
      if (typeof sink !== 'string') sink.ended('closed');
      return;
    }
    const streamId = this.#publishStreamId;
    if (sink === 'unavailable') {
      this.#refuse(streamId, 'NetStream.Publish.Failed', 'The server is temporarily unavailable. Try again.');
      return;
    }
    if (sink === 'invalid-key') {
      this.#refuse(streamId, 'NetStream.Publish.BadName', 'Invalid stream key.');
      return;
    }
    this.#sink = sink;
    this.#phase = 'publishing';
    this.#reader.setLimits(PUBLISHING_LIMITS);
    this.#send(messages.userControl(UserControl.streamBegin, streamId));
    this.#send(messages.onStatus(streamId, 'status', 'NetStream.Publish.Start', 'Publishing.'));
    this.#process();
  }

  #unpublish(): void {
    if (this.#phase !== 'publishing') return;
    const sink = this.#sink;
    this.#sink = null;
    sink?.ended('unpublish');
    const streamId = this.#publishStreamId;
    this.#hangUp([
      messages.userControl(UserControl.streamEof, streamId),
      messages.onStatus(streamId, 'status', 'NetStream.Unpublish.Success', 'Publishing ended.'),
    ]);
  }

  #refuse(streamId: number, code: string, description: string): void {
    this.#hangUp([messages.onStatus(streamId, 'error', code, description)]);
  }

  /** Sends the last messages, then closes; further input of the peer is read and discarded. */
  #hangUp(lastWords: RtmpMessage[]): void {
    if (this.#phase === 'closing') return;
    for (const message of lastWords) this.#send(message);
    this.#phase = 'closing';
    this.#deadline = null;
    this.#socket.resume();
    this.#socket.end();
    this.#linger = setTimeout(() => this.#socket.destroy(), LINGER_MS);
  }

  #send(message: RtmpMessage): void {
    this.#write(encodeMessage(message, this.#outgoingChunkBytes));
  }

  #write(bytes: Buffer): void {
    if (this.#socket.writableLength > HELD_OUTPUT_MAX_BYTES) throw new ProtocolError('peer does not read');
    this.#socket.write(bytes);
  }
}
