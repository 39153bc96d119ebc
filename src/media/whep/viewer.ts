import type { JanusClient, JanusHandle } from '../rooms/janus/client.ts';
import { JanusError } from '../rooms/janus/client.ts';
import { forJanus, type JanusOffer, toOfferError } from '../whip/janus-offer.ts';
import { LOOPBACK } from '../whip/loopback-socket.ts';
import { readOffer } from '../whip/offer.ts';
import { chooseMedia, plainAnswer, portsOf } from './answer.ts';
import { PacketSender } from './packet-sender.ts';
import type { PortPair } from './rtp-ports.ts';
import type { StreamFeed } from './stream-feed.ts';

export interface ViewerOptions {
  client: JanusClient;
  ports: PortPair;
  feed: StreamFeed;
  /** Session description, unmodified. */
  offer: string;
}

/** One viewer by WHEP, from its offer on (docs/decisions/whep.md#through-janus). */
export interface Viewer {
  /** SDP answer for the client. */
  readonly answer: string;
  /** Ports from which Janus forwards the viewer's RTCP. */
  readonly feedbackPorts: readonly number[];
  readonly sentBytes: number;
  /** Resolves when it has ended, for any reason. */
  readonly gone: Promise<void>;
  /** The viewer was heard of. */
  heard(): void;
  close(): Promise<void>;
}

/** Time for a client to connect after its answer. */
const CONNECT_MS = 15_000;
/**
 * Silence after which a viewer counts as gone: browsers send reports every second or two, and Janus does not
 * report a viewer that disappeared.
 */
const SILENT_MS = 15_000;
const LOOK_MS = 3000;

/**
 * @throws {InvalidOfferError} for an offer that cannot be answered.
 * @throws {JanusError} when Janus does not respond, or rejects.
 */
export async function openViewer(options: ViewerOptions): Promise<Viewer> {
  const offer = readOffer(options.offer);
  const chosen = chooseMedia(offer.media, options.feed.session()?.video?.codec ?? null);
  const offered = forJanus(offer);
  const viewer = new JanusViewer(options);
  try {
    await viewer.open(chosen, offered);
    return viewer;
  } catch (error) {
    await viewer.close();
    throw error;
  }
}

class JanusViewer implements Viewer {
  answer = '';
  feedbackPorts: readonly number[] = [];
  readonly gone: Promise<void>;
  readonly #options: ViewerOptions;
  readonly #end = Promise.withResolvers<void>();
  #handle: JanusHandle | null = null;
  #sender: PacketSender | null = null;
  #timer: NodeJS.Timeout | undefined;
  #heardMs = 0;
  #closing: Promise<void> | null = null;

  constructor(options: ViewerOptions) {
    this.#options = options;
    this.gone = this.#end.promise;
  }

  get sentBytes(): number {
    return this.#sender?.sentBytes ?? 0;
  }

  async open(chosen: ReturnType<typeof chooseMedia>, offered: JanusOffer): Promise<void> {
    const { client, ports } = this.#options;
    const handle = await client.attach(
      {
        onEvent() {},
        onTrickle() {},
        onPeer: (state) => (state === 'up' ? this.#connected() : void this.close()),
        onDetached: () => void this.close(),
      },
      'viewer',
    );
    this.#handle = handle;
    const asked = handle.send({ request: 'generate' }, { type: 'offer', sdp: offered.sdp });
    const { data } = await asked.catch(toOfferError);
    const taken = portsOf(descriptionIn(data));
    const track = (kind: 'audio' | 'video') => {
      const codec = chosen.find((one) => one.kind === kind)?.codec;
      const port = taken[kind];
      return codec === undefined || port === null ? null : { port, payloadType: codec.payloadType };
    };
    const [video, audio] = [track('video'), track('audio')];
    this.#sender = new PacketSender({ socket: ports.rtp, video, audio });
    this.feedbackPorts = [video, audio].flatMap((one) => (one === null ? [] : [one.port + 1]));
    const sdp = plainAnswer(chosen, LOOPBACK, ports.rtp.address().port);
    const { jsep } = await handle.send({ request: 'process', type: 'answer', sdp });
    if (jsep === null) throw new JanusError(0, 'Janus did not answer');
    this.answer = offered.answer(jsep.sdp);
    this.#timer = setTimeout(() => void this.close(), CONNECT_MS);
  }

  heard(): void {
    this.#heardMs = performance.now();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #connected(): void {
    const { feed } = this.#options;
    if (this.#closing !== null || this.#sender === null) return;
    clearTimeout(this.#timer);
    this.heard();
    this.#timer = setInterval(() => {
      if (performance.now() - this.#heardMs > SILENT_MS) void this.close();
    }, LOOK_MS);
    this.#sender.begin(feed.join(this.#sender), feed.hasPictures);
  }

  async #close(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#sender !== null) {
      this.#options.feed.leave(this.#sender);
      this.#sender.close();
    }
    // This notifies the browser of the end.
    await this.#handle?.detach();
    this.#end.resolve();
  }
}

function descriptionIn({ result }: Record<string, unknown>): string {
  if (typeof result !== 'object' || result === null || !('sdp' in result)) return '';
  return typeof result.sdp === 'string' ? result.sdp : '';
}
