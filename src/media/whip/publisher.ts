import { randomInt, randomUUID } from 'node:crypto';
import type { Socket } from 'node:dgram';
import type { Logger } from '../../platform/logger.ts';
import { Feeder } from '../bridges/feeder.ts';
import type { IngestEngine, PublishGrant } from '../contract/index.ts';
import type { FfmpegProgram } from '../ffmpeg/program.ts';
import { timeRead } from '../longest-read.ts';
import { READ_BUDGETS, ReadMeter } from '../read-budget.ts';
import { JanusClient, JanusError, type JanusHandle } from '../rooms/janus/client.ts';
import { type JanusLink, readLink } from '../rooms/janus/link-file.ts';
import { type AudioEncoder, createAudioEncoder } from './aac-encoder.ts';
import { forJanus, type JanusOffer, toOfferError } from './janus-offer.ts';
import { LOOPBACK, openLoopbackSocket } from './loopback-socket.ts';
import { assertPublishable, type OfferedMedia, readOffer } from './offer.ts';
import type { OpusPassthrough } from './opus-passthrough.ts';
import { PublisherMedia } from './publisher-media.ts';

export interface PublisherOptions {
  engine: Pick<IngestEngine, 'publish' | 'refuse'>;
  grant: PublishGrant;
  /** Session description, unmodified. */
  offer: string;
  ffmpeg: FfmpegProgram;
  /** Receiver of the original audio, in addition to the publish. */
  sound: Pick<OpusPassthrough, 'tell'>;
  /** File with the connection data of Janus. */
  linkFile: string;
  log: Logger;
}

/** One publish by WHIP (RFC 9725), from its offer on (docs/decisions/whip.md#through-janus). */
export interface Publisher {
  /** SDP answer for the client. */
  readonly answer: string;
  /** Resolves when it has ended, for any reason. */
  readonly gone: Promise<void>;
  /** @param isFinal otherwise the signal waits for the client to reconnect, as after a broken connection. */
  close(isFinal: boolean): Promise<void>;
}

const SSRC_AT = 8;
/** Interval of keyframe requests: browsers send keyframes only on request. */
const KEYFRAME_SEC = { STANDARD: 2, LOW: 1 } as const;
const DEFAULT_KBPS = 8000;
/** Time for a client to connect after its answer, and to publish after connecting. */
const STEP_MS = 15_000;
/**
 * Time to wait for the end after a closed connection: some encoders, such as OBS, close it before they
 * announce the end.
 */
const LAST_WORD_MS = 2000;
/** Keyframe request (PLI, RFC 4585, section 6.3.1). */
const PICTURE_LOSS = Buffer.from('81ce00020000000000000000', 'hex');

type Json = Record<string, unknown>;

/**
 * @throws {InvalidOfferError} for an offer that cannot be answered.
 * @throws {JanusError} when Janus does not run, or rejects.
 */
export async function openPublisher(options: PublisherOptions): Promise<Publisher> {
  const offer = readOffer(options.offer);
  assertPublishable(offer);
  const offered = forJanus(offer);
  const link = await readLink(options.linkFile);
  if (link === null) throw new JanusError(0, 'Janus is not running');
  const { log } = options;
  const client = await JanusClient.connect(link);
  const socket = await openLoopbackSocket((error) =>
    log.warn({ err: error }, 'cannot read a WebRTC publish session'),
  ).catch((error: unknown) => {
    client.close();
    throw error;
  });
  const publisher = new JanusPublisher(options, { client, socket, link, offered, media: offer.media });
  try {
    await publisher.open();
    return publisher;
  } catch (error) {
    await publisher.close(true);
    throw error;
  }
}

interface Means {
  client: JanusClient;
  socket: Socket;
  link: JanusLink;
  offered: JanusOffer;
  media: readonly OfferedMedia[];
}

