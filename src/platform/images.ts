import { imageSize } from 'image-size';

/** Pictures that users give, encoded anew: what was sent is never served. */
export interface Images {
  /**
   * A square WebP without metadata, cut around the middle.
   *
   * @param size pixels of each side.
   * @returns null when the bytes are no PNG, JPEG or WebP picture, are damaged, or have too many pixels.
   */
  square(bytes: Uint8Array, size: number): Promise<Buffer | null>;
}

/** A picture of more pixels would take hundreds of megabytes to decode. */
const MAX_PIXELS = 40_000_000;
const QUALITY = 85;

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const JPEG = Buffer.from([0xff, 0xd8, 0xff]);

/** By the first bytes: the library's other decoders are never reached. */
function isPicture(bytes: Buffer): boolean {
  const starts = (magic: Buffer) => bytes.subarray(0, magic.length).equals(magic);
  const webp = bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';
  return starts(PNG) || starts(JPEG) || webp;
}

export function createImages(): Images {
  // One picture at a time keeps the memory of the process bounded, whatever is uploaded at once.
  let last: Promise<unknown> = Promise.resolve();
  const convert = async (bytes: Buffer, size: number) => {
    try {
      // From the header alone: a decoder would already have taken the memory.
      const { width, height } = imageSize(bytes);
      if (width * height > MAX_PIXELS) return null;
      // A large native library that most runs never need.
      const { ResizeFit, Transformer } = await import('@napi-rs/image');
      const square = { width: size, height: size, fit: ResizeFit.Cover };
      return await new Transformer(bytes).rotate().resize(square).webp(QUALITY);
    } catch {
      return null;
    }
  };
  return {
    square(bytes, size) {
      const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      if (!isPicture(data)) return Promise.resolve(null);
      const result = last.then(() => convert(data, size));
      last = result;
      return result;
    },
  };
}
