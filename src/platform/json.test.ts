import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { canonicalJson, parseJson } from './json.ts';

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

test('the canonical form is that of RFC 8785', () => {
  const text = `{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001, -0],
    "string": "\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\"\\/",
    "literals": [null, true, false],
    "\\u20ac": 1, "\\r": 2, "\\ufb33": 3, "1": 4, "\\ud83d\\ude00": 5, "\\u0080": 6, "\\u00f6": 7
  }`;
  const expected =
    '{"\\r":2,"1":4,"literals":[null,true,false],' +
    '"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27,0],' +
    '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/","\u0080":6,"ö":7,"€":1,"\u{1f600}":5,"\ufb33":3}';
  assert.equal(canonicalJson(parseJson(text)), expected);
});

test('two values have one canonical form where they are equal, and only there', () => {
  const value = fc.json({ maxDepth: 4 }).filter((text) => !/__proto__|constructor/.test(text));
  fc.assert(
    fc.property(value, value, (a, b) => {
      const [first, second] = [parseJson(a), parseJson(b)];
      const isEqual = isDeepStrictEqual(withoutMinusZero(first), withoutMinusZero(second));
      assert.equal(canonicalJson(first) === canonicalJson(second), isEqual);
      assert.deepEqual(parseJson(canonicalJson(first)), withoutMinusZero(first));
    }),
  );
});

const withoutMinusZero = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
