import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OpusPassthrough } from './opus-passthrough.ts';

test('ending one listener does not affect the others', () => {
  const sound = new OpusPassthrough();
  const heard: string[] = [];
  const endFirst = sound.listen('ing_1', () => heard.push('first'));
  const endSecond = sound.listen('ing_1', () => heard.push('second'));
  endFirst();
  const packet = { ms: 0, ticks: 0, data: Buffer.of(1) };
  sound.tell('ing_1', packet);
  sound.tell('ing_2', packet);
  endSecond();
  sound.tell('ing_1', packet);
  assert.deepEqual(heard, ['second']);
});
