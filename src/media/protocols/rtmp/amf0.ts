import { dateFromMs } from '../../../kernel/clock.ts';
import { ProtocolError } from './protocol-error.ts';

/** AMF0 values as RTMP commands use them; ECMA arrays and typed objects are read as plain objects. */
export type AmfValue = undefined | null | boolean | number | string | Date | AmfValue[] | AmfObject;
export interface AmfObject {
  [name: string]: AmfValue;
}

const Marker = {
  number: 0x00,
  boolean: 0x01,
  string: 0x02,
  object: 0x03,
  null: 0x05,
  undefined: 0x06,
  ecmaArray: 0x08,
  objectEnd: 0x09,
  strictArray: 0x0a,
  date: 0x0b,
  longString: 0x0c,
  unsupported: 0x0d,
  xml: 0x0f,
  typedObject: 0x10,
} as const;

export interface AmfLimits {
  depth: number;
  stringBytes: number;
  /** Values in one decoded buffer, at every depth. */
  values: number;
}

const DEFAULT_LIMITS: AmfLimits = { depth: 16, stringBytes: 64 * 1024, values: 2048 };

/**
 * Reads every AMF0 value in `bytes` ("Action Message Format AMF 0", 2006).
 * @throws ProtocolError, and nothing else, when a value is malformed, cut short or over a limit.
 */
export function decodeAmf0(bytes: Buffer, limits: AmfLimits = DEFAULT_LIMITS): AmfValue[] {
  const decoder = new Amf0Decoder(bytes, limits);
  const values: AmfValue[] = [];
  while (!decoder.atEnd()) values.push(decoder.value(0));
  return values;
}

export function isAmfObject(value: AmfValue): value is AmfObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

class Amf0Decoder {
  #bytes: Buffer;
  #limits: AmfLimits;
  #at = 0;
  #values = 0;

  constructor(bytes: Buffer, limits: AmfLimits) {
    this.#bytes = bytes;
    this.#limits = limits;
  }

  atEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  value(depth: number): AmfValue {
    if (depth > this.#limits.depth) throw new ProtocolError('AMF0: nested too deeply');
    if (++this.#values > this.#limits.values) throw new ProtocolError('AMF0: too many values');
    const marker = this.#bytes.readUInt8(this.#take(1));
    switch (marker) {
      case Marker.number:
        return this.#bytes.readDoubleBE(this.#take(8));
      case Marker.boolean:
        return this.#bytes.readUInt8(this.#take(1)) !== 0;
      case Marker.string:
        return this.#shortString();
      case Marker.object:
        return this.#object(depth);
      case Marker.null:
        return null;
      case Marker.undefined:
      case Marker.unsupported:
        return undefined;
      case Marker.ecmaArray:
        this.#take(4); // the count is only a hint: the end marker decides
        return this.#object(depth);
      case Marker.strictArray:
        return this.#strictArray(depth);
      case Marker.date: {
        const ms = this.#bytes.readDoubleBE(this.#take(8));
        this.#take(2); // time zone, reserved
        return dateFromMs(ms);
      }
      case Marker.longString:
      case Marker.xml:
        return this.#string(this.#bytes.readUInt32BE(this.#take(4)));
      case Marker.typedObject:
        this.#shortString();
        return this.#object(depth);
      default:
        throw new ProtocolError(`AMF0: unknown marker ${marker}`);
    }
  }

  #object(depth: number): AmfObject {
    // No prototype: a property named __proto__ is then an ordinary one.
    const object: AmfObject = Object.create(null);
    for (;;) {
      const name = this.#shortString();
      if (name === '' && this.#bytes[this.#at] === Marker.objectEnd) {
        this.#at++;
        return object;
      }
      object[name] = this.value(depth + 1);
    }
  }

  #strictArray(depth: number): AmfValue[] {
    const count = this.#bytes.readUInt32BE(this.#take(4));
    if (count > this.#bytes.length - this.#at) throw new ProtocolError('AMF0: array longer than the data');
    const array: AmfValue[] = [];
    for (let i = 0; i < count; i++) array.push(this.value(depth + 1));
    return array;
  }

  #shortString(): string {
    return this.#string(this.#bytes.readUInt16BE(this.#take(2)));
  }

  #string(length: number): string {
    if (length > this.#limits.stringBytes) throw new ProtocolError('AMF0: string too long');
    const start = this.#take(length);
    return this.#bytes.toString('utf8', start, start + length);
  }

  /** The offset of the next `length` bytes, which are then consumed. */
  #take(length: number): number {
    const start = this.#at;
    if (start + length > this.#bytes.length) throw new ProtocolError('AMF0: truncated');
    this.#at = start + length;
    return start;
  }
}

/** Writes the values one after another. Arrays become strict arrays, other objects AMF0 objects. */
export function encodeAmf0(values: readonly AmfValue[]): Buffer {
  return Buffer.concat(values.flatMap(encodeValue));
}

function encodeValue(value: AmfValue): Buffer[] {
  if (value === undefined) return [Buffer.of(Marker.undefined)];
  if (value === null) return [Buffer.of(Marker.null)];
  if (typeof value === 'boolean') return [Buffer.of(Marker.boolean, value ? 1 : 0)];
  if (typeof value === 'number') return [Buffer.of(Marker.number), double(value)];
  if (typeof value === 'string') return encodeString(value);
  if (value instanceof Date) return [Buffer.of(Marker.date), double(value.getTime()), Buffer.of(0, 0)];
  if (Array.isArray(value)) {
    return [Buffer.of(Marker.strictArray), uint32(value.length), ...value.flatMap(encodeValue)];
  }
  const properties = Object.entries(value).flatMap(([name, child]) => [
    shortString(name),
    ...encodeValue(child),
  ]);
  return [Buffer.of(Marker.object), ...properties, Buffer.of(0, 0, Marker.objectEnd)];
}

function encodeString(text: string): Buffer[] {
  const bytes = Buffer.from(text, 'utf8');
  return bytes.length <= 0xffff
    ? [Buffer.of(Marker.string), shortString(text)]
    : [Buffer.of(Marker.longString), uint32(bytes.length), bytes];
}

/** @throws RangeError when the text has more than 65,535 bytes (a property name cannot). */
function shortString(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function double(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
