import type { WebpFrame } from './webp.ts';

const CHANNELS = 4;
const OPAQUE = 255;
/** Pixels drawn before yielding to the event loop: a few milliseconds of work. */
const STRIPE_PIXELS = 250_000;

/** Current frame of an animation, in RGBA, over white. */
export class WebpCanvas {
  readonly pixels: Buffer;
  readonly #width: number;
  #emptied: WebpFrame | null = null;

  constructor({ width, height }: { width: number; height: number }) {
    this.#width = width;
    this.pixels = Buffer.alloc(width * height * CHANNELS, OPAQUE);
  }

  /** @param picture pixels in RGBA. */
  async draw(frame: WebpFrame, picture: Buffer): Promise<void> {
    this.#begin(frame);
    const rows = Math.max(1, Math.floor(STRIPE_PIXELS / frame.width));
    for (let row = 0; row < frame.height; row += rows) {
      const until = Math.min(frame.height, row + rows);
      for (let y = row; y < until; y += 1) this.#drawRow(frame, y, picture, y * frame.width * CHANNELS);
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  /** Draws a large frame incrementally: its pixels are passed in chunks to the returned function. */
  painter(frame: WebpFrame): (bytes: Buffer) => void {
    this.#begin(frame);
    const line = Buffer.alloc(frame.width * CHANNELS);
    let row = 0;
    let filled = 0;
    return (bytes) => {
      for (let at = 0; at < bytes.length && row < frame.height; ) {
        const taken = bytes.copy(line, filled, at);
        at += taken;
        filled += taken;
        if (filled < line.length) return;
        this.#drawRow(frame, row, line, 0);
        row += 1;
        filled = 0;
      }
    };
  }

  #begin(frame: WebpFrame): void {
    if (this.#emptied !== null) this.#empty(this.#emptied);
    this.#emptied = frame.clears ? frame : null;
  }

  #at({ x, y }: WebpFrame, row: number): number {
    return ((y + row) * this.#width + x) * CHANNELS;
  }

  #empty(frame: WebpFrame): void {
    for (let row = 0; row < frame.height; row += 1) {
      const at = this.#at(frame, row);
      this.pixels.fill(OPAQUE, at, at + frame.width * CHANNELS);
    }
  }

  /** @param begin offset of the row in `picture`. */
  #drawRow(frame: WebpFrame, row: number, picture: Buffer, begin: number): void {
    const { pixels } = this;
    const bytes = frame.width * CHANNELS;
    let to = this.#at(frame, row);
    for (let from = begin; from < begin + bytes; from += CHANNELS, to += CHANNELS) {
      const alpha = picture[from + 3] ?? 0;
      for (let channel = 0; channel < 3; channel += 1) {
        const under = frame.covers ? OPAQUE : (pixels[to + channel] ?? 0);
        const over = picture[from + channel] ?? 0;
        pixels[to + channel] = (over * alpha + under * (OPAQUE - alpha)) / OPAQUE;
      }
    }
  }
}
