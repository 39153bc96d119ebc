import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../kernel/errors.ts';
import { parseDescription, parseDisplayName, parseLinks } from './rules.ts';

const refuses = (field: string, run: () => unknown) =>
  assert.throws(run, (error) => error instanceof AppError && error.field === field && error.status === 400);

test('a display name is one line with visible text, in any script', () => {
  for (const name of ['Ada', 'آدا لاولیس', '艾达', '👩‍💻 Ada 🎬', 'é'.repeat(80)])
    assert.equal(parseDisplayName(` ${name} `), name);
  for (const none of [null, '', ' \t\n ']) assert.equal(parseDisplayName(none), null);
  for (const name of ['a\nb', 'a\u0007', '\u200B\u200B', 'a\u0000', '\u2060'])
    refuses('displayName', () => parseDisplayName(name));
});

test('a description may have line breaks, but no other control characters', () => {
  assert.equal(parseDescription('One\r\ntwo\n'), 'One\ntwo');
  assert.equal(parseDescription(' '), null);
  refuses('description', () => parseDescription('a\u001B[31m'));
});

test('links are web URLs in normalized form', () => {
  assert.deepEqual(parseLinks([{ label: ' Site ', url: ' https://EXAMPLE.com/ä?q=1#x ' }]), [
    { label: 'Site', url: 'https://example.com/%C3%A4?q=1#x' },
  ]);
  const bad = [
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'ftp://example.com',
    '//example.com',
    'example.com',
    '',
    'https://',
    'https://user:secret@example.com/',
  ];
  for (const url of bad)
    refuses('links.1.url', () =>
      parseLinks([
        { label: 'a', url: 'https://a.example' },
        { label: 'b', url },
      ]),
    );
  for (const label of [' ', 'a\nb', '\u200B'])
    refuses('links.0.label', () => parseLinks([{ label, url: 'https://a.example' }]));
});
