import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from './clock.ts';
import { isUuidV4, newId, newUuid } from './ids.ts';

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

test('a UUIDv4 is told from other versions, other variants and other texts', () => {
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
