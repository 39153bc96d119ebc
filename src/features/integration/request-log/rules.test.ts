import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AppError } from '../../../kernel/errors.ts';
import { parsePath, parseStatuses, Sampler } from './rules.ts';

describe('scope of a recording', () => {
  const admitted = (sampler: Sampler, count: number, isError: boolean, nowMs = 0, group = 'key_1') =>
    Array.from({ length: count }, () => sampler.admits(group, isError, nowMs)).filter(Boolean).length;

  test('ten successes of a key in ten seconds, and every tenth of the others', () => {
    const sampler = new Sampler();
    assert.equal(admitted(sampler, 10, false), 10);
    assert.equal(admitted(sampler, 9, false), 0);
    assert.equal(admitted(sampler, 1, false), 1);
    assert.equal(admitted(sampler, 10, false, 9999), 1);
    assert.equal(admitted(sampler, 10, false, 9999, 'key_2'), 10);
    assert.equal(admitted(sampler, 10, false, 10_000), 10);
  });

  test('a busy node records a tenth of the successes beyond 1000, both of first and of sampled ones', () => {
    const many = new Sampler();
    const ofKeys = Array.from({ length: 300 }, (_, n) => admitted(many, 10, false, 0, `key_${n}`));
    assert.equal(ofKeys.slice(0, 100).join(), Array(100).fill(10).join());
    assert.equal(ofKeys.slice(100).join(), Array(200).fill(1).join());
    // A busy key does not take the place of those that call now and then.
    const busy = new Sampler();
    assert.equal(admitted(busy, 20_000, false), 10 + 1000 + 99);
    assert.equal(admitted(busy, 10, false, 0, 'key_2'), 10);
    assert.equal(admitted(busy, 10, false, 10_000), 10);
  });

  test('every error is recorded regardless of successes, and one of a hundred in a flood', () => {
    const sampler = new Sampler();
    admitted(sampler, 15, false);
    assert.equal(admitted(sampler, 2000, true), 2000);
    assert.equal(admitted(sampler, 1000, true), 10);
    assert.equal(admitted(sampler, 2000, true, 10_000), 2000);
  });
});

describe('filters', () => {
  test('a status is a number, a family or all errors', () => {
    assert.deepEqual(parseStatuses('404, 2xx,errors'), [
      { from: 404, to: 404 },
      { from: 200, to: 299 },
      { from: 400, to: 599 },
    ]);
    for (const text of ['', '4x', '40', '999', '4xx,', '0xx', '4044', 'ERRORS!']) {
      assert.throws(
        () => parseStatuses(text),
        (error) => error instanceof AppError && error.field === 'status',
        text,
      );
    }
  });

  test('a path is whole or its beginning, below the base URL in any case', () => {
    const parse = (text: string) => parsePath(text, '/api/v1');
    assert.deepEqual(parse('/streams'), { text: '/api/v1/streams', isPrefix: false });
    assert.deepEqual(parse('/api/v1/streams'), { text: '/api/v1/streams', isPrefix: false });
    assert.deepEqual(parse('streams/*'), { text: '/api/v1/streams/', isPrefix: true });
    assert.deepEqual(parse('/api/v1*'), { text: '/api/v1', isPrefix: true });
    assert.deepEqual(parse('/api/v10'), { text: '/api/v1/api/v10', isPrefix: false });
    assert.deepEqual(parse('*'), { text: '/api/v1/', isPrefix: true });
  });
});
