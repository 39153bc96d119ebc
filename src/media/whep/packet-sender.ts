import type { Socket } from 'node:dgram';
import { RtpNumbers } from '../protocols/rtp/writer.ts';
import { LOOPBACK } from '../whip/loopback-socket.ts';
import type { FeedListener, VideoFrame } from './stream-feed.ts';

/** Destination of a track's packets; null when the viewer receives none. */
interface Track {
  port: number;
  payloadType: number;
}

interface Options {
  socket: Socket;
  video: Track | null;
  audio: Track | null;
}

const VIDEO_RATE = 90;
/** Packets sent in one batch; Janus's socket buffer holds more. */
const AT_ONCE = 40;
const PAUSE_MS = 5;
/** More is left out up to the next keyframe: some seconds. */
const MOST_WAITING = 4000;
/** Interval between frames of a viewer's first GOP: all but the last are past before they are seen. */
const CATCH_UP_MS = 1;

/** Sender of packets to one viewer: numbers them, and paces them to Janus's capacity. */
export class PacketSender implements FeedListener {
  sentBytes = 0;
  readonly #options: Options;
  readonly #video: RtpNumbers | null;
  readonly #audio: RtpNumbers | null;
  readonly #waiting: [head: Buffer, payload: Buffer][] = [];
  #timer: NodeJS.Timeout | null = null;
  #isOpen = false;
  #needsKey = true;
  /** No audio is sent before the first video frame. */
  #isMute = false;

  constructor(options: Options) {
    this.#options = options;
    const { video, audio } = options;
    this.#video = video && new RtpNumbers(video.payloadType);
    this.#audio = audio && new RtpNumbers(audio.payloadType);
  }

  /**
   * Begins sending, once the viewer is connected.
   *
   * @param group frames since the last keyframe; empty to wait for the next one.
   * @param hasPictures false for a stream with only audio.
   */
  begin(group: readonly VideoFrame[], hasPictures: boolean): void {
    this.#isOpen = true;
    this.#isMute = hasPictures && this.#video !== null;
    const last = group.at(-1);
    if (last === undefined) return;
    for (const [index, picture] of group.entries()) {
      const ms = Math.max(picture.ms, last.ms - (group.length - 1 - index) * CATCH_UP_MS);
      this.picture({ ...picture, ms });
    }
  }

  picture({ ms, isKey, payloads }: VideoFrame): void {
    const numbers = this.#video;
    if (numbers === null || !this.#isOpen) return;
    if (this.#waiting.length > MOST_WAITING) {
      this.#waiting.length = 0;
      this.#needsKey = true;
    }
    if (this.#needsKey && !isKey) return;
    this.#needsKey = false;
    this.#isMute = false;
    for (const [index, payload] of payloads.entries()) {
      const isLast = index === payloads.length - 1;
      this.#waiting.push([numbers.head(Math.round(ms * VIDEO_RATE), isLast), payload]);
    }
    if (this.#timer === null) this.#flush();
  }

  sound(ticks: number, data: Buffer): void {
    const { audio } = this.#options;
    if (!this.#isOpen || this.#isMute || this.#audio === null || audio === null) return;
    this.#send(audio.port, this.#audio.head(ticks, false), data);
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#waiting.length = 0;
    this.#isOpen = false;
  }

  #flush(): void {
    const port = this.#options.video?.port ?? 0;
    for (const [head, payload] of this.#waiting.splice(0, AT_ONCE)) this.#send(port, head, payload);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.#waiting.length > 0) this.#flush();
    }, PAUSE_MS);
  }

  #send(port: number, head: Buffer, payload: Buffer): void {
    this.sentBytes += head.length + payload.length;
    this.#options.socket.send([head, payload], port, LOOPBACK, ignore);
  }
}

const ignore = () => {};
