import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createCursorCodec } from './cursor.ts';

const codec = createCursorCodec(Buffer.alloc(32, 1));
const id = fc.string({ minLength: 1, maxLength: 60, unit: 'grapheme' });

test('a cursor leads back to its id in its list, and is safe in a URL', () => {
  fc.assert(
    fc.property(id, fc.string(), (text, list) => {
      const cursor = codec.encode(text, list);
      assert.match(cursor, /^[\w-]+$/);
      assert.equal(codec.decode(cursor, list), text);
    }),
  );
});

test('it is nothing in another list, or under another key', () => {
  const other = createCursorCodec(Buffer.alloc(32, 2));
  fc.assert(
    fc.property(id, fc.string(), fc.string(), (text, list, elsewhere) => {
      const cursor = codec.encode(text, list);
      assert.equal(other.decode(cursor, list), null);
      if (elsewhere !== list) assert.equal(codec.decode(cursor, elsewhere), null);
    }),
  );
});

test('no other text is a cursor', () => {
  fc.assert(fc.property(fc.string(), (text) => assert.equal(codec.decode(text, 'list'), null)));
  assert.equal(codec.decode('A'.repeat(10_000), 'list'), null);
  const cursor = codec.encode('vid_1', 'list');
  for (const last of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=') {
    const other = cursor.slice(0, -1) + last;
    if (other !== cursor) assert.equal(codec.decode(other, 'list'), null, last);
  }
  assert.equal(codec.decode(codec.encode('', 'list'), 'list'), null);
});

test('an id cannot reach over into the name of the list', () => {
  assert.equal(codec.decode(codec.encode('b', 'a'), 'a\nb'), null);
  assert.notEqual(codec.encode('c', 'a\nb'), codec.encode('b\nc', 'a'));
});
