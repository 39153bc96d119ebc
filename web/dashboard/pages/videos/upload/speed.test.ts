import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSpeedMeter, remainingSec } from './speed.ts';

test('the speed converges to the send rate, and a stall shows within seconds', () => {
  const meter = createSpeedMeter();
  assert.equal(meter.add(5_000_000, 0), null, 'where it began says nothing');
  let speed: number | null = null;
  for (let second = 1; second <= 20; second += 1)
    speed = meter.add(5_000_000 + second * 100_000, second * 1000);
  assert.ok(speed !== null && Math.abs(speed - 100_000) < 1000, String(speed));
  const stalled = meter.add(7_000_000, 28_000);
  assert.ok(stalled !== null && stalled < 30_000, String(stalled));
});

test('bytes sent again after an interruption do not count toward the speed', () => {
  const meter = createSpeedMeter();
  meter.add(0, 0);
  const speed = meter.add(100_000, 1000);
  assert.equal(meter.add(50_000, 2000), speed);
});

test('the rest is not guessed without a speed', () => {
  assert.equal(remainingSec(1000, null), null);
  assert.equal(remainingSec(1000, 0), null);
  assert.equal(remainingSec(1000, 100), 10);
});
