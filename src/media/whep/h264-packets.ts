import { MAX_PAYLOAD } from '../protocols/rtp/writer.ts';

const SPS = 7;
const PPS = 8;
/** Nothing of these is shown: supplemental information, delimiters and filler. */
const LEFT_OUT = new Set([6, 9, 12]);
const FU_A = 28;
const FIRST = 0x80;
const LAST = 0x40;
/** Units read of a frame: a frame has few, and one made of many tiny ones is not read to its end. */
const MOST_UNITS = 512;

/** The parameter sets of an AVCDecoderConfigurationRecord (ISO/IEC 14496-15, 5.3.3.1), as far as they can be read. */
export function parameterSetsOf(record: Buffer): Buffer[] {
  const sets: Buffer[] = [];
  let at = 5;
  for (const mask of [0x1f, 0xff]) {
    const count = (record[at] ?? 0) & mask;
    at += 1;
    for (let set = 0; set < count && at + 2 <= record.length; set += 1) {
      const end = at + 2 + record.readUInt16BE(at);
      if (end > record.length) return sets;
      sets.push(Buffer.from(record.subarray(at + 2, end)));
      at = end;
    }
  }
  return sets;
}

/** Returns the complete units of a frame, each preceded by its length (ISO/IEC 14496-15, 5.3.4.2). */
function unitsOf(data: Buffer, lengthBytes: number): Buffer[] {
  const units: Buffer[] = [];
  for (let at = 0; units.length < MOST_UNITS && at + lengthBytes < data.length; ) {
    const start = at + lengthBytes;
    const end = start + data.readUIntBE(at, lengthBytes);
    if (end > data.length) break;
    if (end > start) units.push(data.subarray(start, end));
    at = end;
  }
  return units;
}

const typeOf = (unit: Buffer) => (unit[0] ?? 0) & 0x1f;

/**
 * Packetizes one frame into payloads in memory of their own (RFC 6184): single units, and FU-A for units
 * larger than a packet.
 *
 * @param sets inserted before a keyframe without parameter sets: browsers expect them there.
 */
export function h264Payloads(data: Buffer, lengthBytes: number, sets: readonly Buffer[]): Buffer[] {
  const units = unitsOf(data, lengthBytes).filter((unit) => !LEFT_OUT.has(typeOf(unit)));
  const hasOwn = [SPS, PPS].every((type) => units.some((unit) => typeOf(unit) === type));
  return [...(hasOwn ? [] : sets), ...units].flatMap(payloadsOf);
}

function payloadsOf(unit: Buffer): Buffer[] {
  if (unit.length <= MAX_PAYLOAD) return [Buffer.from(unit)];
  const first = unit.readUInt8(0);
  const payloads: Buffer[] = [];
  const step = MAX_PAYLOAD - 2;
  for (let at = 1; at < unit.length; at += step) {
    const marks = (at === 1 ? FIRST : 0) | (at + step >= unit.length ? LAST : 0);
    const head = Buffer.of((first & 0xe0) | FU_A, marks | (first & 0x1f));
    payloads.push(Buffer.concat([head, unit.subarray(at, at + step)]));
  }
  return payloads;
}
