import { FlvTagType, flvHeader, samePayload } from '../protocols/flv/tags.ts';
import { GopCache, type GopLimits } from './gop-cache.ts';

/** Where a reader's bytes go. */
export interface FlvSink {
  /** The bytes stay as they are until `queuedBytes` has been 0, and may change then. */
  write(bytes: Buffer): void;
  /** What is written from here on may wait a moment for more; `flush` ends the wait. */
  hold(): void;
  flush(): void;
  /** Bytes written that the other side has not taken yet, and which are still held by reference. */
  queuedBytes(): number;
  end(): void;
}

export interface BroadcastLimits {
  /** A reader with more queued than this gets nothing more until it catches up at a keyframe. */
  readerQueueBytes: number;
  gop?: GopLimits;
}

interface Reader {
  sink: FlvSink;
  state: 'new' | 'waiting-for-keyframe' | 'flowing';
  /** The headers this reader has got; an older number than the broadcast's means new ones are due. */
  headersVersion: number;
}

/**
 * One publish fanned out to its readers as FLV. A reader begins with the cached GOP; a slow one loses frames,
 * never memory.
 */
export class Broadcast {
  #limits: BroadcastLimits;
  #gop: GopCache;
  #readers = new Set<Reader>();
  #metadata: Buffer | null = null;
  #videoHeader: Buffer | null = null;
  #audioHeader: Buffer | null = null;
  #headersVersion = 0;
  #hasVideo = false;
  #hasAudio = false;
  #flowing = false;
  #ended = false;

  constructor(limits: BroadcastLimits) {
    this.#limits = limits;
    this.#gop = new GopCache(limits.gop);
  }

  get readerCount(): number {
    return this.#readers.size;
  }

  /** @returns detaches the reader without ending it, for when its connection has gone. */
  attach(sink: FlvSink): () => void {
    if (this.#ended) {
      sink.end();
      return () => {};
    }
    const reader: Reader = { sink, state: 'new', headersVersion: -1 };
    this.#readers.add(reader);
    if (this.#flowing) this.#begin(reader);
    return () => void this.#readers.delete(reader);
  }

  setMetadata(tag: Buffer): void {
    if (this.#metadata !== null && samePayload(this.#metadata, tag)) return;
    this.#metadata = tag;
    this.#headersVersion++;
  }

  /** @returns whether it differs from the last one: some encoders repeat theirs before every keyframe. */
  setHeader(type: number, tag: Buffer): boolean {
    const isVideo = type === FlvTagType.video;
    const last = isVideo ? this.#videoHeader : this.#audioHeader;
    if (last !== null && samePayload(last, tag)) return false;
    if (isVideo) {
      this.#videoHeader = tag;
      this.#hasVideo = true;
      // Frames before this header cannot be decoded with it.
      this.#gop.clear();
    } else {
      this.#audioHeader = tag;
      this.#hasAudio = true;
    }
    this.#headersVersion++;
    return true;
  }

  /** A coded frame. Sequence headers come by `setHeader` and reach readers before the next frame. */
  frame(type: number, timestamp: number, payload: Buffer, keyframe: boolean): void {
    if (type === FlvTagType.video) this.#hasVideo = true;
    else this.#hasAudio = true;
    if (!this.#flowing) {
      this.#flowing = true;
      for (const reader of this.#readers) this.#begin(reader);
    }
    // A keyframe begins the memory of the GOP anew: nothing of the last one may wait any longer.
    if (keyframe) for (const reader of this.#readers) reader.sink.flush();
    const tag = this.#gop.add(type, timestamp, payload, keyframe, this.#allTaken);
    // Between keyframes a few frames go out together; a keyframe ends a segment and goes at once.
    const waits = this.#hasVideo && !keyframe;
    for (const reader of this.#readers) {
      if (waits) reader.sink.hold();
      this.#feed(reader, tag, keyframe);
      if (!waits) reader.sink.flush();
    }
  }

  /** No reader has anything queued, so the memory of earlier tags is free. */
  #allTaken = (): boolean => {
    for (const reader of this.#readers) if (reader.sink.queuedBytes() > 0) return false;
    return true;
  };

  /** Readers get what is queued and then a clean end of file, so that ffmpeg finishes its output. */
  end(): void {
    this.#ended = true;
    for (const reader of this.#readers) reader.sink.end();
    this.#readers.clear();
    this.#gop.clear();
  }

  /** The head of the file and the GOP; without a GOP the reader waits, if there are pictures to wait for. */
  #begin(reader: Reader): void {
    reader.sink.write(flvHeader({ audio: this.#hasAudio, video: this.#hasVideo }));
    this.#sendHeaders(reader);
    if (!this.#gop.empty) reader.sink.write(this.#gop.bytes);
    reader.state = this.#hasVideo && this.#gop.empty ? 'waiting-for-keyframe' : 'flowing';
  }

  #feed(reader: Reader, tag: Buffer, keyframe: boolean): void {
    const queued = reader.sink.queuedBytes();
    if (queued > this.#limits.readerQueueBytes) reader.state = 'waiting-for-keyframe';
    if (reader.state === 'waiting-for-keyframe') {
      const resumes = (keyframe || !this.#hasVideo) && queued <= this.#limits.readerQueueBytes / 2;
      if (!resumes) return;
      reader.state = 'flowing';
    }
    if (reader.headersVersion !== this.#headersVersion) this.#sendHeaders(reader);
    reader.sink.write(tag);
  }

  #sendHeaders(reader: Reader): void {
    for (const tag of [this.#metadata, this.#videoHeader, this.#audioHeader]) {
      if (tag !== null) reader.sink.write(tag);
    }
    reader.headersVersion = this.#headersVersion;
  }
}
