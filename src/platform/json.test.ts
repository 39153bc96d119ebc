import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseJson } from './json.ts';

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

test('64 levels are taken, 65 are not, whatever closes them', () => {
  assert.doesNotThrow(() => parseJson(nested(64)));
  assert.throws(() => parseJson(nested(65)), /64 levels/);
  assert.throws(() => parseJson('{"a":'.repeat(65)), /64 levels/);
  assert.throws(() => parseJson(`[${nested(30)},${nested(64)}]`), /64 levels/);
});

test('brackets in strings are no levels, and quotes behind backslashes end no string', () => {
  const text = JSON.stringify({ a: '['.repeat(100), 'b"[[\\': '\\"'.repeat(50) + '{'.repeat(100) });
  assert.deepEqual(parseJson(text), JSON.parse(text));
});

test('what JSON.stringify writes comes back', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (text) => {
      fc.pre(!/__proto__|constructor/.test(text));
      assert.deepEqual(parseJson(text), JSON.parse(text));
    }),
  );
});
