import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAgreement, changesOf, wallsAround } from '../../../../test/booking/slots-by-minute.ts';

const YEAR = 2027;

test('slots match a walk through all minutes, in every zone at every change of its clocks in a year', () => {
  let changes = 0;
  for (const timezone of Intl.supportedValuesOf('timeZone')) {
    const days = changesOf(timezone, YEAR);
    changes += days.length;
    for (const day of days) assertAgreement(wallsAround(timezone, day), 12);
    assertAgreement(wallsAround(timezone, Date.UTC(YEAR, 5, 10)), 2);
  }
  assert.ok(changes > 200, `${changes} changes`);
});
