import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { toAscii } from './ascii.mjs';

/** Expressions whose values are text, with letters in strings, templates, patterns, names and after backslashes. */
const EXPRESSIONS = [
  String.raw`'é … 👍 \\… \… \n…'`,
  String.raw`"it’s" + '\\\…' + ['“a”', '\'…\''].join('→')`,
  String.raw`\`\${'ü'}… \\… \…\``.replaceAll('\\`', '`').replaceAll('\\$', '$'),
  String.raw`'a…b👍c'.replace(/[…👍]/gu, '-') + 'a…b'.replace(/\…/, '-') + /^[à-ÿ]+$/.test('é')`,
  `(() => { const größe = { ключ: 'x' }; return größe.ключ + Object.keys(größe)[0]; })() // …`,
];

test('code keeps its meaning in ASCII', () => {
  for (const expression of EXPRESSIONS) {
    const written = toAscii(expression);
    assert.match(written, /^[\0-\x7f]*$/, expression);
    assert.equal(runInNewContext(written), runInNewContext(expression), expression);
  }
});
