import { open } from 'node:fs/promises';
import { MediaFileError } from '../contract/index.ts';

const HEAD_BYTES = 4096;
const TS_PACKET_BYTES = [188, 192, 204];
const TS_SYNC = 0x47;
const TS_SYNCS = 5;
const PROGRAM_STREAM = '000001ba';

/**
 * Checks the first bytes before any parser of ffmpeg reads the file: text that references other files is
 * rejected.
 *
 * @throws {MediaFileError}
 */
export async function sniff(path: string): Promise<void> {
  const head = await readHead(path);
  if (head.length === 0) throw new MediaFileError('CORRUPT_INPUT', 'The file is empty.');
  if (isVideoContainer(head)) return;
  if (isAudio(head)) throw new MediaFileError('NO_VIDEO_TRACK', 'The file contains audio but no video.');
  if (isAnimatedPng(head)) {
    const message = 'Animated PNG is not supported. Upload it as MP4, WebM, WebP or GIF.';
    throw new MediaFileError('UNSUPPORTED_FORMAT', message);
  }
  const picture = pictureKind(head);
  if (picture !== null) throw stillImageError(picture);
  throw new MediaFileError('UNSUPPORTED_FORMAT', 'The file is not a supported video file.');
}

/** Reports whether a file is an MPEG transport or program stream, whose timestamps may begin again on the way. */
export async function isBroadcastFormat(path: string): Promise<boolean> {
  const head = await readHead(path);
  return isTransportStream(head) || startsWith(head, PROGRAM_STREAM);
}

/** @param kind common name of the format: `PNG`. */
export function stillImageError(kind: string): MediaFileError {
  return new MediaFileError('UNSUPPORTED_FORMAT', `This is an image (${kind}), not a video.`);
}

const PNG = '89504e470d0a1a0a';

/**
 * Reports whether a PNG is animated, by the chunk before its first frame
 * (https://www.w3.org/TR/png-3/#acTL-chunk).
 */
function isAnimatedPng(head: Buffer): boolean {
  const at = head.indexOf('acTL', 0, 'latin1');
  const pixels = head.indexOf('IDAT', 0, 'latin1');
  return startsWith(head, PNG) && at > 0 && (pixels < 0 || at < pixels);
}

function pictureKind(head: Buffer): string | null {
  if (startsWith(head, PNG)) return 'PNG';
  if (startsWith(head, 'ffd8ff')) return 'JPEG';
  if (ascii(head, 0, 4) === 'RIFF' && ascii(head, 8, 12) === 'WEBP') return 'WebP';
  if (startsWith(head, '49492a00') || startsWith(head, '4d4d002a')) return 'TIFF';
  if (ascii(head, 4, 8) === 'ftyp' && PICTURE_BRANDS.includes(ascii(head, 8, 12))) return 'HEIF or AVIF';
  return ascii(head, 0, 2) === 'BM' ? 'BMP' : null;
}

async function readHead(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

function isVideoContainer(head: Buffer): boolean {
  return (
    isIsoMedia(head) ||
    startsWith(head, '1a45dfa3') || // Matroska, WebM
    (ascii(head, 0, 4) === 'RIFF' && ascii(head, 8, 12) === 'AVI ') ||
    ascii(head, 0, 3) === 'FLV' ||
    /^GIF8[79]a$/.test(ascii(head, 0, 6)) || // still or animated: decided by the packets
    ascii(head, 0, 4) === 'OggS' ||
    startsWith(head, PROGRAM_STREAM) ||
    startsWith(head, '3026b2758e66cf11') || // ASF, WMV
    isTransportStream(head)
  );
}

const ISO_BOXES = ['ftyp', 'moov', 'mdat', 'free', 'skip', 'wide', 'pnot', 'styp', 'moof'];
/** Brands of HEIF and AVIF: still images in the same boxes. */
const PICTURE_BRANDS = ['heic', 'heix', 'mif1', 'avif'];

function isIsoMedia(head: Buffer): boolean {
  const box = ascii(head, 4, 8);
  return ISO_BOXES.includes(box) && !(box === 'ftyp' && PICTURE_BRANDS.includes(ascii(head, 8, 12)));
}

/**
 * Reports whether the data is a transport stream. Recordings often begin in the middle of a packet, and
 * Blu-ray packets have four bytes before the sync byte.
 */
function isTransportStream(head: Buffer): boolean {
  return TS_PACKET_BYTES.some((size) => {
    for (let start = 0; start < size; start += 1) {
      let syncs = 0;
      while (syncs < TS_SYNCS && head[start + syncs * size] === TS_SYNC) syncs += 1;
      if (syncs === TS_SYNCS) return true;
    }
    return false;
  });
}

function isAudio(head: Buffer): boolean {
  return (
    ascii(head, 0, 3) === 'ID3' ||
    ascii(head, 0, 4) === 'fLaC' ||
    (ascii(head, 0, 4) === 'RIFF' && ascii(head, 8, 12) === 'WAVE') ||
    // MPEG audio and AAC.
    /^ff(fb|fa|f3|f2|f1|f9)/.test(head.toString('hex', 0, 2))
  );
}

function ascii(head: Buffer, from: number, to: number): string {
  return head.toString('latin1', from, to);
}

function startsWith(head: Buffer, hex: string): boolean {
  return head.toString('hex', 0, hex.length / 2) === hex;
}
