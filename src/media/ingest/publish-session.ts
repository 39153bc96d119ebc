import type { Clock } from '../../kernel/clock.ts';
import { withTimeout } from '../../kernel/timeout.ts';
import type { Logger } from '../../platform/logger.ts';
import type {
  AudioInfo,
  IngestEndReason,
  IngestHooks,
  IngestProtocol,
  IngestSession,
  IngestStats,
  PublishGrant,
  RejectionIssue,
  VideoInfo,
} from '../contract/index.ts';
import { CodecError } from '../protocols/codec/bit-reader.ts';
import { type AudioPacket, parseAudioInfo, readAudioPacket } from '../protocols/codec/flv-audio.ts';
import { parseVideoHeader, readVideoPacket, type VideoPacket } from '../protocols/codec/flv-video.ts';
import { lengthBytesOf, readFrame } from '../protocols/codec/nal-units.ts';
import { silentPacket } from '../protocols/codec/silence.ts';
import { FlvTagType, flvTag } from '../protocols/flv/tags.ts';
import type { AmfObject, AmfValue } from '../protocols/rtmp/amf0.ts';
import type { PublishSink } from '../protocols/rtmp/connection.ts';
import { readMetadata, splitAggregate, TooManyPartsError } from '../protocols/rtmp/media-messages.ts';
import { MessageType, type RtmpMessage } from '../protocols/rtmp/messages.ts';
import { READ_BUDGETS, ReadMeter } from '../read-budget.ts';
import type { Broadcast } from './broadcast.ts';
import { FrameRateMeter } from './frame-rate.ts';
import { MediaStats } from './media-stats.ts';
import { TimingWatch } from './timing.ts';
import { TrackFiller } from './track-filler.ts';

export interface PublishSessionOptions {
  sessionId: string;
  nodeId: string;
  protocol: IngestProtocol;
  grant: PublishGrant;
  broadcast: Broadcast;
  hooks: IngestHooks;
  clock: Clock;
  log: Logger;
  /** Called once, at the end, before the hook: the session must no longer be found. */
  onEnded(reason: IngestEndReason): void;
}

/** Measured and announced frame rates this far apart: the measured one counts. */
const FRAME_RATE_TOLERANCE = 0.15;
/** Burst of notifications: headers may change with each frame, but each change is written and starts work. */
const TELL_BURST = 10;
const TELLS_PER_SEC = 2;
/** Codec headers have hundreds of bytes; each reader gets them again when one of them changes. */
const MAX_HEADER_BYTES = 64 * 1024;

/** One accepted publish: its media, statistics, readers and life cycle. */
export class PublishSession implements PublishSink {
  readonly sessionId: string;
  readonly streamId: string;
  readonly broadcast: Broadcast;
  #options: PublishSessionOptions;
  #startedAt: Date;
  #video: VideoInfo | undefined;
  #audio: AudioInfo | undefined;
  /** Bytes of the length before each unit of a frame. */
  #lengthBytes = 4;
  #refused = false;
  #metadata: AmfObject = {};
  /** The media changed since the hook was last notified. */
  #mediaIsNews = false;
  #tellsLeft = TELL_BURST;
  #tellTick = performance.now();
  #unreadable = new Set<'audio' | 'video'>();
  #frameRate = new FrameRateMeter();
  #stats: MediaStats;
  #meter = new ReadMeter(READ_BUDGETS.publish);
  #timing = new TimingWatch();
  #filler = new TrackFiller({ emit: (...frame) => this.broadcast.frame(...frame) });
  #lastMediaAtMs: number;
  #lastMediaTick: number;
  #starting: Promise<boolean> = Promise.resolve(false);
  #ending: Promise<void> | null = null;
  #started = false;

  constructor(options: PublishSessionOptions) {
    this.#options = options;
    this.sessionId = options.sessionId;
    this.streamId = options.grant.streamId;
    this.broadcast = options.broadcast;
    this.#startedAt = options.clock.now();
    this.#lastMediaAtMs = options.clock.ms();
    this.#lastMediaTick = performance.now();
    this.#stats = new MediaStats(this.#lastMediaTick);
  }

  get label(): string {
    return `publish ${this.sessionId} of ${this.streamId}`;
  }

  get isRefused(): boolean {
    return this.#refused;
  }

  /** Reports whether the session has started and not ended. */
  get publishing(): boolean {
    return this.#started && this.#ending === null;
  }

  /** @returns false when the start hook refused or took longer than `limitMs`: the session is then over. */
  async start(limitMs: number): Promise<boolean> {
    const { hooks, log } = this.#options;
    this.#starting = (async () => hooks.onStart(this.describe()))().then(
      () => true,
      (error: unknown) => {
        log.error({ err: error }, 'ingest: start hook failed');
        return false;
      },
    );
    this.#started = await withTimeout(this.#starting, limitMs, false);
    if (!this.#started) void this.end('closed');
    this.#lastMediaTick = performance.now();
    return this.publishing;
  }

  /**
   * Ends the session. Idempotent: the first reason counts. Resolves after the end hook, which runs if the
   * start hook did.
   */
  end(reason: IngestEndReason): Promise<void> {
    this.#ending ??= this.#finish(reason);
    return this.#ending;
  }

