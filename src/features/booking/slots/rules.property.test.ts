import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAgreement, changesOf, wallsAround } from '../../../../test/booking/slots-by-minute.ts';

const YEAR = 2027;

/** At midnight, by half an hour, by two, four times a year, twice in the south, at quarter hours. */
const ODD = [
  'Europe/Berlin',
  'America/New_York',
  'America/Havana',
  'America/Santiago',
  'America/Nuuk',
  'Africa/Cairo',
  'Africa/Casablanca',
  'Antarctica/Troll',
  'Asia/Beirut',
  'Asia/Jerusalem',
  'Australia/Lord_Howe',
  'Pacific/Chatham',
];

test('slots match a walk through all minutes, with changes of the clock', () => {
  let changes = 0;
  for (const timezone of ODD) {
    const days = changesOf(timezone, YEAR);
    changes += days.length;
    for (const day of days) assertAgreement(wallsAround(timezone, day), 6);
  }
  assert.ok(changes >= 2 * (ODD.length - 1), `${changes} changes`);
});

test('slots match a walk through all minutes, without changes of the clock', () => {
  for (const timezone of ['UTC', 'Asia/Kathmandu', 'Pacific/Kiritimati', 'America/St_Johns']) {
    assertAgreement(wallsAround(timezone, Date.UTC(YEAR, 0, 1)), 6);
  }
});

test('a day that a zone skipped has no slots', () => {
  assertAgreement(wallsAround('Pacific/Apia', Date.UTC(2011, 11, 30)), 20);
});
