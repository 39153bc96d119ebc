import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../platform/logger.ts';
import type { FfmpegProgram } from '../ffmpeg/program.ts';
import { readAudioPacket } from '../protocols/codec/flv-audio.ts';
import type { OpusPacket } from '../whip/opus-passthrough.ts';
import { type OpusCoder, startOpusCoder } from './opus-coder.ts';

interface Options {
  ffmpeg: FfmpegProgram;
  log: Logger;
  /** @param ticks at 48 kHz. */
  onPacket(ticks: number, data: Buffer): void;
}

const TICKS_PER_MS = 48;
const STEP_TICKS = 960;
/** Deviation from which the audio timestamps jump. */
const JUMP_MS = 100;
/** After a program that has died. */
const AGAIN_MS = 2000;
/**
 * Interval between starts of a program: a header may change with each frame, and audio waits until the next
 * start.
 */
const START_MIN_MS = 1000;

/** Audio of a publish as Opus: passed through if it is Opus already, otherwise encoded by one ffmpeg. */
export class AudioFeed {
  readonly #options: Options;
  #coder: Promise<OpusCoder> | null = null;
  #current: OpusCoder | null = null;
  #header: Buffer | null = null;
  #lastMs = -1;
  #startedMs = Number.NEGATIVE_INFINITY;
  /** Offset from the ticks of the source to those of the viewers; null before a new start. */
  #shiftTicks: number | null = null;
  #codedTicks = 0;
  /** Audio arrives by `direct`: that in the publish is ignored. */
  #isDirect = false;
  #isStopped = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Starts another publish. @param isDirect its audio arrives by `direct`. */
  begin(isDirect: boolean): void {
    this.#isDirect = isDirect;
    this.#header = null;
    void this.#drop();
  }

  /**
   * @param payload of an FLV tag, in memory that may change.
   * @param time on the timeline of the video, in milliseconds; called only for frames.
   */
  tag(payload: Buffer, time: () => number): void {
    const packet = readAudioPacket(payload);
    if (packet.kind === 'other' || this.#isStopped || this.#isDirect) return;
    if (packet.codec === 'Opus') {
      const { data, kind } = packet;
      if (kind === 'frame' && data !== undefined && data.length > 0)
        this.#options.onPacket(time() * TICKS_PER_MS, Buffer.from(data));
      return;
    }
    if (packet.kind === 'header') {
      if (this.#header?.equals(payload)) return;
      this.#header = Buffer.from(payload);
      void this.#drop();
      return;
    }
    // Timestamps increase strictly.
    const ms = Math.max(time(), this.#lastMs + 1);
    this.#lastMs = ms;
    if (this.#coder === null && performance.now() - this.#startedMs < START_MIN_MS) return;
    const copy = Buffer.from(payload);
    this.#coder ??= this.#start(ms);
    this.#coder.then(
      (coder) => coder.sound(ms, copy),
      () => {},
    );
  }

  /** @param ms on the timeline of the video. */
  direct({ ticks, data }: OpusPacket, ms: number): void {
    if (!this.#isStopped) this.#even(ms, ticks, data);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#drop();
  }

  async #start(ms: number): Promise<OpusCoder> {
    this.#startedMs = performance.now();
    const header = this.#header;
    const { ffmpeg, log } = this.#options;
    const coder = await startOpusCoder({ ffmpeg, log }, (at, data) => {
      this.#codedTicks += STEP_TICKS;
      this.#even(at, this.#codedTicks, data);
    });
    if (header !== null) coder.sound(ms, header);
    void coder.gone.then(async () => {
      await sleep(AGAIN_MS);
      if (this.#current === coder) [this.#coder, this.#current] = [null, null];
    });
    this.#current = coder;
    return coder;
  }

  async #drop(): Promise<void> {
    const coder = this.#coder;
    [this.#coder, this.#current] = [null, null];
    this.#shiftTicks = null;
    await (await coder?.catch(() => null))?.stop();
  }

  /** @param ticks of the source: they advance without rounding to milliseconds. */
  #even(ms: number, ticks: number, data: Buffer): void {
    const toldTicks = ms * TICKS_PER_MS - ticks;
    const known = this.#shiftTicks;
    const isOff = known === null || Math.abs(toldTicks - known) > JUMP_MS * TICKS_PER_MS;
    const shift = isOff ? toldTicks : known;
    this.#shiftTicks = shift;
    this.#options.onPacket(ticks + shift, data);
  }
}
