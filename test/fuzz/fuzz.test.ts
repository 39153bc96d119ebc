import assert from 'node:assert/strict';
import { test } from 'node:test';
import { corpusOf, loadTargets, Mutator, runInput } from './runner.ts';

const MUTATIONS = 300;
const SEED = 1;

const targets = await loadTargets();

test('the fuzz targets have unique names', () => {
  assert.equal(new Set(targets.map(([name]) => name)).size, targets.length);
});

for (const [name, target] of targets) {
  test(`${name} reads its corpus and ${MUTATIONS} mutations of it`, async () => {
    const corpus = await corpusOf(name);
    assert.ok(corpus.length > 0, 'there is a corpus');
    for (const input of corpus) await runInput(name, target, input);
    const mutator = new Mutator(corpus, SEED);
    for (let count = 0; count < MUTATIONS; count += 1) await runInput(name, target, mutator.next());
  });
}

test('an input that a target fails on is reported with its bytes', async () => {
  const failing = () => {
    throw new Error('a fault');
  };
  await assert.rejects(runInput('some', failing, Buffer.from('input')), /a fault[\s\S]*echo aW5wdXQ= /);
});
