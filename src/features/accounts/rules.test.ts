import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../../kernel/errors.ts';
import {
  assertPassword,
  normaliseEmail,
  normaliseName,
  normaliseUsername,
  suggestUsername,
  usernameStem,
} from './rules.ts';

const refused = (work: () => unknown): string => {
  try {
    work();
    return 'ok';
  } catch (error) {
    assert.ok(error instanceof AppError);
    return `${error.code} ${error.field}`;
  }
};

describe('e-mail', () => {
  test('is trimmed and lower-cased', () => {
    assert.equal(normaliseEmail('  Ada.Lovelace+x@Example.COM \n'), 'ada.lovelace+x@example.com');
  });

  test('254 characters are the most', () => {
    const local = 'a'.repeat(254 - '@example.com'.length);
    assert.equal(normaliseEmail(`${local}@example.com`).length, 254);
    assert.equal(
      refused(() => normaliseEmail(`a${local}@example.com`)),
      'INVALID_EMAIL email',
    );
  });

  for (const text of [
    '',
    'x',
    '@',
    'a@',
    '@b.c',
    'a@b',
    'a b@c.d',
    'a@b@c.d',
    'a@b..c',
    'a@.b.c',
    '<a@b.c>',
    'a,b@c.d',
    'a@b.c\nd@e.f',
  ]) {
    test(`${JSON.stringify(text)} is malformed`, () => {
      assert.equal(
        refused(() => normaliseEmail(text)),
        'INVALID_EMAIL email',
      );
    });
  }
});

test('a password has at least 12 characters, whatever they are', () => {
  for (const good of ['123456789012', '            ', '🔑'.repeat(12)])
    assert.equal(
      refused(() => assertPassword(good)),
      'ok',
    );
  for (const weak of ['', '12345678901', '🔑'.repeat(11)]) {
    assert.equal(
      refused(() => assertPassword(weak)),
      'WEAK_PASSWORD password',
    );
  }
});

test('a name is trimmed and cut to 120 characters, never through one; blank is none', () => {
  assert.equal(normaliseName('  Ada  '), 'Ada');
  assert.equal(normaliseName('🎬'.repeat(121)), '🎬'.repeat(120));
  for (const blank of [null, '', ' \t']) assert.equal(normaliseName(blank), null);
});

describe('user names', () => {
  test('are lower-cased; what they may be', () => {
    assert.equal(normaliseUsername(' Ada_Lovelace-1 '), 'ada_lovelace-1');
    for (const bad of ['', 'a', '-ab', '_ab', 'a b', 'a.b', 'ä1', 'x'.repeat(40)]) {
      assert.equal(
        refused(() => normaliseUsername(bad)),
        'BAD_REQUEST username',
        bad,
      );
    }
  });

  test('are suggested from the address, with a number when taken', () => {
    assert.equal(suggestUsername('ada@x.y', new Set()), 'ada');
    assert.equal(suggestUsername('ada@x.y', new Set(['ada', 'ada-2', 'adam'])), 'ada-3');
    assert.equal(suggestUsername('j@x.y', new Set()), 'creator');
  });

  test('whatever the address, the suggestion is a user name that is not taken', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.array(fc.nat(5)), (local, numbers) => {
        const stem = usernameStem(local);
        const taken = new Set([stem, ...numbers.map((number) => `${stem}-${number}`)]);
        const name = suggestUsername(`${local.replaceAll('@', '')}@x.y`, taken);
        assert.equal(normaliseUsername(name), name);
        if (!local.includes('@')) assert.equal(taken.has(name), false);
      }),
    );
  });
});
