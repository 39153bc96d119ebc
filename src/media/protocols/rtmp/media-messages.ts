import { type AmfObject, decodeAmf0, isAmfObject } from './amf0.ts';
import { MessageType, type RtmpMessage } from './messages.ts';
import { ProtocolError } from './protocol-error.ts';

const SUB_HEADER_BYTES = 11;
const BACK_POINTER_BYTES = 4;

const MAX_PARTS = 512;

/** An aggregate of more parts than are read. */
export class TooManyPartsError extends ProtocolError {
  override name = 'TooManyPartsError';
}

/**
 * The messages inside an aggregate (Adobe RTMP 1.0, 7.1.6); their times move to that of the aggregate.
 *
 * @throws {ProtocolError}
 */
export function splitAggregate(aggregate: RtmpMessage): RtmpMessage[] {
  const { payload } = aggregate;
  const parts: RtmpMessage[] = [];
  let shift: number | null = null;
  let count = 0;
  for (let at = 0; at + SUB_HEADER_BYTES <= payload.length; ) {
    const type = payload.readUInt8(at);
    const length = payload.readUIntBE(at + 1, 3);
    const time = payload.readUIntBE(at + 4, 3) + payload.readUInt8(at + 7) * 2 ** 24;
    const start = at + SUB_HEADER_BYTES;
    count += 1;
    if (count > MAX_PARTS) throw new TooManyPartsError(`aggregate message of more than ${MAX_PARTS} parts`);
    if (start + length > payload.length) throw new ProtocolError('aggregate message cut short');
    shift ??= aggregate.timestamp - time;
    const body = payload.subarray(start, start + length);
    if (type !== MessageType.aggregate) {
      parts.push({ type, streamId: aggregate.streamId, timestamp: (time + shift) >>> 0, payload: body });
    }
    at = start + length + BACK_POINTER_BYTES;
  }
  return parts;
}

/** The stream's properties, and the bytes that a script tag carries them in. */
export interface Metadata {
  properties: AmfObject;
  script: Buffer;
}

const SET_DATA_FRAME = '@setDataFrame';

/** null for any data message that is not `onMetaData`, bare or inside `@setDataFrame`, or is malformed. */
export function readMetadata(message: RtmpMessage): Metadata | null {
  const amf = message.type === MessageType.dataAmf3 ? message.payload.subarray(1) : message.payload;
  try {
    const values = decodeAmf0(amf);
    const wrapped = values[0] === SET_DATA_FRAME;
    const [name, properties] = wrapped ? values.slice(1) : values;
    if (name !== 'onMetaData' || properties === undefined || !isAmfObject(properties)) return null;
    return { properties, script: wrapped ? amf.subarray(3 + SET_DATA_FRAME.length) : amf };
  } catch (error) {
    if (error instanceof ProtocolError) return null;
    throw error;
  }
}
