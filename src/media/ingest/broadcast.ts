import { FlvTagType, flvHeader, samePayload } from '../protocols/flv/tags.ts';
import { GopCache, type GopLimits } from './gop-cache.ts';

/** Output of one reader. */
export interface FlvSink {
  /** Writes bytes, which must not change until `queuedBytes` has been 0. */
  write(bytes: Buffer): void;
  /** Lets subsequent writes wait briefly to be batched; `flush` ends the wait. */
  hold(): void;
  flush(): void;
  /**
   * Returns the written bytes that the remote side has not read yet, and which are still held by reference.
   */
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
  /**
   * Version of the headers this reader has received; a lower number than the broadcast's means new ones are
   * due.
   */
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

  /** @returns a function that detaches the reader without ending it, for when its connection is closed. */
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

  /**
   * Handles a coded frame. Sequence headers arrive by `setHeader` and reach readers before the next frame.
   */
  frame(type: number, timestamp: number, payload: Buffer, keyframe: boolean): void {
    if (type === FlvTagType.video) this.#hasVideo = true;
    else this.#hasAudio = true;
    if (!this.#flowing) {
      this.#flowing = true;
      for (const reader of this.#readers) this.#begin(reader);
    }
    // A keyframe resets the memory of the GOP: tags of the previous one are flushed before.
    if (keyframe) for (const reader of this.#readers) reader.sink.flush();
    const tag = this.#gop.add(type, timestamp, payload, keyframe, this.#allTaken);
    // Between keyframes, several frames are sent together; a keyframe ends a segment and is sent immediately.
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

  /**
   * Ends all readers after the queued bytes with a regular end of file, so that ffmpeg finishes its output.
   */
  end(): void {
    this.#ended = true;
    for (const reader of this.#readers) reader.sink.end();
    this.#readers.clear();
    this.#gop.clear();
  }

  /** Sends the file header and the GOP; without a GOP the reader waits for one, if the stream has video. */
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