class JanusPublisher implements Publisher {
  answer = '';
  readonly gone: Promise<void>;
  readonly #options: PublisherOptions;
  readonly #means: Means;
  readonly #room = randomUUID();
  readonly #end = Promise.withResolvers<void>();
  readonly #feeder: Feeder;
  readonly #media: PublisherMedia;
  readonly #ssrcs = { audio: randomInt(1, 2 ** 31), video: randomInt(2 ** 31, 2 ** 32) };
  readonly #coder: AudioEncoder;
  readonly #meters = {
    audio: new ReadMeter(READ_BUDGETS.whipAudio),
    video: new ReadMeter(READ_BUDGETS.whipVideo),
  };
  #isOverBudget = false;
  #handle: JanusHandle | null = null;
  /** Port on which Janus accepts keyframe requests; null until known. */
  #askPort: number | null = null;
  #closing: Promise<void> | null = null;
  /** Until the client has taken its next step. */
  #deadline: NodeJS.Timeout | undefined;
  /** Since its connection was closed. */
  #lastWord: NodeJS.Timeout | undefined;

  constructor(options: PublisherOptions, means: Means) {
    this.#options = options;
    this.#means = means;
    this.gone = this.#end.promise;
    const { engine, grant, sound, ffmpeg, log } = options;
    this.#feeder = new Feeder({
      ...{ engine, grant, protocol: 'whip' },
      // The ingest ends a publisher that falls silent.
      onActive: () => clearTimeout(this.#deadline),
      onEnd: () => void this.close(true),
    });
    this.#coder = createAudioEncoder({
      ...{ ffmpeg, log },
      onTag: (tag) => this.#feeder.message({ ...tag, streamId: 0, payload: Buffer.from(tag.payload) }),
      onError: (error) => this.#failed(error),
    });
    this.#media = new PublisherMedia({
      onPicture: (tag) => this.#feeder.message({ ...tag, streamId: 0 }),
      onSound: (packet) => {
        this.#coder.packet(packet.ms, packet.data);
        const { sessionId } = this.#feeder;
        if (sessionId !== null) sound.tell(sessionId, packet);
      },
      askForPicture: () => this.#askForPicture(),
    });
  }

  async open(): Promise<void> {
    const { client, socket, link, offered } = this.#means;
    const { grant } = this.#options;
    client.onClose(() => void this.close(false));
    const handle = await client.attach({
      onEvent: () => {},
      onTrickle: () => {},
      onPeer: (state) => {
        if (state === 'hangup') this.#hungUp();
        else this.#connected(handle);
      },
      onDetached: () => void this.close(false),
    });
    this.#handle = handle;
    const bitrate = (grant.maxBitrateKbps ?? DEFAULT_KBPS) * 1000;
    const keyframes = KEYFRAME_SEC[grant.latencyMode ?? 'STANDARD'];
    await handle.send({
      ...{ request: 'create', admin_key: link.adminKey, room: this.#room, is_private: true, publishers: 1 },
      ...{ bitrate, fir_freq: keyframes, audiocodec: 'opus', videocodec: 'h264', audiolevel_ext: false },
    });
    await handle.send({ request: 'join', ptype: 'publisher', room: this.#room, id: PUBLISHER });
    socket.on('message', (packet) => this.#take(packet));
    const asked = handle.send({ request: 'publish' }, { type: 'offer', sdp: offered.sdp });
    const { jsep } = await asked.catch(toOfferError);
    if (jsep === null) throw new JanusError(0, 'Janus did not answer');
    this.answer = offered.answer(jsep.sdp);
    this.#expect('connect');
  }

  /**
   * Starts the deadline of the next step: a client that misses it is closed, because it occupies a slot in
   * Janus.
   */
  #expect(step: 'connect' | 'publish'): void {
    clearTimeout(this.#deadline);
    if (this.#closing !== null) return;
    this.#deadline = setTimeout(() => {
      const { streamId } = this.#options.grant;
      this.#options.log.info({ streamId, step }, 'a WHIP client timed out');
      void this.close(true);
    }, STEP_MS);
  }

  #askForPicture(): void {
    const port = this.#askPort;
    if (port !== null && this.#closing === null)
      this.#means.socket.send(PICTURE_LOSS, port, LOOPBACK, () => {});
  }

  close(isFinal: boolean): Promise<void> {
    this.#closing ??= this.#close(isFinal);
    return this.#closing;
  }

  async #close(isFinal: boolean): Promise<void> {
    clearTimeout(this.#deadline);
    clearTimeout(this.#lastWord);
    const { client, socket } = this.#means;
    // A room would outlive the session that created it.
    await this.#handle?.send({ request: 'destroy', room: this.#room }).catch(() => {});
    client.close();
    socket.close();
    await Promise.all([this.#feeder.end(isFinal), this.#coder.stop()]);
    this.#end.resolve();
  }

  /** The client may reconnect unless it announced the end. */
  #hungUp(): void {
    clearTimeout(this.#lastWord);
    if (this.#closing === null) this.#lastWord = setTimeout(() => void this.close(false), LAST_WORD_MS);
  }

  #connected(handle: JanusHandle): void {
    // It may have been closed in the interim.
    if (this.#closing !== null) return;
    this.#expect('publish');
    this.#handOn(handle).catch((error: unknown) => this.#failed(error));
  }

  #failed(error: unknown): void {
    this.#options.log.warn({ err: error }, 'cannot forward a WebRTC publish session');
    void this.close(false);
  }

  /** Makes Janus forward the received packets here. */
  async #handOn(handle: JanusHandle): Promise<void> {
    const { link, socket, offered, media } = this.#means;
    const { port } = socket.address();
    const streams = media.map(({ kind, isSimulcast }, index) => {
      // Forwards the largest layer received; otherwise it would be the smallest.
      const pictures = kind === 'video' ? { rtcp_port: port, simulcast: isSimulcast } : {};
      return { mid: offered.mids[index], host: LOOPBACK, port, ssrc: this.#ssrcs[kind], ...pictures };
    });
    const of = { admin_key: link.adminKey, room: this.#room, publisher_id: PUBLISHER };
    const { data } = await handle.send({ request: 'rtp_forward', ...of, host: LOOPBACK, streams });
    for (const { local_rtcp_port: askPort } of listOf(data.forwarders)) {
      if (typeof askPort === 'number') this.#askPort = askPort;
    }
    this.#askForPicture();
  }

  /** Takes a packet. An error in the packets of one client ends its publish, not the process. */
  #take(packet: Buffer): void {
    try {
      timeRead(
        () => `WHIP publish of ${this.#options.grant.streamId}`,
        () => this.#packet(packet),
      );
    } catch (error) {
      this.#options.log.warn({ err: error }, 'cannot read the packets of a WebRTC publish session');
      void this.close(true);
    }
  }

  #packet(packet: Buffer): void {
    if (packet.length <= SSRC_AT + 4 || this.#closing !== null || this.#isOverBudget) return;
    const ssrc = packet.readUInt32BE(SSRC_AT);
    const kind = KINDS.find((one) => ssrc === this.#ssrcs[one]);
    if (kind === undefined) return;
    if (this.#meters[kind].add(1, packet.length) > 0) this.#endOverBudget();
    else this.#media.packet(kind, packet);
  }

  #endOverBudget(): void {
    this.#isOverBudget = true;
    const { sessionId } = this.#feeder;
    if (sessionId === null) void this.close(true);
    else this.#options.engine.refuse(sessionId, 'BITRATE_OVER_PLAN');
  }
}

const PUBLISHER = 'publisher';
const KINDS = ['video', 'audio'] as const;

const listOf = (value: unknown): Json[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : [];
