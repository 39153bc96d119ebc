import type { Logger } from '../../platform/logger.ts';
import type { IngestEngine, WhepOffer, WhepPort, WhepRejection } from '../contract/index.ts';
import type { FfmpegProgram } from '../ffmpeg/program.ts';
import { JanusClient } from '../rooms/janus/client.ts';
import { readLink } from '../rooms/janus/link-file.ts';
import { InvalidOfferError } from '../whip/offer.ts';
import type { OpusPassthrough } from '../whip/opus-passthrough.ts';
import { type CompatibilityReports, incompatibleReason } from './compatibility.ts';
import { openPortPair, type PortPair } from './rtp-ports.ts';
import { StreamFeed } from './stream-feed.ts';
import { openViewer, type Viewer } from './viewer.ts';

export interface WhepManagerOptions {
  engine: Pick<IngestEngine, 'list' | 'feed'>;
  port: WhepPort;
  nodeId: string;
  ffmpeg: FfmpegProgram;
  /** The Opus of publishes by WHIP. */
  direct: Pick<OpusPassthrough, 'listen'>;
  /** File with the connection data of Janus. */
  linkFile: string;
  /** Maximum viewers of this node, and of one stream. */
  limits: { viewers: number; perStream: number };
  notes: Pick<CompatibilityReports, 'note'>;
  log: Logger;
}

/** Delivers the publishes of this process to viewers by WHEP (docs/decisions/whep.md). */
export interface WhepManager {
  /** Releases the viewers of an earlier process. */
  recover(): Promise<void>;
  /** Answers pending viewers, and disconnects those no longer allowed. Never rejects. */
  sync(): Promise<void>;
  stop(): Promise<void>;
}

/** Rejection of a viewer. */
class Refused extends Error {
  readonly why: WhepRejection;

  constructor(why: WhepRejection, words: string) {
    super(words);
    this.why = why;
  }
}

interface Watching {
  sessionId: string;
  streamId: string;
  /** null until the offer is answered. */
  viewer: Viewer | null;
}

const FULL = 'The limit of real-time viewers is reached. Play HLS, or try again later.';
const NO_JANUS = 'Real-time playback is currently unavailable. Play HLS, or try again in a moment.';

export function createWhepManager(options: WhepManagerOptions): WhepManager {
  const manager = new Manager(options);
  return {
    recover: () => options.port.started(options.nodeId),
    sync: () => manager.sync(),
    stop: () => manager.stop(),
  };
}

class Manager {
  readonly #options: WhepManagerOptions;
  readonly #watching = new Map<string, Watching>();
  readonly #feeds = new Map<string, StreamFeed>();
  readonly #byFeedback = new Map<number, Viewer>();
  #janus: Promise<JanusClient> | null = null;
  #ports: Promise<PortPair> | null = null;
  #syncing: Promise<void> | null = null;
  #isAgain = false;
  #isStopping = false;

  constructor(options: WhepManagerOptions) {
    this.#options = options;
  }

