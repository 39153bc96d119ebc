import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { cruise, type ICruiseOptions, type IFlattenedRuleSet } from 'dependency-cruiser';

const ROOT = join(import.meta.dirname, '../..');
const FIXTURES = join(import.meta.dirname, 'fixtures');
const FOLDERS = ['src', 'web', 'e2e', 'test', 'scripts', 'bench', 'sdk'];

const config: { forbidden: NonNullable<IFlattenedRuleSet['forbidden']>; options: ICruiseOptions } =
  createRequire(import.meta.url)('../../.dependency-cruiser.cjs');

/** Returns the rules that the tree at `baseDir` breaks, once per violation. */
async function brokenRules(baseDir: string): Promise<string[]> {
  const folders = FOLDERS.filter((folder) => existsSync(join(baseDir, folder)));
  const { output } = await cruise(folders, {
    ...config.options,
    baseDir,
    validate: true,
    ruleSet: { forbidden: config.forbidden },
  });
  if (typeof output === 'string') throw new Error(output);
  assert.ok(output.summary.totalCruised > 0);
  return output.summary.violations.map(
    (violation) => `${violation.rule.name}: ${violation.from} -> ${violation.to}`,
  );
}

test('each of the ten rules has a fixture', () => {
  const names = new Set(config.forbidden.map((rule) => rule.name));
  assert.equal(names.size, 10);
  assert.deepEqual(new Set(readdirSync(FIXTURES)), names);
});

for (const rule of readdirSync(FIXTURES)) {
  for (const variant of readdirSync(join(FIXTURES, rule))) {
    test(`${rule}: the fixture "${variant}" breaks this rule and no other`, async () => {
      const broken = await brokenRules(join(FIXTURES, rule, variant));
      assert.deepEqual([...new Set(broken.map((line) => line.split(':')[0]))], [rule]);
    });
  }
}

test('the repository breaks no rule', async () => {
  assert.deepEqual(await brokenRules(ROOT), []);
});
