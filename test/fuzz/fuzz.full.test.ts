import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { corpusOf, loadTargets, Mutator, runInput } from './runner.ts';

const MINUTES = 10;

const targets = await loadTargets();
const targetMs = (MINUTES * 60_000) / targets.length;

for (const [name, target] of targets) {
  test(`${name} reads mutations of its corpus for its share of ${MINUTES} minutes`, async (t) => {
    const seed = randomInt(2 ** 31);
    const mutator = new Mutator(await corpusOf(name), seed);
    const untilMs = performance.now() + targetMs;
    let count = 0;
    for (; performance.now() < untilMs; count += 1) await runInput(name, target, mutator.next());
    t.diagnostic(`${count} inputs, seed ${seed}`);
  });
}
