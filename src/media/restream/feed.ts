import { readAudioPacket } from '../protocols/codec/flv-audio.ts';
import { readVideoPacket } from '../protocols/codec/flv-video.ts';
import { FlvReader, type FlvTag } from '../protocols/flv/reader.ts';
import { FlvTagType } from '../protocols/flv/tags.ts';
import type { FeedItem } from './feed-item.ts';
import { Gop } from './gop.ts';

/** Whoever sends the broadcast on; its first frame is a keyframe, behind the headers. */
export interface FeedReader {
  item(item: FeedItem): void;
  /** Nothing more comes for the moment. */
  flush(): void;
}

/** What is sent, by the names of RFC 6381's first part: `avc1`, `mp4a`; null without. */
export interface FeedCodecs {
  video: string | null;
  audio: string | null;
}

/** After so long without a frame the encoder counts as away. */
const SILENT_MS = 3000;
/** Sound that has come for so long without a picture is a broadcast of sound alone. */
const SOUND_ALONE_MS = 1000;

interface Attached {
  reader: FeedReader;
  /** It has frames that follow each other from a keyframe on. */
  isFlowing: boolean;
}

/**
 * A broadcast out of the files of its encoder's connections, one after another: the times go on where those of the
 * last one ended, so that a destination sees one broadcast with a gap.
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
  /** What is added to the times of the file; null before its first frame. */
  #shift: number | null = null;
  /** The time of the file's first frame; null before it. */
  #first: number | null = null;
  #last = 0;
  #lastAtMs = Number.NEGATIVE_INFINITY;
  /** Frames have told how all of it is coded. */
  #isKnown = false;

  /** @param now milliseconds that never go back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  get codecs(): FeedCodecs {
    return this.#codecs;
  }

  /** There is something to send, and it is known how it is coded. */
  get isFlowing(): boolean {
    return this.#isKnown && this.#now() - this.#lastAtMs < SILENT_MS;
  }

  /** Called when frames come that did not, or are coded otherwise. */
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

  /** From the last keyframe on. @returns the end of it. */
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

  /** The first frame of a file comes as long after the last one as it came in time. */
  #placed(timestamp: number, kind: FeedItem['kind']): number {
    if (kind !== 'frame') return this.#last;
    if (this.#shift === null) {
      const gapMs = Number.isFinite(this.#lastAtMs) ? Math.max(20, this.#now() - this.#lastAtMs) : 0;
      this.#shift = this.#last + Math.round(gapMs) - timestamp;
    }
    return Math.max(0, timestamp + this.#shift);
  }

  #header(item: FeedItem, codec: string): void {
    // It is kept for those who come later, and must not keep all that it came with.
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
    this.#isKnown ||= this.#codecs.video !== null || item.timestamp - this.#first >= SOUND_ALONE_MS;
    if (item.isKeyframe) this.#gop.clear();
    const begins = item.isKeyframe || this.#codecs.video === null;
    // Sound alone has no beginning to go back to.
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