  async #finish(reason: IngestEndReason): Promise<void> {
    const { hooks, log, onEnded } = this.#options;
    this.broadcast.end();
    onEnded(reason);
    log.info({ reason, bytes: this.#stats.bytes }, 'ingest: publish ended');
    if (!(await this.#starting)) return;
    try {
      const { sessionId, streamId } = this;
      await hooks.onEnd({ sessionId, streamId, reason, bytes: this.#stats.bytes });
    } catch (error) {
      log.error({ err: error }, 'ingest: end hook failed');
    }
  }

  ended(reason: 'unpublish' | 'closed'): void {
    // A rejected publish ends with its own reason, once that is reported.
    if (!this.#refused) void this.end(reason);
  }

  describe(): IngestSession {
    const { nodeId, protocol, grant } = this.#options;
    return {
      sessionId: this.sessionId,
      streamId: this.streamId,
      nodeId,
      protocol,
      startedAt: this.#startedAt,
      grant,
      ...(this.#video ? { video: { ...this.#video } } : {}),
      ...(this.#audio ? { audio: { ...this.#audio } } : {}),
    };
  }

  stats(): IngestStats {
    const now = performance.now();
    const timing = this.#timing.read(now);
    return {
      sessionId: this.sessionId,
      bytes: this.#stats.bytes,
      ...this.#stats.rates(now),
      ...timing,
      issues: [...timing.issues, ...this.#filler.issues()],
      keyframeIntervalMs: this.#stats.keyframeIntervalMs,
      lastMediaAtMs: this.#lastMediaAtMs,
    };
  }

  /** Milliseconds without audio or video at `now` (`performance.now()`). */
  silentMs(now: number): number {
    return now - this.#lastMediaTick;
  }

  received(messages: number, bytes: number): void {
    if (this.#ending !== null || this.#refused) return;
    this.#stats.add(performance.now(), bytes);
    if (this.#meter.add(messages, bytes) > 0) this.refuse('BITRATE_OVER_PLAN');
  }

  media(message: RtmpMessage): void {
    if (this.#ending !== null || this.#refused) return;
    switch (message.type) {
      case MessageType.video:
        this.#onVideo(message);
        return;
      case MessageType.audio:
        this.#onAudio(message);
        return;
      case MessageType.data:
      case MessageType.dataAmf3:
        this.#onData(message);
        return;
      case MessageType.aggregate:
        this.#onAggregate(message);
        return;
    }
  }

  #onAggregate(message: RtmpMessage): void {
    let parts: RtmpMessage[];
    try {
      parts = splitAggregate(message);
    } catch (error) {
      if (!(error instanceof TooManyPartsError)) throw error;
      this.refuse('BITRATE_OVER_PLAN');
      return;
    }
    this.received(parts.length, 0);
    for (const part of parts) this.media(part);
  }

  #onVideo(message: RtmpMessage): void {
    const packet = readVideoPacket(message.payload);
    this.#count(packet.kind === 'frame');
    if (packet.kind === 'other') return;
    if (packet.kind === 'header') {
      if (this.#isTooLong(packet.config)) return;
      const tag = flvTag(FlvTagType.video, message.timestamp, message.payload);
      if (this.broadcast.setHeader(FlvTagType.video, tag)) this.#onVideoHeader(packet);
      return;
    }
    if (this.#video === undefined && packet.codec !== '') this.#onVideoHeader(packet);
    if (!this.#checkFrame(packet)) return;
    this.#time('video', message.timestamp);
    if (packet.keyframe) this.#stats.keyframe(message.timestamp);
    const measured = this.#frameRate.frame(message.timestamp);
    if (measured !== null) this.#onFrameRate(measured);
    this.#tellMedia();
    const { timestamp, payload } = message;
    if (!this.#filler.video(timestamp, payload, packet.keyframe, this.#lastMediaTick)) return;
    this.broadcast.frame(FlvTagType.video, timestamp, payload, packet.keyframe);
  }

  /**
   * Checks the parameter sets within a frame, which override the header in every decoder.
   *
   * @returns false when the publish ends because of it.
   */
  #checkFrame({ codec, data, keyframe }: VideoPacket): boolean {
    const facts = data === undefined ? null : readFrame(codec, data, this.#lengthBytes);
    const video = this.#video;
    if (facts === null || video === undefined) return true;
    const { picture } = facts;
    if (picture !== null && picture.width * picture.height > video.width * video.height) {
      if (video.width > 0) {
        this.refuse('RESOLUTION_CHANGED');
        return false;
      }
      this.#video = { ...video, ...picture };
      this.#mediaIsNews = true;
    }
    if (keyframe && facts.hasOtherPicture && !facts.hasAccessPoint && !video.lacksKeyframes) {
      this.#video = {
        ...video,
        lacksKeyframes: true,
        ...(facts.hasIntraSlice ? { hasOpenGop: true } : {}),
      };
      this.#mediaIsNews = true;
    }
    return true;
  }

  /** Ends the publish because of its media; `onRefused` is awaited before the end. */
  refuse(issue: RejectionIssue): void {
    if (this.#ending !== null || this.#refused) return;
    const { hooks, log } = this.#options;
    this.#refused = true;
    this.broadcast.end();
    log.warn({ issue }, 'ingest: published media is not supported');
    (async () => hooks.onRefused(this.describe(), issue))()
      .catch((error: unknown) => log.error({ err: error }, 'ingest: rejection hook failed'))
      .finally(() => void this.end('kicked'));
  }

  #isTooLong(config: Buffer): boolean {
    if (config.length <= MAX_HEADER_BYTES) return false;
    this.refuse('UNSUPPORTED_CODEC');
    return true;
  }

  #onVideoHeader(packet: VideoPacket): void {
    let video: VideoInfo;
    try {
      video = parseVideoHeader(packet);
    } catch (error) {
      if (!(error instanceof CodecError)) throw error;
      this.#warnUnreadable('video', packet.codec, error);
      video = { codec: packet.codec, width: 0, height: 0, fps: 0 };
    }
    // Only where the header has no size that we can read.
    if (video.width === 0) {
      video.width = dimension(this.#metadata.width);
      video.height = dimension(this.#metadata.height);
    }
    this.#video = video;
    this.#filler.forgetImage();
    this.#lengthBytes = lengthBytesOf(packet);
    this.#frameRate = new FrameRateMeter();
    this.#mediaIsNews = true;
  }

  #onFrameRate(measured: number): void {
    const video = this.#video;
    if (video === undefined) return;
    const announced = video.fps;
    if (announced > 0 && Math.abs(measured - announced) <= announced * FRAME_RATE_TOLERANCE) return;
    this.#video = { ...video, fps: measured };
    this.#mediaIsNews = true;
  }

  #onAudio(message: RtmpMessage): void {
    const packet = readAudioPacket(message.payload);
    this.#count(false);
    if (packet.kind === 'other') return;
    if (packet.kind === 'header') {
      if (this.#isTooLong(packet.config)) return;
      const tag = flvTag(FlvTagType.audio, message.timestamp, message.payload);
      if (this.broadcast.setHeader(FlvTagType.audio, tag)) this.#onAudioFormat(packet, message.payload);
      return;
    }
    if (this.#audio === undefined && packet.codec !== '') this.#onAudioFormat(packet, message.payload);
    this.#time('audio', message.timestamp);
    this.#tellMedia();
    const { timestamp, payload } = message;
    if (!this.#filler.audio(timestamp, this.#lastMediaTick)) return;
    this.broadcast.frame(FlvTagType.audio, timestamp, payload, false);
  }

  #onAudioFormat(packet: AudioPacket, payload: Buffer): void {
    this.#filler.setSilence(null);
    try {
      this.#audio = parseAudioInfo(packet);
      this.#filler.setSilence(silentPacket(packet, payload));
    } catch (error) {
      if (!(error instanceof CodecError)) throw error;
      this.#warnUnreadable('audio', packet.codec, error);
      this.#audio = { codec: packet.codec, sampleRate: 0, channels: 0 };
    }
    this.#mediaIsNews = true;
  }

  /** Logs once: the warning could repeat with every frame. */
  #warnUnreadable(track: 'audio' | 'video', codec: string, { message: reason }: CodecError): void {
    if (this.#unreadable.has(track)) return;
    this.#unreadable.add(track);
    this.#options.log.warn({ codec, reason }, `ingest: unreadable ${track} header`);
  }

  #onData(message: RtmpMessage): void {
    const metadata = readMetadata(message);
    if (metadata === null) return;
    this.#metadata = metadata.properties;
    this.broadcast.setMetadata(flvTag(FlvTagType.script, message.timestamp, metadata.script));
  }

  #time(track: 'audio' | 'video', timestamp: number): void {
    if (this.#timing.frame(track, timestamp, performance.now())) this.#stats.forgetKeyframe();
  }

  #count(isVideoFrame: boolean): void {
    this.#lastMediaTick = performance.now();
    this.#lastMediaAtMs = this.#options.clock.ms();
    if (isVideoFrame) this.#stats.frame(this.#lastMediaTick);
  }

  /** Notifies at a frame, not at a header: by then the headers of both tracks have usually arrived. */
  #tellMedia(): void {
    if (!this.#mediaIsNews || !this.#mayTell()) return;
    this.#mediaIsNews = false;
    try {
      this.#options.hooks.onMedia(this.describe());
    } catch (error) {
      this.#options.log.error({ err: error }, 'ingest: media hook failed');
    }
  }

  /** Reports whether a notification is within the rate limit; a skipped one is repeated at a later frame. */
  #mayTell(): boolean {
    const now = performance.now();
    const earned = ((now - this.#tellTick) / 1000) * TELLS_PER_SEC;
    this.#tellTick = now;
    this.#tellsLeft = Math.min(TELL_BURST, this.#tellsLeft + earned);
    if (this.#tellsLeft < 1) return false;
    this.#tellsLeft -= 1;
    return true;
  }
}

function dimension(value: AmfValue): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= 16384 ? value : 0;
}
