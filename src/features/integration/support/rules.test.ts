import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import { nextStatus, TICKET_ACTIONS } from './rules.ts';

/** Expected state after each action in each state; a dash means rejection. */
const TABLE = `
  from      PARTNER_REPLIES  STAFF_REPLIES  RESOLVE   CLOSE
  OPEN      OPEN             PENDING        RESOLVED  CLOSED
  PENDING   OPEN             PENDING        RESOLVED  CLOSED
  RESOLVED  OPEN             PENDING        RESOLVED  CLOSED
  CLOSED    -                -              -         CLOSED
`;

const [head = [], ...rows] = TABLE.trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/));

test('the table has every state and every action', () => {
  assert.deepEqual(head.slice(1), [...TICKET_ACTIONS]);
  assert.deepEqual(
    rows.map(([state]) => state),
    [...VALUES.support_ticket.status],
  );
});

for (const status of VALUES.support_ticket.status) {
  for (const [index, action] of TICKET_ACTIONS.entries()) {
    const expected = rows.find(([state]) => state === status)?.[index + 1];
    test(`${status}, ${action} results in ${expected}`, () => {
      assert.equal(nextStatus(status, action) ?? '-', expected);
    });
  }
}
