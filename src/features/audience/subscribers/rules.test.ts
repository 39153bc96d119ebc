import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addOutcome, type Status } from './rules.ts';

const NOW = new Date('2026-11-20T00:00:01.000Z');
const YESTERDAY = new Date('2026-11-19T23:59:59.000Z');
const TODAY = new Date('2026-11-20T00:00:00.000Z');

const cases: [
  status: Status | null,
  hasLeft: boolean,
  hasConsent: boolean,
  becomes: Status,
  isAdded: boolean,
  isAsked: boolean,
][] = [
  [null, false, false, 'PENDING', true, true],
  [null, false, true, 'CONFIRMED', true, false],
  [null, true, true, 'PENDING', true, true],
  ['PENDING', false, false, 'PENDING', false, true],
  ['PENDING', false, true, 'CONFIRMED', false, false],
  ['PENDING', true, true, 'PENDING', false, true],
  ['CONFIRMED', false, false, 'CONFIRMED', false, false],
  ['CONFIRMED', true, true, 'CONFIRMED', false, false],
  ['UNSUBSCRIBED', true, false, 'PENDING', true, true],
  ['UNSUBSCRIBED', true, true, 'PENDING', true, true],
];

test('consent confirms all but unsubscribed addresses; the others are asked once per UTC day', () => {
  for (const [status, hasLeft, hasConsent, becomes, isAdded, isAsked] of cases) {
    const said = JSON.stringify({ status, hasLeft, hasConsent });
    for (const [askedAt, again] of [
      [null, true],
      [YESTERDAY, true],
      [TODAY, false],
    ] as const) {
      const outcome = addOutcome({ status, hasLeft, askedAt }, hasConsent, NOW);
      assert.deepEqual(outcome, { status: becomes, isAdded, isAsked: isAsked && again }, said);
    }
  }
});
