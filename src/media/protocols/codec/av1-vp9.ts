import { CodecError } from './bit-reader.ts';

const twoDigits = (value: number): string => String(value).padStart(2, '0');

/** The codec string of an av1C record (AV1-ISOBMFF, 2.3.3 and 5). @throws CodecError */
export function parseAv1Codec(record: Buffer): string {
  if (record.length < 4 || record[0] !== 0x81) throw new CodecError('not an AV1 configuration');
  const profileAndLevel = record.readUInt8(1);
  const flags = record.readUInt8(2);
  const tier = flags & 0x80 ? 'H' : 'M';
  const depth = flags & 0x40 ? (flags & 0x20 ? 12 : 10) : 8;
  return `av01.${profileAndLevel >> 5}.${twoDigits(profileAndLevel & 0x1f)}${tier}.${twoDigits(depth)}`;
}

/** The codec string of a vpcC record (VP codec ISO media file format binding). @throws CodecError */
export function parseVp9Codec(record: Buffer): string {
  // A full box begins with one byte of version and three of flags.
  if (record.length < 7) throw new CodecError('not a VP9 configuration');
  const [profile, level, depth] = [record.readUInt8(4), record.readUInt8(5), record.readUInt8(6) >> 4];
  return `vp09.${[profile, level, depth].map(twoDigits).join('.')}`;
}
