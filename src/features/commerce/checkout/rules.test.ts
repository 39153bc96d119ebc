import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextCharge } from './rules.ts';

test("the next charge is dated in the creator's time zone, which is named", () => {
  const month = { interval: 'MONTH' } as const;
  const at = (now: string, timezone: string, trialDays = 0) =>
    nextCharge(new Date(now), month, { trialDays, timezone });
  assert.equal(at('2027-01-31T12:00:00Z', 'UTC'), '28 February 2027 (time zone UTC)');
  assert.equal(
    at('2027-01-31T12:00:00Z', 'Pacific/Auckland'),
    '1 March 2027 (time zone Pacific/Auckland)',
    'it is February there already',
  );
  assert.equal(
    at('2027-03-01T05:00:00Z', 'America/Los_Angeles', 7),
    '7 March 2027 (time zone America/Los_Angeles)',
    'it is still February there',
  );
});
