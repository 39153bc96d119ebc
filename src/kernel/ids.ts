import { randomInt, randomUUID, randomUUIDv7 } from 'node:crypto';

/**
 * Every resource prefix there is; the rest of an id is a UUIDv7 (TypeID form,
 * docs/decisions/lists-and-ids.md#ids).
 */
export type IdPrefix =
  | 'usr'
  | 'wsp'
  | 'key'
  | 'uss'
  | 'str'
  | 'ses'
  | 'ing'
  | 'wh'
  | 'dlv'
  | 'nod'
  | 'sic'
  | 'mail'
  | 'dom'
  | 'ava'
  | 'ntf'
  | 'vid'
  | 'cap'
  | 'upl'
  | 'imp'
  | 'pls'
  | 'pli'
  | 'rec'
  | 'tkt'
  | 'tkm'
  | 'req'
  | 'rst'
  | 'rtg'
  | 'brg'
  | 'msg'
  | 'gst'
  | 'ban'
  | 'room'
  | 'rpt'
  | 'rmm'
  | 'tier'
  | 'dsc'
  | 'cus'
  | 'chk'
  | 'sub'
  | 'pur'
  | 'pay'
  | 'pyo'
  | 'acc'
  | 'ltx'
  | 'bkp'
  | 'bkg'
  | 'coh'
  | 'cse'
  | 'cvi'
  | 'occ'
  | 'cal'
  | 'wl'
  | 'fct'
  | 'fol'
  | 'chn'
  | 'bnr'
  | 'sbr'
  | 'mem'
  | 'inv'
  | 'exp';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** 26 lower-case Crockford base32 characters whose text order is time order. */
function encodeUuid(uuid: bigint): string {
  let value = uuid;
  let text = '';
  for (let i = 0; i < 26; i++) {
    text = ALPHABET.charAt(Number(value & 31n)) + text;
    value >>= 5n;
  }
  return text;
}

let last = 0n;
const MAX_STEP = 2 ** 32;

/** Larger than any before in this process: within a millisecond a UUIDv7 by itself is in no order. */
function nextUuid(): bigint {
  const uuid = BigInt(`0x${randomUUIDv7().replaceAll('-', '')}`);
  last = uuid > last ? uuid : last + BigInt(randomInt(1, MAX_STEP));
  return last;
}

/** A new id such as `str_01kd3v…`; ids sort by creation time, so lists page on the primary key. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${encodeUuid(nextUuid())}`;
}

/** Event ids and request ids are UUIDv4 on the wire (docs/api/conventions.md#ids). */
export function newUuid(): string {
  return randomUUID();
}

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

export function isUuidV4(text: string): boolean {
  return UUID_V4.test(text);
}
