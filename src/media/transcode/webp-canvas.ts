import type { WebpFrame } from './webp.ts';

const CHANNELS = 4;
const OPAQUE = 255;
/** So many pixels are laid down before others have their turn: some milliseconds. */
const STRIPE_PIXELS = 250_000;

/** What an animation shows at a moment, in RGBA, over white. */
export class WebpCanvas {
  readonly pixels: Buffer;
  readonly #width: number;
  #emptied: WebpFrame | null = null;

  constructor({ width, height }: { width: number; height: number }) {
    this.#width = width;
    this.pixels = Buffer.alloc(width * height * CHANNELS, OPAQUE);
  }

  /** @param picture its pixels in RGBA. */
  async draw(frame: WebpFrame, picture: Buffer): Promise<void> {
    if (this.#emptied !== null) this.#empty(this.#emptied);
    this.#emptied = frame.clears ? frame : null;
    const rows = Math.max(1, Math.floor(STRIPE_PIXELS / frame.width));
    for (let row = 0; row < frame.height; row += rows) {
      const until = Math.min(frame.height, row + rows);
      for (let y = row; y < until; y += 1) this.#drawRow(frame, y, picture);
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
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

  #drawRow(frame: WebpFrame, row: number, picture: Buffer): void {
    const { pixels } = this;
    const bytes = frame.width * CHANNELS;
    let to = this.#at(frame, row);
    for (let from = row * bytes; from < (row + 1) * bytes; from += CHANNELS, to += CHANNELS) {
      const alpha = picture[from + 3] ?? 0;
      for (let channel = 0; channel < 3; channel += 1) {
        const under = frame.covers ? OPAQUE : (pixels[to + channel] ?? 0);
        const over = picture[from + channel] ?? 0;
        pixels[to + channel] = (over * alpha + under * (OPAQUE - alpha)) / OPAQUE;
      }
    }
  }
}
