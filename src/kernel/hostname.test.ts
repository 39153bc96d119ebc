import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { matchesHost, toHostname, toHostPattern } from './hostname.ts';

describe('a host name in its one form', () => {
  const forms: [given: string, form: string][] = [
    ['example.com', 'example.com'],
    ['EXAMPLE.com.', 'example.com'],
    ['Bücher.example', 'xn--bcher-kva.example'],
    ['shop．example', 'shop.example'],
    ['localhost', 'localhost'],
    ['_svc.example.com', '_svc.example.com'],
    [`${'a'.repeat(63)}.com`, `${'a'.repeat(63)}.com`],
  ];
  for (const [given, form] of forms) test(given, () => assert.equal(toHostname(given), form));

  const none = [
    '',
    '.',
    '..',
    'a..b',
    '.example.com',
    'example.com..',
    '-a.com',
    'a-.com',
    'a b',
    'https://example.com',
    'example.com:443',
    'example.com/',
    'user@example.com',
    'example.com?x',
    'example.com#x',
    'ex%61mple.com',
    'example\\.com',
    '[::1]',
    '::1',
    '*.example.com',
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(127)}com`,
    'a\0b.com',
    'a\nb.com',
  ];
  for (const text of none)
    test(`${JSON.stringify(text)} is none`, () => assert.equal(toHostname(text), null));
});

test('a pattern is a name, or *. and one', () => {
  assert.equal(toHostPattern('*.Example.com'), '*.example.com');
  assert.equal(toHostPattern('example.com'), 'example.com');
  for (const text of ['*', '*.', '**.com', '*.*.com', 'a.*.com', '*example.com']) {
    assert.equal(toHostPattern(text), null, text);
  }
});

test('a wildcard is every name below, at any depth, and not the name itself', () => {
  assert.ok(matchesHost('*.example.com', 'a.example.com'));
  assert.ok(matchesHost('*.example.com', 'a.b.example.com'));
  assert.ok(!matchesHost('*.example.com', 'example.com'));
  assert.ok(!matchesHost('*.example.com', 'badexample.com'));
  assert.ok(matchesHost('example.com', 'example.com'));
  assert.ok(!matchesHost('example.com', 'a.example.com'));
});