  sync(): Promise<void> {
    this.#isAgain = true;
    this.#syncing ??= this.#run();
    return this.#syncing;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#syncing;
    await Promise.all([...this.#watching.values()].map(({ viewer }) => viewer?.close()));
    await Promise.all([...this.#feeds.values()].map((feed) => feed.stop()));
    (await this.#janus?.catch(() => null))?.close();
    const ports = await this.#ports?.catch(() => null);
    ports?.rtp.close();
    ports?.rtcp.close();
  }

  async #run(): Promise<void> {
    const { log } = this.#options;
    do {
      this.#isAgain = false;
      await this.#look().catch((error: unknown) => log.warn({ err: error }, 'cannot list WHEP viewers'));
    } while (this.#isAgain && !this.#isStopping);
    this.#syncing = null;
  }

  async #look(): Promise<void> {
    const { port, nodeId, engine, linkFile, log } = this.#options;
    if ((await readLink(linkFile)) === null) return;
    port.isThere();
    const streamIds = engine.list().map(({ streamId }) => streamId);
    if (streamIds.length > 0) {
      for (const offered of await port.take(nodeId, streamIds))
        this.#answer(offered).catch((error: unknown) =>
          log.error({ err: error }, 'cannot answer a WHEP offer'),
        );
    }
    for (const [streamId, feed] of this.#feeds) {
      const session = feed.session();
      if (session !== undefined && incompatibleReason(session) !== null) this.#letGo(streamId);
    }
    const known = [...this.#watching.values()].filter(({ viewer }) => viewer !== null);
    if (known.length === 0) return;
    const sent = new Map(known.map(({ sessionId, viewer }) => [sessionId, viewer?.sentBytes ?? 0]));
    const wanted = await port.carried(nodeId, sent);
    for (const { sessionId, viewer } of known) if (!wanted.has(sessionId)) void viewer?.close();
  }

  async #answer({ sessionId, streamId, offer }: WhepOffer): Promise<void> {
    const { port } = this.#options;
    const watching: Watching = { sessionId, streamId, viewer: null };
    this.#watching.set(sessionId, watching);
    let viewer: Viewer;
    try {
      viewer = await this.#open(streamId, offer);
    } catch (error) {
      this.#forget(watching);
      const { why, message } = this.#refusalOf(error, streamId);
      return port.refused(sessionId, why, message);
    }
    watching.viewer = viewer;
    for (const from of viewer.feedbackPorts) this.#byFeedback.set(from, viewer);
    void viewer.gone.then(() => this.#forget(watching));
    await port.answered(sessionId, viewer.answer);
  }

  /** @throws {Refused} */
  async #open(streamId: string, offer: string): Promise<Viewer> {
    const { limits, notes } = this.#options;
    const all = [...this.#watching.values()];
    const isFull =
      all.length > limits.viewers || all.filter((one) => one.streamId === streamId).length > limits.perStream;
    if (isFull || this.#isStopping) throw new Refused('FULL', FULL);
    const feed = this.#feedOf(streamId);
    const lack = await feed.lack();
    if (lack !== null) {
      notes.note(streamId, lack);
      throw new Refused('SIGNAL', lack);
    }
    const [client, ports] = await Promise.all([this.#client(), this.#portPair()]);
    return openViewer({ client, ports, feed, offer });
  }

  #refusalOf(error: unknown, streamId: string): Refused {
    if (error instanceof Refused) return error;
    if (error instanceof InvalidOfferError) return new Refused('OFFER', error.message);
    this.#options.log.warn({ err: error, streamId }, 'Janus did not accept a WHEP viewer');
    return new Refused('FULL', NO_JANUS);
  }

  #forget(watching: Watching): void {
    const { port, log } = this.#options;
    const { sessionId, streamId, viewer } = watching;
    if (!this.#watching.delete(sessionId)) return;
    for (const from of viewer?.feedbackPorts ?? []) this.#byFeedback.delete(from);
    if ([...this.#watching.values()].every((one) => one.streamId !== streamId)) {
      void this.#feeds.get(streamId)?.stop();
      this.#feeds.delete(streamId);
    }
    if (viewer === null) return;
    port
      .ended(sessionId)
      .catch((error: unknown) => log.warn({ err: error }, 'the end of a WHEP session could not be stored'));
  }

  #feedOf(streamId: string): StreamFeed {
    const known = this.#feeds.get(streamId);
    if (known !== undefined) return known;
    const { engine, ffmpeg, direct, log } = this.#options;
    const onUnfit = () => this.#letGo(streamId);
    const feed = new StreamFeed({ engine, streamId, ffmpeg, direct, log, onUnfit });
    this.#feeds.set(streamId, feed);
    return feed;
  }

  /** All who watch a stream. */
  #letGo(streamId: string): void {
    for (const one of this.#watching.values()) if (one.streamId === streamId) void one.viewer?.close();
  }

  /** One connection to Janus for all viewers. */
  #client(): Promise<JanusClient> {
    const open = async () => {
      const link = await readLink(this.#options.linkFile);
      if (link === null) throw new Error('Janus is not running');
      const client = await JanusClient.connect(link);
      client.onClose(() => {
        this.#janus = null;
        for (const { viewer } of this.#watching.values()) void viewer?.close();
      });
      return client;
    };
    if (this.#janus === null) {
      const opening = open();
      this.#janus = opening;
      opening.catch(() => {
        if (this.#janus === opening) this.#janus = null;
      });
    }
    return this.#janus;
  }

  #portPair(): Promise<PortPair> {
    const { log } = this.#options;
    const open = async () => {
      const pair = await openPortPair((error) => log.warn({ err: error }, 'WebRTC viewers receive no media'));
      pair.rtcp.on('message', (_packet, { port }) => this.#byFeedback.get(port)?.heard());
      return pair;
    };
    if (this.#ports === null) {
      const opening = open();
      this.#ports = opening;
      opening.catch(() => {
        if (this.#ports === opening) this.#ports = null;
      });
    }
    return this.#ports;
  }
}
