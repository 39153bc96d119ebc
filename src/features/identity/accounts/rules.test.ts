import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../../../kernel/errors.ts';
import {
  assertNotReserved,
  assertPassword,
  normalizeEmail,
  normalizeName,
  normalizeUsername,
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

describe('email', () => {
  test('an email address is trimmed and lower-cased', () => {
    assert.equal(normalizeEmail('  Ada.Lovelace+x@Example.COM \n'), 'ada.lovelace+x@example.com');
  });

  test('an email address has at most 254 characters, 64 bytes of them before the @', () => {
    const local = 'a'.repeat(64);
    const domain = `${['b', 'c', 'd'].map((letter) => letter.repeat(60)).join('.')}.ex`;
    assert.equal(normalizeEmail(`${local}@${domain}.${'e'.repeat(254 - 66 - domain.length)}`).length, 254);
    for (const long of [
      `${local}@${domain}.${'e'.repeat(255 - 66 - domain.length)}`,
      `a${local}@example.com`,
      `${'ü'.repeat(33)}@example.com`,
    ]) {
      assert.equal(
        refused(() => normalizeEmail(long)),
        'INVALID_EMAIL email',
      );
    }
  });

  for (const [text, normal] of [
    ["o'hara+tag@example.com", "o'hara+tag@example.com"],
    ["!#$%&'*+/=?^_`{|}~-.a@example.com", "!#$%&'*+/=?^_`{|}~-.a@example.com"],
    ['a@b.co', 'a@b.co'],
    ['Jörg@Bücher.example', 'jörg@xn--bcher-kva.example'],
    ['jo\u0308rg@xn--bcher-kva.example', 'jörg@xn--bcher-kva.example'],
    ['用户@例え.jp', '用户@xn--r8jz45g.jp'],
    ['नाम@example.com', 'नाम@example.com'],
    ['a@1.example-2.museum', 'a@1.example-2.museum'],
  ] as const) {
    test(`${text} is an address`, () => assert.equal(normalizeEmail(text), normal));
  }

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
    '.a@b.c',
    '<a@b.c',
    'a.@b.c',
    'a..b@c.d',
    '"quoted local"@b.c',
    'a@[192.0.2.1]',
    'a(comment)@b.c',
    'a@b.c.',
    'a@-b.c',
    'a\u0007@b.c',
    'a\u200b@b.c',
    'a\u202e@b.c',
  ]) {
    test(`${JSON.stringify(text)} is malformed`, () => {
      assert.equal(
        refused(() => normalizeEmail(text)),
        'INVALID_EMAIL email',
      );
    });
  }
});

test('a password needs at least 12 characters of any kind', () => {
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

test('a name is trimmed to one line of at most 120 whole characters, and a blank one is null', () => {
  assert.equal(normalizeName('  Ada  '), 'Ada');
  assert.equal(
    normalizeName('Ada\r\n\r\nYour account\u2028is\u0007locked\u202e'),
    'Ada Your account is locked',
  );
  assert.equal(normalizeName('🎬'.repeat(121)), '🎬'.repeat(120));
  for (const blank of [null, '', ' \t']) assert.equal(normalizeName(blank), null);
});

describe('usernames', () => {
  test('usernames are lower-cased and limited to the allowed characters', () => {
    assert.equal(normalizeUsername(' Ada_Lovelace-1 '), 'ada_lovelace-1');
    const scripts = [
      'аdmin',
      'ada\u0301',
      'ａｄａ',
      'αδα',
      'عدا',
      '愛達',
      'अदा',
      '🎬🎬',
      'ada\u200b',
      'a\u202eda',
    ];
    for (const bad of ['', 'a', '-ab', '_ab', 'a b', 'a.b', 'ä1', 'x'.repeat(40), ...scripts]) {
      assert.equal(
        refused(() => normalizeUsername(bad)),
        'BAD_REQUEST username',
        bad,
      );
    }
  });

  test('reserved usernames and lookalikes are rejected', () => {
    const reserved = ['admin', 'api', 'www', 'adm1n', 'a-d-m-i-n', 'supp0rt', 'support_', 'adrnin', 'vvatch'];
    for (const name of reserved) {
      assert.equal(
        refused(() => assertNotReserved(name)),
        'BAD_REQUEST username',
        name,
      );
    }
    for (const free of ['ada', 'adam', 'admiral', 'apiary', 'owner', 'demo', 'team-ada', 'admin2']) {
      assert.equal(
        refused(() => assertNotReserved(free)),
        'ok',
        free,
      );
    }
    assert.equal(suggestUsername('admin@x.y', new Set()), 'admin-2');
  });

  test('usernames are suggested from the email address, with a number when taken', () => {
    assert.equal(suggestUsername('ada@x.y', new Set()), 'ada');
    assert.equal(suggestUsername('ada@x.y', new Set(['ada', 'ada-2', 'adam'])), 'ada-3');
    assert.equal(suggestUsername('j@x.y', new Set()), 'creator');
  });

  test('a suggested username is valid and not taken, for any email address', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.array(fc.nat(5)), (local, numbers) => {
        const stem = usernameStem(local);
        const taken = new Set([stem, ...numbers.map((number) => `${stem}-${number}`)]);
        const name = suggestUsername(`${local.replaceAll('@', '')}@x.y`, taken);
        assert.equal(normalizeUsername(name), name);
        if (!local.includes('@')) assert.equal(taken.has(name), false);
      }),
    );
  });
});
