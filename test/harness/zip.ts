import { inflateRawSync } from 'node:zlib';

const CENTRAL = 0x02014b50;
const WIDE = 0xffffffff;

/** The files of a ZIP archive, by its directory (APPNOTE.TXT 4.3.12), with sizes in the ZIP64 form where they are. */
export function unzip(archive: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  let at = archive.indexOf(Buffer.from('504b0102', 'hex'));
  while (archive.readUInt32LE(at) === CENTRAL) {
    const name = archive.subarray(at + 46, at + 46 + archive.readUInt16LE(at + 28));
    const extraAt = at + 46 + name.length;
    const extra = archive.subarray(extraAt, extraAt + archive.readUInt16LE(at + 30));
    const [, size = 0, local = 0] = wideNumbers(
      [24, 20, 42].map((field) => archive.readUInt32LE(at + field)),
      extra,
    );
    const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
    const packed = archive.subarray(start, start + size);
    files.set(String(name), archive.readUInt16LE(at + 10) === 0 ? packed : inflateRawSync(packed));
    at = extraAt + extra.length + archive.readUInt16LE(at + 32);
  }
  return files;
}

/** Reads the numbers that do not fit from the extra field 1, in this order (4.5.3). */
function wideNumbers(narrow: readonly number[], extra: Buffer): number[] {
  let field = 0;
  while (field < extra.length && extra.readUInt16LE(field) !== 1) field += 4 + extra.readUInt16LE(field + 2);
  let next = field + 4;
  return narrow.map((value) => {
    if (value !== WIDE) return value;
    next += 8;
    return Number(extra.readBigUInt64LE(next - 8));
  });
}
