import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { readAudioPacket } from '../../src/media/protocols/codec/flv-audio.ts';
import { readVideoPacket } from '../../src/media/protocols/codec/flv-video.ts';
import { FlvTagType } from '../../src/media/protocols/flv/tags.ts';
import { RtmpClient } from './client.ts';
import { parseFlv } from './media.ts';

/** A few seconds of a publish, which is sent over and over. */
export interface Tape {
  /** Sequence headers, that of the video first. */
  headers: TapeTag[];
  /** Frames in sending order; the first one is a keyframe. */
  frames: (TapeTag & { atMs: number })[];
  lengthMs: number;
}

type Track = 'audio' | 'video';

interface TapeTag {
  track: Track;
  payload: Buffer;
}

export interface TapeOptions {
  width?: number;
  height?: number;
  sampleRate?: number;
  /** Video codec options; H.264 Baseline by default. */
  codec?: string[];
  /** ffmpeg that writes formats which an older one cannot. */
  ffmpeg?: string;
}

const SECONDS = 4;
const FPS = 15;

export async function recordTape(options: TapeOptions = {}): Promise<Tape> {
  const { width = 640, height = 360, sampleRate = 48_000, ffmpeg = 'ffmpeg' } = options;
  const { codec = ['-c:v', 'libx264', '-preset', 'ultrafast', '-profile:v', 'baseline', '-b:v', '500k'] } =
    options;
  const { stdout } = await promisify(execFile)(
    ffmpeg,
    [
      ...['-v', 'error', '-f', 'lavfi', '-i', `testsrc2=size=${width}x${height}:rate=${FPS}`],
      ...['-f', 'lavfi', '-i', `sine=frequency=440:sample_rate=${sampleRate}`, '-t', String(SECONDS)],
      ...[...codec, '-pix_fmt', 'yuv420p', '-bf', '0', '-g', String(FPS), '-threads', '1'],
      ...['-c:a', 'aac', '-ac', '2', '-f', 'flv', '-'],
    ],
    { encoding: 'buffer', maxBuffer: 2 ** 26 },
  );
  const tape: Tape = { headers: [], frames: [], lengthMs: SECONDS * 1000 };
  for (const { type, timestamp, payload } of parseFlv(stdout).tags) {
    if (type === FlvTagType.script) continue;
    const track = type === FlvTagType.video ? 'video' : 'audio';
    const { kind } = track === 'video' ? readVideoPacket(payload) : readAudioPacket(payload);
    if (kind === 'header') tape.headers.push({ track, payload });
    else if (kind === 'frame' && timestamp < tape.lengthMs)
      tape.frames.push({ track, payload, atMs: timestamp });
  }
  return tape;
}

/** Clock of an encoder's track: `stampMs` at `atMs`, then advancing at `rate` times real time. */
interface Clock {
  atMs: number;
  stampMs: number;
  rate: number;
}

const TICK_MS = 10;
const CHUNK_BYTES = 65_536;

/** One publish session of tapes in real time, whose timestamps can be distorted. */
export class TapePublisher {
  readonly #client: RtmpClient;
  readonly #timer: NodeJS.Timeout;
  readonly #startMs = performance.now();
  readonly #clocks: Record<Track, Clock>;
  #tape: Tape;
  #next: Tape | null;
  /** Start time of the tape, and the position in it. */
  #tapeAtMs = 0;
  #index = 0;

  /** @param stampMs timestamp of the first frame. @throws {Error} when the publish is rejected. */
  static async start(url: { port: number; key: string }, tape: Tape, stampMs = 0): Promise<TapePublisher> {
    const client = await RtmpClient.connected(url.port);
    client.setChunkSize(CHUNK_BYTES);
    const code = await client.publish(url.key);
    if (code !== 'NetStream.Publish.Start') throw new Error(`the publish was answered ${code}`);
    return new TapePublisher(client, tape, stampMs);
  }

  private constructor(client: RtmpClient, tape: Tape, stampMs: number) {
    this.#client = client;
    this.#tape = tape;
    this.#next = tape;
    const clock = { atMs: 0, stampMs, rate: 1 };
    this.#clocks = { audio: { ...clock }, video: { ...clock } };
    this.#timer = setInterval(() => this.#send(), TICK_MS);
  }

  get isClosed(): boolean {
    return this.#client.isClosed;
  }

  /** The timestamp of a frame that would be sent now. */
  get stamp(): number {
    return stampOf(this.#clocks.video, this.#nowMs());
  }

  /** Switches to the tape at the next keyframe. */
  use(tape: Tape): void {
    this.#next = tape;
  }

  /** Shifts all following timestamps by `ms`. */
  jump(ms: number): void {
    for (const track of ['audio', 'video'] as const) this.#set(track, { jumpMs: ms });
  }

  /** Sets the advance of timestamps per elapsed millisecond. */
  drift(rate: number, tracks: readonly Track[] = ['audio', 'video']): void {
    for (const track of tracks) this.#set(track, { rate });
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#client.destroy();
  }

  #nowMs(): number {
    return performance.now() - this.#startMs;
  }

  #set(track: Track, { jumpMs = 0, rate }: { jumpMs?: number; rate?: number }): void {
    const clock = this.#clocks[track];
    const atMs = this.#nowMs();
    const stampMs = clock.stampMs + (atMs - clock.atMs) * clock.rate + jumpMs;
    this.#clocks[track] = { atMs, stampMs, rate: rate ?? clock.rate };
  }

  #send(): void {
    const nowMs = this.#nowMs();
    for (;;) {
      const frame = this.#tape.frames[this.#index];
      const isOver = frame === undefined;
      const atMs = this.#tapeAtMs + (frame?.atMs ?? this.#tape.lengthMs);
      if (atMs > nowMs) return;
      const mayChange = isOver || isKeyframe(frame);
      if (mayChange && this.#next !== null) this.#change(this.#next, atMs);
      else if (isOver) this.#begin(atMs);
      else this.#frame(frame, atMs);
    }
  }

  #change(tape: Tape, atMs: number): void {
    this.#tape = tape;
    this.#next = null;
    this.#begin(atMs);
    for (const { track, payload } of tape.headers)
      this.#client.media(track, stampOf(this.#clocks[track], atMs), payload);
  }

  #begin(atMs: number): void {
    this.#tapeAtMs = atMs;
    this.#index = 0;
  }

  #frame({ track, payload }: TapeTag, atMs: number): void {
    this.#index += 1;
    this.#client.media(track, stampOf(this.#clocks[track], atMs), payload);
  }
}

function isKeyframe({ track, payload }: TapeTag): boolean {
  return track === 'video' && readVideoPacket(payload).keyframe;
}

function stampOf({ atMs, stampMs, rate }: Clock, nowMs: number): number {
  return Math.round(stampMs + (nowMs - atMs) * rate) >>> 0;
}
