import type * as native from '@napi-rs/image';
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
  /** The whole picture as a JPEG without metadata, its longer side at most `size` pixels; null as above. */
  within(bytes: Uint8Array, size: number): Promise<Buffer | null>;
}

type NativeImages = typeof native;
type Transformer = InstanceType<NativeImages['Transformer']>;
/** What becomes of a decoded picture whose longer side has so many pixels. */
type Shape = (picture: Transformer, library: NativeImages, longSide: number) => Promise<Buffer>;

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
  const convert = async (bytes: Buffer, shape: Shape) => {
    try {
      // From the header alone: a decoder would already have taken the memory.
      const { width, height } = imageSize(bytes);
      if (width * height > MAX_PIXELS) return null;
      // A large native library that most runs never need.
      const library = await import('@napi-rs/image');
      return await shape(new library.Transformer(bytes).rotate(), library, Math.max(width, height));
    } catch {
      return null;
    }
  };
  const queue = (bytes: Uint8Array, shape: Shape): Promise<Buffer | null> => {
    const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (!isPicture(data)) return Promise.resolve(null);
    const result = last.then(() => convert(data, shape));
    last = result;
    return result;
  };
  return {
    square: (bytes, size) =>
      queue(bytes, (picture, { ResizeFit }) =>
        picture.resize({ width: size, height: size, fit: ResizeFit.Cover }).webp(QUALITY),
      ),
    within: (bytes, size) =>
      queue(bytes, (picture, { ResizeFit }, longSide) =>
        (longSide > size
          ? picture.resize({ width: size, height: size, fit: ResizeFit.Inside })
          : picture
        ).jpeg(QUALITY),
      ),
  };
}
