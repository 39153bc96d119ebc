import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formField } from './forms.ts';

test('a field is text that came once, and none that every object has', () => {
  const fields = { name: 'Ada', twice: ['a', 'b'], nul: 'a\0b' };
  assert.equal(formField(fields, 'name'), 'Ada');
  for (const name of ['twice', 'nul', 'missing', 'constructor', 'toString', '__proto__']) {
    assert.equal(formField(fields, name), '', name);
  }
  for (const none of [null, undefined, 'name=Ada', 1]) assert.equal(formField(none, 'name'), '');
});

test('it is looked up by its name: a form of a megabyte has more fields than can be gone through for each', () => {
  const many = new Proxy({ name: 'Ada' }, { ownKeys: () => assert.fail('all fields are gone through') });
  assert.equal(formField(many, 'name'), 'Ada');
});
