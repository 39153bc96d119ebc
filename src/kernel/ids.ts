import { randomFillSync, randomUUID } from 'node:crypto';
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

const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz';
/** Crockford base32 digits of every ten-bit value. */
const PAIRS = Array.from(
  { length: 1024 },
  (_, bits) => LETTERS.charAt(bits >> 5) + LETTERS.charAt(bits & 31),
);

/** The 128 bits of a UUIDv7 (RFC 9562, section 5.7) as whole numbers: a BigInt takes ten times as long. */
interface Uuid {
  /** 48 bits. */
  ms: number;
  /** 40 bits, the version and the variant among them. */
  high: number;
  /** 40 bits. */
  low: number;
}

const [BITS_20, BITS_40] = [2 ** 20, 2 ** 40];
/** The greatest of 48 bits. */
const MAX_MS = 2 ** 48 - 1;

/** @throws {RangeError} when `ms` is not a number. */
function wholeMs(ms: number): number {
  if (Number.isNaN(ms)) throw new RangeError('the time of an ID must be a number');
  return Math.floor(Math.min(Math.max(ms, 0), MAX_MS));
}

function encode40(bits: number): string {
  const [high, low] = [Math.floor(bits / BITS_20), bits % BITS_20];
  return `${PAIRS[high >> 10]}${PAIRS[high & 1023]}${PAIRS[low >> 10]}${PAIRS[low & 1023]}`;
}

/** 26 lower-case Crockford base32 characters whose text order is time order. */
function encodeUuid({ ms, high, low }: Uuid): string {
  return `${PAIRS[Math.floor(ms / BITS_40)]}${encode40(ms % BITS_40)}${encode40(high)}${encode40(low)}`;
}

const random = Buffer.alloc(4000);
let randomRead = random.length;

/** Returns 40 random bits from a buffer; a system call per ID would cost most of its creation. */
function random40(): number {
  if (randomRead === random.length) {
    randomFillSync(random);
    randomRead = 0;
  }
  randomRead += 5;
  return random.readUIntBE(randomRead - 5, 5);
}

/** Version 7, 12 random bits, variant 2 and 22 random bits. */
function randomHigh(): number {
  const bits = random40();
  return 7 * 2 ** 36 + Math.floor(bits / 2 ** 28) * 2 ** 24 + 2 * 2 ** 22 + (bits % 2 ** 22);
}

const MAX_STEP = 2 ** 32;
/** A clock that was set back by more than this is followed, so that ids stay near the times of their rows. */
const MAX_AHEAD_MS = 10_000;

const lastOf = new WeakMap<Clock, Uuid>();

/** Larger than any before of this clock: within a millisecond a UUIDv7 by itself is in no order. */
function nextUuid(clock: Clock): Uuid {
  const ms = wholeMs(clock.ms());
  const last = lastOf.get(clock);
  const isBehind = last !== undefined && ms <= last.ms && last.ms - ms < MAX_AHEAD_MS;
  const next = isBehind ? after(last) : { ms, high: randomHigh(), low: random40() };
  lastOf.set(clock, next);
  return next;
}

function after({ ms, high, low }: Uuid): Uuid {
  const next = low + 1 + (random40() % MAX_STEP);
  return { ms, high: high + Math.floor(next / BITS_40), low: next % BITS_40 };
}

/**
 * A new id such as `str_01kd3v…`; ids sort by creation time, so lists page on the primary key.
 *
 * @param clock that of the row's `created_at`, where a list turns times into ids (`minIdAt`).
 */
export function newId(prefix: IdPrefix, clock: Clock = systemClock): string {
  return `${prefix}_${encodeUuid(nextUuid(clock))}`;
}

/**
 * Returns a string that sorts before every ID of this time and of later ones. @param ms epoch milliseconds,
 * of any size.
 */
export function minIdAt(prefix: IdPrefix, ms: number): string {
  return `${prefix}_${encodeUuid({ ms: wholeMs(ms), high: 0, low: 0 })}`;
}

/** Event ids and request ids are UUIDv4 on the wire (docs/concepts/conventions.md#ids). */
export function newUuid(): string {
  return randomUUID();
}

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

export function isUuidV4(text: string): boolean {
  return UUID_V4.test(text);
}
