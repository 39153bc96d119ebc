import type { FileHandle } from 'node:fs/promises';
import { codecOfInitSegment } from '../live/h264.ts';
import { parseAudioSpecificConfig } from '../protocols/codec/aac.ts';
import { parseAv1Codec } from '../protocols/codec/av1-vp9.ts';
import { parseHevcConfig } from '../protocols/codec/hevc.ts';

const HEADER_BYTES = 16;
const ES_DESCRIPTOR = 3;
const DECODER_CONFIG_DESCRIPTOR = 4;
const DECODER_SPECIFIC_INFO = 5;

/** Reports whether the boxes of a file (ISO/IEC 14496-12 4.2) end exactly at its end. */
export async function isWholeBoxFile(file: FileHandle, size: number): Promise<boolean> {
  const header = Buffer.alloc(HEADER_BYTES);
  let at = 0;
  while (at < size) {
    const { bytesRead } = await file.read(header, 0, HEADER_BYTES, at);
    if (bytesRead < 8) return false;
    const short = header.readUInt32BE(0);
    const length = short === 1 && bytesRead === HEADER_BYTES ? Number(header.readBigUInt64BE(8)) : short;
    if (length < 8) return false;
    at += length;
  }
  return at === size && size > 0;
}

const SIDX_MAX_BYTES = 128;

/**
 * Returns the duration of a segment from its own index (`sidx`, ISO/IEC 14496-12 8.16.3); null when it has
 * none. ffmpeg writes one, with one reference, before the media.
 */
export async function segmentDuration(file: FileHandle): Promise<number | null> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(SIDX_MAX_BYTES), 0, SIDX_MAX_BYTES, 0);
  const at = buffer.indexOf('sidx', 0, 'latin1');
  if (at < 0) return null;
  const timescaleAt = at + 12;
  const durationAt = at + (buffer[at + 4] === 0 ? 24 : 32) + 8;
  if (durationAt + 4 > bytesRead || buffer.readUInt32BE(timescaleAt) === 0) return null;
  return buffer.readUInt32BE(durationAt) / buffer.readUInt32BE(timescaleAt);
}

/** RFC 6381, with the true profile, tier and level: from the configuration record; null when there is none. */
export function videoCodecOfInitSegment(init: Buffer): string | null {
  const hevc = configRecord(init, 'hvcC');
  if (hevc !== null) return parseHevcConfig(hevc).codec;
  const av1 = configRecord(init, 'av1C');
  return av1 === null ? codecOfInitSegment(init) : parseAv1Codec(av1);
}

const SAMPLE_ENTRIES = ['avc1', 'hvc1', 'av01'];
/** Offset from the type of a VisualSampleEntry (ISO/IEC 14496-12 12.1.3) to its width. */
const ENTRY_SIZE_AT = 28;

/** Returns the resolution of the video; null without a known sample entry. */
export function sizeOfInitSegment(init: Buffer): { width: number; height: number } | null {
  const stsd = init.indexOf('stsd', 0, 'latin1');
  if (stsd < 0) return null;
  const entries = SAMPLE_ENTRIES.map((type) => init.indexOf(type, stsd, 'latin1'));
  const at = entries.find((entry) => entry >= 0) ?? init.length;
  if (at + ENTRY_SIZE_AT + 4 > init.length) return null;
  const [width, height] = [init.readUInt16BE(at + ENTRY_SIZE_AT), init.readUInt16BE(at + ENTRY_SIZE_AT + 2)];
  return width === 0 || height === 0 ? null : { width, height };
}

function configRecord(init: Buffer, box: string): Buffer | null {
  const at = init.indexOf(box, 0, 'latin1');
  return at < 4 ? null : init.subarray(at + 4, at - 4 + init.readUInt32BE(at - 4));
}

/**
 * Returns the codec string, such as `mp4a.40.2`, from the `esds` box (ISO/IEC 14496-1 7.2.6); null when there
 * is none.
 */
export function audioCodecOfInitSegment(init: Buffer): string | null {
  const at = init.indexOf('esds', 0, 'latin1');
  if (at < 0) return null;
  const config = decoderSpecificInfo(init.subarray(at + 8));
  return config && parseAudioSpecificConfig(config).codec;
}

/** Descends the descriptors: each has a tag, a length in groups of seven bits, and its content. */
function decoderSpecificInfo(bytes: Buffer): Buffer | null {
  let rest = bytes;
  for (;;) {
    const tag = rest[0];
    let at = 1;
    let length = 0;
    for (let byte = 0x80; byte & 0x80; at += 1) {
      byte = rest[at] ?? 0;
      length = (length << 7) | (byte & 0x7f);
    }
    if (tag === DECODER_SPECIFIC_INFO) return rest.subarray(at, at + length);
    if (tag === ES_DESCRIPTOR) rest = rest.subarray(at + 3);
    else if (tag === DECODER_CONFIG_DESCRIPTOR) rest = rest.subarray(at + 13);
    else return null;
  }
}
