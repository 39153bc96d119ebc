import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../platform/logger.ts';
import type { IngestEngine, IngestSession } from '../contract/index.ts';
import type { FfmpegProgram } from '../ffmpeg/program.ts';
import { readVideoPacket, type VideoPacket } from '../protocols/codec/flv-video.ts';
import { lengthBytesOf } from '../protocols/codec/nal-units.ts';
import { FlvReader, type FlvTag } from '../protocols/flv/reader.ts';
import { FlvTagType } from '../protocols/flv/tags.ts';
import type { OpusPassthrough } from '../whip/opus-passthrough.ts';
import { AudioFeed } from './audio-feed.ts';
import { INCOMPATIBLE_REASONS, incompatibleReason } from './compatibility.ts';
import { h264Payloads, parameterSetsOf } from './h264-packets.ts';
import { Timeline } from './timeline.ts';

/** One video frame, as the payloads of its packets. */
export interface VideoFrame {
  ms: number;
  /** It references no earlier frame. */
  isKey: boolean;
  payloads: readonly Buffer[];
}

/** Viewer of a feed. */
export interface FeedListener {
  picture(picture: VideoFrame): void;
  /** @param ticks at 48 kHz, on the timeline of the video. @param data a packet of Opus. */
  sound(ticks: number, data: Buffer): void;
}

interface Options {
  engine: Pick<IngestEngine, 'list' | 'feed'>;
  streamId: string;
  ffmpeg: FfmpegProgram;
  /** The Opus of publishes by WHIP. */
  direct: Pick<OpusPassthrough, 'listen'>;
  log: Logger;
  /** Called when the current publish is incompatible. */
  onUnfit(): void;
}

const LOOK_MS = 250;
/** Gathering time of the feed: frames are sent as they arrive, those between keyframes included. */
const AT_ONCE = 0;
/** Frames needed to detect whether they are reordered. */
const REORDER_PROBE_FRAMES = 6;
const TELLING_MS = 1000;
/** Rounding tolerance: encoders round each timestamp, while B-frames are off by at least one frame. */
const ROUNDING_MS = 1;
/** Limit of the GOP sent to a new viewer in a burst; beyond it, the viewer begins at the next keyframe. */
const GROUP = { pictures: 150, bytes: 2 ** 20 } as const;

/** One stream for WebRTC viewers: video as sent by the encoder, and audio as Opus. */
export class StreamFeed {
  readonly #options: Options;
  readonly #listeners = new Set<FeedListener>();
  readonly #ending = new AbortController();
  readonly #line = new Timeline();
  readonly #sound: AudioFeed;
  readonly #told = Promise.withResolvers<string | null>();
  readonly #running: Promise<void>;
  #sets: Buffer[] = [];
  #lengthBytes = 4;
  /** Delay of presentation after decoding, constant for all frames when there are no B-frames. */
  #compositionMs: number | null = null;
  #pictures = 0;
  /** Since the last keyframe; null before the first one, and when it is too much. */
  #group: VideoFrame[] | null = null;
  #groupBytes = 0;

  constructor(options: Options) {
    this.#options = options;
    const { ffmpeg, log } = options;
    this.#sound = new AudioFeed({
      ffmpeg,
      log,
      onPacket: (ticks, data) => {
        for (const listener of this.#listeners) listener.sound(ticks, data);
      },
    });
    this.#running = this.#run();
  }

  get hasPictures(): boolean {
    return this.session()?.video !== undefined;
  }

  /** Returns the publish being played; undefined when there is none. */
  session(): IngestSession | undefined {
    const { engine, streamId } = this.#options;
    return engine.list().find((session) => session.streamId === streamId);
  }

  /**
   * Returns the message why it cannot be played; null when it can. Resolves when that is known, or after a
   * second.
   */
  async lack(): Promise<string | null> {
    const session = this.session();
    const lack = session === undefined ? null : incompatibleReason(session);
    if (lack !== null || session?.video === undefined) return lack;
    return Promise.race([this.#told.promise, sleep(TELLING_MS, null)]);
  }

  /** @returns what to begin with; empty where that is the next keyframe. */
  join(listener: FeedListener): readonly VideoFrame[] {
    this.#listeners.add(listener);
    return this.#group ?? [];
  }

  leave(listener: FeedListener): void {
    this.#listeners.delete(listener);
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#running;
    await this.#sound.stop();
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      const session = this.session();
      if (session !== undefined) await this.#follow(session);
      await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** Until the publish ends. */
  async #follow(session: IngestSession): Promise<void> {
    const { engine, direct } = this.#options;
    const isDirect = session.protocol === 'whip';
    this.#line.begin();
    this.#compositionMs = null;
    this.#group = null;
    this.#sound.begin(isDirect);
    const reader = new FlvReader(
      () => {},
      (tag) => this.#tag(tag),
    );
    // Written chunks may change later: retained data is copied immediately.
    const sink = new Writable({
      write(chunk: Buffer, _encoding, done) {
        reader.push(chunk);
        done();
      },
    });
    const end = () => sink.destroy();
    this.#ending.signal.addEventListener('abort', end, { once: true });
    if (this.#ending.signal.aborted) end();
    engine.feed(session, sink, AT_ONCE);
    const deafen =
      isDirect && direct.listen(session.sessionId, (one) => this.#sound.direct(one, this.#line.at(one.ms)));
    await finished(sink).catch(() => {});
    if (deafen) deafen();
    this.#ending.signal.removeEventListener('abort', end);
  }

  #tag(tag: FlvTag): void {
    if (tag.type === FlvTagType.video) this.#video(tag);
    else if (tag.type === FlvTagType.audio) this.#sound.tag(tag.payload, () => this.#line.at(tag.timestamp));
  }

  #video({ payload, timestamp }: FlvTag): void {
    const packet = readVideoPacket(payload);
    if (packet.kind === 'other') return;
    if (packet.codec !== 'avc1') this.#unfit(INCOMPATIBLE_REASONS.codec);
    else if (packet.kind === 'header') {
      this.#sets = parameterSetsOf(packet.config);
      this.#lengthBytes = lengthBytesOf(packet);
    } else this.#frame(packet, timestamp);
  }

  #frame({ data, compositionMs = 0, keyframe: isKey }: VideoPacket, timestamp: number): void {
    if (data === undefined) return;
    this.#compositionMs ??= compositionMs;
    if (Math.abs(compositionMs - this.#compositionMs) > ROUNDING_MS) {
      this.#unfit(INCOMPATIBLE_REASONS.reordered);
      return;
    }
    this.#pictures += 1;
    if (this.#pictures >= REORDER_PROBE_FRAMES) this.#told.resolve(null);
    const payloads = h264Payloads(data, this.#lengthBytes, isKey ? this.#sets : []);
    if (payloads.length === 0) return;
    const picture = { ms: this.#line.at(timestamp), isKey, payloads };
    this.#keep(picture);
    for (const listener of this.#listeners) listener.picture(picture);
  }

  #keep(picture: VideoFrame): void {
    if (picture.isKey) [this.#group, this.#groupBytes] = [[], 0];
    if (this.#group === null) return;
    this.#group.push(picture);
    this.#groupBytes += picture.payloads.reduce((sum, { length }) => sum + length, 0);
    if (this.#group.length > GROUP.pictures || this.#groupBytes > GROUP.bytes) this.#group = null;
  }

  #unfit(words: string): void {
    this.#told.resolve(words);
    this.#options.onUnfit();
  }
}
