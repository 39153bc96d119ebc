import type * as native from '@napi-rs/image';
import { imageSize } from 'image-size';

/** Re-encodes images uploaded by users: the original bytes are never served. */
export interface Images {
  /**
   * Returns a square WebP without metadata, cropped around the center.
   *
   * @param size pixels of each side.
   * @returns null when the bytes are not a PNG, JPEG or WebP image, are damaged, or have too many pixels.
   */
  square(bytes: Uint8Array, size: number): Promise<Buffer | null>;
  /**
   * Returns the whole image as a JPEG without metadata, its longer side at most `size` pixels; null as for
   * `square`.
   */
  within(bytes: Uint8Array, size: number): Promise<Buffer | null>;
}

type NativeImages = typeof native;
type Transformer = InstanceType<NativeImages['Transformer']>;
/** Conversion of a decoded image whose longer side has `longSide` pixels. */
type Shape = (picture: Transformer, library: NativeImages, longSide: number) => Promise<Buffer>;

/** Maximum pixels of an image; more would take hundreds of megabytes to decode. */
const MAX_PIXELS = 40_000_000;
const QUALITY = 85;

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const JPEG = Buffer.from([0xff, 0xd8, 0xff]);

/** By the first bytes: the library's other decoders are never reached. */
function isImage(bytes: Buffer): boolean {
  const starts = (magic: Buffer) => bytes.subarray(0, magic.length).equals(magic);
  const webp = bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';
  return starts(PNG) || starts(JPEG) || webp;
}

export function createImages(): Images {
  // Converting one image at a time bounds the memory of the process, regardless of concurrent uploads.
  let last: Promise<unknown> = Promise.resolve();
  const convert = async (bytes: Buffer, shape: Shape) => {
    try {
      // Read from the header: a decoder would already have allocated the memory.
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
    if (!isImage(data)) return Promise.resolve(null);
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
