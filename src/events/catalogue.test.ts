import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { createCatalogue, defineEvent, patternsOf } from './catalogue.ts';

const event = (type: string) =>
  defineEvent({ type, description: '', data: Type.Object({ n: Type.Integer() }), sample: { n: 1 } });
const catalogue = createCatalogue([
  event('stream.live'),
  event('video.processing.completed'),
  event('video.created'),
]);

test('types are sorted', () => {
  assert.deepEqual(catalogue.types(), ['stream.live', 'video.created', 'video.processing.completed']);
  assert.equal(catalogue.get('stream.live')?.type, 'stream.live');
  assert.equal(catalogue.get('purchase.completed'), undefined);
});

test('a declaration is refused when its type is wrong or taken', () => {
  assert.throws(() => createCatalogue([event('a.b'), event('a.b')]), /declared twice/);
  for (const type of ['a', 'A.b', 'a.', '.a', 'a.*', 'a b.c', '']) {
    assert.throws(() => createCatalogue([event(type)]), /is not an event type/, type);
  }
});

test('patterns: exact, by any prefix of whole segments, or all', () => {
  assert.deepEqual(patternsOf('a.b.c'), ['a.b.c', 'a.*', 'a.b.*']);
  const type = 'video.processing.completed';
  for (const patterns of [[], [type], ['video.*'], ['video.processing.*'], ['stream.*', 'video.*']]) {
    assert.ok(catalogue.matches(patterns, type), String(patterns));
  }
  for (const patterns of [['stream.*'], ['video.created'], ['video'], ['vid.*'], ['video.processing']]) {
    assert.ok(!catalogue.matches(patterns, type), String(patterns));
  }
});

test('a subscription must match something', () => {
  for (const pattern of ['stream.live', 'stream.*', 'video.processing.*']) {
    assert.ok(catalogue.isPattern(pattern), pattern);
  }
  for (const pattern of ['*', 'stream', 'purchase.completed', 'purchase.*', 'stream.live.*', 'str*', '']) {
    assert.ok(!catalogue.isPattern(pattern), pattern);
  }
});

test('data is judged by its schema', () => {
  assert.equal(catalogue.refuse('stream.live', { n: 2 }), null);
  assert.match(catalogue.refuse('stream.live', { n: 1.5 }) ?? '', /data\.n/);
  assert.match(catalogue.refuse('stream.live', {}) ?? '', /n/);
  assert.match(catalogue.refuse('no.such', { n: 1 }) ?? '', /not in the catalog/);
});
