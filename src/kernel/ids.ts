import { randomInt, randomUUID, randomUUIDv7 } from 'node:crypto';
import { type Clock, systemClock } from './clock.ts';

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

/** Below the time of a UUIDv7. */
const RANDOM_BITS = 80n;
const RANDOM = 2n ** RANDOM_BITS - 1n;
const MAX_STEP = 2 ** 32;
/** A clock that was set back by more than this is followed, so that ids stay near the times of their rows. */
const MAX_AHEAD = 10_000n << RANDOM_BITS;
/** 48 bits. */
const MAX_MS = 2 ** 48 - 1;

const lastOf = new WeakMap<Clock, bigint>();

/** Larger than any before of this clock: within a millisecond a UUIDv7 by itself is in no order. */
function nextUuid(clock: Clock): bigint {
  const random = BigInt(`0x${randomUUIDv7().replaceAll('-', '')}`) & RANDOM;
  const uuid = (BigInt(Math.floor(clock.ms())) << RANDOM_BITS) | random;
  const last = lastOf.get(clock) ?? 0n;
  const isBehind = uuid <= last && last - uuid < MAX_AHEAD;
  const next = isBehind ? last + BigInt(randomInt(1, MAX_STEP)) : uuid;
  lastOf.set(clock, next);
  return next;
}

/**
 * A new id such as `str_01kd3v…`; ids sort by creation time, so lists page on the primary key.
 *
 * @param clock that of the row's `created_at`, where a list turns times into ids (`idAt`).
 */
export function newId(prefix: IdPrefix, clock: Clock = systemClock): string {
  return `${prefix}_${encodeUuid(nextUuid(clock))}`;
}

/** What is before every id of this time and of later ones. @param ms epoch milliseconds, of any size. */
export function idAt(prefix: IdPrefix, ms: number): string {
  const within = Math.floor(Math.min(Math.max(ms, 0), MAX_MS));
  return `${prefix}_${encodeUuid(BigInt(within) << RANDOM_BITS)}`;
}

/** Event ids and request ids are UUIDv4 on the wire (docs/api/conventions.md#ids). */
export function newUuid(): string {
  return randomUUID();
}

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

export function isUuidV4(text: string): boolean {
  return UUID_V4.test(text);
}
