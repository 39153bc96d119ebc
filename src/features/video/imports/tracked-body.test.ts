import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TrackedBody } from './tracked-body.ts';

async function read(deadline: number) {
  const stopped: unknown[] = [];
  const chunks = (async function* () {
    for (let i = 0; i < 3; i++) yield Buffer.alloc(10);
  })();
  const body = new TrackedBody(chunks, {
    offset: 0,
    total: null,
    cover: async () => {},
    admit: async () => {},
    stillOurs: async () => {},
    deadline,
    stop: (reason) => stopped.push(reason),
  });
  let bytes = 0;
  for await (const chunk of body) bytes += chunk.length;
  return { body, bytes, stopped };
}

test('a download that exceeds its deadline fails permanently', async () => {
  const inTime = await read(performance.now() + 60_000);
  assert.deepEqual([inTime.bytes, inTime.body.isWhole], [30, true]);
  const late = await read(performance.now() - 1);
  assert.deepEqual([late.bytes, late.body.isWhole, late.stopped.length], [0, false, 1]);
  assert.match(String(late.body.failure), /12-hour limit/);
});
