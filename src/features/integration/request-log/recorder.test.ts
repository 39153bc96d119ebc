import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestClock } from '../../../../test/harness/clock.ts';
import { createRecorder, type RecordedRequest } from './recorder.ts';

const refusal = {
  requestId: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
  workspaceId: 'wsp_1',
  method: 'GET',
  path: '/api/v1/streams',
  status: 404,
  code: 'NOT_FOUND',
  ms: 1,
} as const;

/** Opens a recorder whose writes have the outcome set by the test. */
function open() {
  const written: (readonly RecordedRequest[])[] = [];
  const state = { answer: async () => {}, dropped: 0, warnings: 0 };
  const recorder = createRecorder({
    async write(rows) {
      await state.answer();
      written.push(rows);
    },
    clock: new TestClock(),
    log: {
      warn() {
        state.warnings += 1;
      },
    },
    onRowsDropped(count) {
      state.dropped += count;
    },
  });
  const note = (count: number) => {
    // Spread over many keys, so that the limit per key does not apply.
    for (let n = 0; n < count; n++) recorder.note({ ...refusal, keyId: `key_${n}` });
  };
  return { recorder, written, state, note };
}

const lost = async () => {
  throw Object.assign(new Error('gone'), { code: 'ECONNREFUSED' });
};

test('rows are written 500 at a time, the rest at the end', async () => {
  const { recorder, written, state, note } = open();
  note(1234);
  await recorder.close();
  assert.deepEqual(
    written.map((rows) => rows.length),
    [500, 500, 234],
  );
  const ids = written.flat().map(({ id }) => id);
  assert.deepEqual(ids, ids.toSorted());
  assert.equal(state.dropped, 0);
});

test('a database that does not answer costs 5000 rows of memory; the rest is counted', async () => {
  const { recorder, written, state, note } = open();
  const gate = Promise.withResolvers<void>();
  state.answer = () => gate.promise;
  note(7000);
  assert.equal(state.dropped, 2000);
  assert.equal(written.length, 0);
  gate.resolve();
  await recorder.close();
  assert.equal(written.flat().length, 5000);
  assert.equal(new Set(written.flat().map(({ id }) => id)).size, 5000);
});

test('an unavailable database gets the rows when it is back, and one warning is logged', async () => {
  const { recorder, written, state, note } = open();
  state.answer = lost;
  note(600);
  await recorder.close();
  await recorder.close();
  assert.deepEqual([written.length, state.dropped, state.warnings], [0, 0, 1]);
  state.answer = async () => {};
  await recorder.close();
  assert.equal(written.flat().length, 600);
});

test('rows that the database refuses are counted and dropped', async () => {
  const { recorder, written, state, note } = open();
  state.answer = async () => {
    throw new Error('no such table');
  };
  note(3);
  await recorder.close();
  assert.deepEqual([written.length, state.dropped], [0, 3]);
});
