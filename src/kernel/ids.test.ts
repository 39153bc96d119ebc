import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, dateFromMs, systemClock } from './clock.ts';
import { isUuidV4, minIdAt, newId, newUuid } from './ids.ts';

test('an id is a prefix and 26 characters that read as a UUIDv7', () => {
  const before = systemClock.ms();
  const id = newId('str');
  assert.match(id, /^str_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
  const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
  const value = [...id.slice(4)].reduce((sum, letter) => sum * 32n + BigInt(alphabet.indexOf(letter)), 0n);
  const hex = value.toString(16).padStart(32, '0');
  assert.equal(hex[12], '7');
  const ms = Number.parseInt(hex.slice(0, 12), 16);
  assert.ok(ms >= before && ms <= systemClock.ms());
});

test('ids sort by their making, however many a millisecond sees', () => {
  const ids = Array.from({ length: 5000 }, () => newId('ses'));
  assert.deepEqual(ids.toSorted(), ids);
  assert.equal(new Set(ids).size, ids.length);
});

test('an id has the time of its clock, also where that is set back', () => {
  let ms = Date.parse('2026-01-01T00:00:00Z');
  const clock: Clock = { ms: () => ms, now: () => dateFromMs(ms) };
  const made = () => {
    const ids = Array.from({ length: 100 }, () => newId('vid', clock));
    assert.deepEqual(ids.toSorted(), ids);
    for (const id of ids) assert.ok(minIdAt('vid', ms) <= id && id < minIdAt('vid', ms + 1), id);
    return ids;
  };
  const before = made();
  ms += 1;
  assert.ok(String(before.at(-1)) < String(made()[0]));
  ms -= 3_600_000;
  assert.ok(String(made().at(-1)) < String(before[0]));
  assert.ok(minIdAt('vid', -1) < minIdAt('vid', 1) && minIdAt('vid', 1) < minIdAt('vid', Infinity));
});

test('a clock outside the valid range still creates IDs, and one without a time throws', () => {
  const at = (ms: number): Clock => ({ ms: () => ms, now: () => dateFromMs(0) });
  for (const ms of [-1, 0, 0.7, 2 ** 48, Infinity])
    assert.match(newId('str', at(ms)), /^str_[0-7][0-9a-z]{25}$/);
  assert.throws(() => newId('str', at(Number.NaN)), RangeError);
  assert.throws(() => minIdAt('str', Number.NaN), RangeError);
});

test('a UUIDv4 is distinguished from other versions, other variants and other texts', () => {
  assert.ok(isUuidV4(newUuid()));
  assert.ok(isUuidV4('9B2F6D3A-1C4E-4F5A-8B6C-7D8E9F0A1B2C'));
  for (const text of [
    '',
    'x',
    '9b2f6d3a-1c4e-1f5a-8b6c-7d8e9f0a1b2c',
    '9b2f6d3a-1c4e-7f5a-8b6c-7d8e9f0a1b2c',
    '9b2f6d3a-1c4e-4f5a-cb6c-7d8e9f0a1b2c',
    '9b2f6d3a1c4e4f5a8b6c7d8e9f0a1b2c',
    '{9b2f6d3a-1c4e-4f5a-8b6c-7d8e9f0a1b2c}',
    '9b2f6d3a-1c4e-4f5a-8b6c-7d8e9f0a1b2c\n',
    ' 9b2f6d3a-1c4e-4f5a-8b6c-7d8e9f0a1b2c',
  ]) {
    assert.equal(isUuidV4(text), false, JSON.stringify(text));
  }
});
