import { readAudioPacket } from '../protocols/codec/flv-audio.ts';
import { readVideoPacket } from '../protocols/codec/flv-video.ts';
import { FlvReader, type FlvTag } from '../protocols/flv/reader.ts';
import { FlvTagType } from '../protocols/flv/tags.ts';
import type { FeedItem } from './feed-item.ts';
import { Gop } from './gop.ts';

/** Consumer that forwards the broadcast; its first frame is a keyframe, after the headers. */
export interface FeedReader {
  item(item: FeedItem): void;
  /** Called when no further item is pending. */
  flush(): void;
}

/** Codecs sent, as the first part of the RFC 6381 string: `avc1`, `mp4a`; null when absent. */
export interface FeedCodecs {
  video: string | null;
  audio: string | null;
}

/** Time without a frame after which the encoder counts as gone. */
const SILENT_MS = 3000;
/** Time with audio but without video after which a broadcast counts as audio-only. */
const AUDIO_ONLY_AFTER_MS = 1000;

interface Attached {
  reader: FeedReader;
  /** It has frames that follow each other from a keyframe on. */
  isFlowing: boolean;
}

/**
 * Broadcast assembled from the files of its encoder's consecutive connections: timestamps continue where
 * those of the last one ended, so that a destination sees one broadcast with a gap.
 */
export class Feed {
  readonly #now: () => number;
  readonly #reader = new FlvReader(
    () => this.#newFile(),
    (tag) => this.#tag(tag),
  );
  readonly #attached = new Set<Attached>();
  #onChange = () => {};
  #data: FeedItem | null = null;
  #videoHeader: FeedItem | null = null;
  #audioHeader: FeedItem | null = null;
  #codecs: FeedCodecs = { video: null, audio: null };
  readonly #gop = new Gop();
  /** Offset added to the timestamps of the file; null before its first frame. */
  #shift: number | null = null;
  /** The time of the file's first frame; null before it. */
  #first: number | null = null;
  #last = 0;
  #lastAtMs = Number.NEGATIVE_INFINITY;
  /** All codecs are known from received frames. */
  #isKnown = false;

  /** @param now milliseconds that never go back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  get codecs(): FeedCodecs {
    return this.#codecs;
  }

  /** Reports whether there are frames to send, with known codecs. */
  get isFlowing(): boolean {
    return this.#isKnown && this.#now() - this.#lastAtMs < SILENT_MS;
  }

  /** Adds a listener for the start of frames, and for codec changes. */
  onChange(listener: () => void): void {
    this.#onChange = listener;
  }

  push(chunk: Buffer): void {
    const was = this.isFlowing;
    const codecs = this.#codecs;
    this.#reader.push(chunk);
    for (const { reader } of this.#attached) reader.flush();
    if (!was || codecs !== this.#codecs) this.#onChange();
  }

  /** Attaches a reader, from the last keyframe on. @returns a function that detaches it. */
  attach(reader: FeedReader): () => void {
    const one: Attached = { reader, isFlowing: this.#gop.length > 0 };
    this.#attached.add(one);
    const first = this.#gop.begin ?? this.#last;
    for (const item of [this.#data, this.#videoHeader, this.#audioHeader]) {
      if (item !== null) reader.item({ ...item, timestamp: first });
    }
    for (const item of this.#gop.items()) reader.item(item);
    reader.flush();
    return () => void this.#attached.delete(one);
  }

  #newFile(): void {
    this.#shift = null;
    this.#gop.clear();
    for (const one of this.#attached) one.isFlowing = false;
  }

  #tag({ type, timestamp, payload }: FlvTag): void {
    const { kind, isKeyframe, codec } = readTag(type, payload);
    if (kind === null) return;
    const item = { type, timestamp: this.#placed(timestamp, kind), payload, kind, isKeyframe };
    if (kind === 'frame') this.#frame(item, codec);
    else this.#header(item, codec);
  }

  /** The first frame of a file is placed after the last one by the real time between them. */
  #placed(timestamp: number, kind: FeedItem['kind']): number {
    if (kind !== 'frame') return this.#last;
    if (this.#shift === null) {
      const gapMs = Number.isFinite(this.#lastAtMs) ? Math.max(20, this.#now() - this.#lastAtMs) : 0;
      this.#shift = this.#last + Math.round(gapMs) - timestamp;
    }
    return Math.max(0, timestamp + this.#shift);
  }

  #header(item: FeedItem, codec: string): void {
    // Copied, because it is retained for later readers and must not retain the buffer it arrived in.
    const kept = { ...item, payload: Buffer.from(item.payload) };
    if (item.kind === 'data') this.#data = kept;
    else if (item.type === FlvTagType.video) {
      this.#videoHeader = kept;
      this.#gop.clear();
    } else this.#audioHeader = kept;
    this.#learn(item.type, codec);
    for (const { reader } of this.#attached) reader.item(item);
  }

  #learn(type: number, codec: string): void {
    const { video, audio } = this.#codecs;
    if (type === FlvTagType.video && codec !== video) this.#codecs = { video: codec, audio };
    if (type === FlvTagType.audio && codec !== audio) this.#codecs = { video, audio: codec };
  }

  #frame(item: FeedItem, codec: string): void {
    this.#learn(item.type, codec);
    this.#last = Math.max(this.#last, item.timestamp);
    this.#lastAtMs = this.#now();
    this.#first ??= item.timestamp;
    this.#isKnown ||= this.#codecs.video !== null || item.timestamp - this.#first >= AUDIO_ONLY_AFTER_MS;
    if (item.isKeyframe) this.#gop.clear();
    const begins = item.isKeyframe || this.#codecs.video === null;
    // A broadcast without video needs no start point.
    if (this.#codecs.video !== null && (begins || this.#gop.length > 0)) this.#gop.add(item);
    for (const one of this.#attached) {
      if (!one.isFlowing && !begins) continue;
      one.isFlowing = true;
      one.reader.item(item);
    }
  }
}

function readTag(
  type: number,
  payload: Buffer,
): { kind: FeedItem['kind'] | null; isKeyframe: boolean; codec: string } {
  if (type === FlvTagType.script) return { kind: 'data', isKeyframe: false, codec: '' };
  if (type === FlvTagType.video) {
    const { kind, keyframe, codec } = readVideoPacket(payload);
    return { kind: kind === 'other' ? null : kind, isKeyframe: kind === 'frame' && keyframe, codec };
  }
  if (type !== FlvTagType.audio) return { kind: null, isKeyframe: false, codec: '' };
  const { kind, codec } = readAudioPacket(payload);
  return { kind: kind === 'other' ? null : kind, isKeyframe: false, codec };
}
