import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { dateFromMs } from '../../../kernel/clock.ts';
import { AppError } from '../../../kernel/errors.ts';
import {
  assertUsable,
  type Grant,
  hashKey,
  ipAllowed,
  isDomainRule,
  isIpRule,
  isKey,
  newKey,
} from './rules.ts';

test('a new key is unique, with pk_ and 40 hexadecimal characters', () => {
  const keys = Array.from({ length: 100 }, newKey);
  for (const key of keys) assert.match(key, /^pk_[0-9a-f]{40}$/);
  assert.equal(new Set(keys).size, 100);
  assert.ok(keys.every(isKey));
  for (const text of ['pk_', `pk_${'A'.repeat(40)}`, `${keys[0]}0`, ` ${keys[0]}`, `${keys[0]}\n`, 'x']) {
    assert.equal(isKey(text), false, text);
  }
});

test('the SHA-256 of a key is stored', () => {
  assert.equal(
    hashKey('abc').toString('hex'),
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  );
});

describe('assertUsable', () => {
  const NOW = 1_000_000;
  const usable: Grant = {
    scope: 'STANDARD',
    expiresAt: null,
    revokedAt: null,
    retiresAt: null,
    emailVerified: true,
    suspended: false,
    ipAllowlist: [],
    domainAllowlist: [],
  };
  const from = { ip: '203.0.113.7', origin: undefined };
  const check = (change: Partial<Grant>) => {
    try {
      assertUsable({ ...usable, ...change }, from, NOW);
      return 'ok';
    } catch (error) {
      assert.ok(error instanceof AppError);
      return error.code;
    }
  };

  test('a plain key is usable', () => assert.equal(check({}), 'ok'));

  const order: [change: Partial<Grant>, code: string][] = [
    [{ revokedAt: dateFromMs(1) }, 'KEY_DISABLED'],
    [{ suspended: true }, 'KEY_DISABLED'],
    [{ expiresAt: dateFromMs(NOW) }, 'KEY_EXPIRED'],
    [{ emailVerified: false }, 'EMAIL_NOT_VERIFIED'],
    [{ ipAllowlist: ['198.51.100.1'] }, 'IP_NOT_ALLOWED'],
    [{ domainAllowlist: ['example.com'] }, 'DOMAIN_NOT_ALLOWED'],
  ];
  for (const [index, [change, code]] of order.entries()) {
    test(`${Object.keys(change)} is ${code}, before all that follows`, () => {
      const following = order.slice(index).map(([one]) => one);
      assert.equal(check(Object.assign({}, ...following.toReversed(), change)), code);
    });
  }

  test('a key is usable until a millisecond before its end', () => {
    assert.equal(check({ expiresAt: dateFromMs(NOW + 1) }), 'ok');
  });
});

describe('address rules', () => {
  const good = [
    '203.0.113.7',
    '203.0.113.0/24',
    '0.0.0.0/0',
    '::1',
    '2001:db8::/32',
    '::/0',
    '::ffff:1.2.3.4',
  ];
  const bad = [
    '',
    'example.com',
    '203.0.113',
    '1.2.3.4/33',
    '1.2.3.4/',
    '1.2.3.4/a',
    '::/129',
    'fe80::1%eth0',
    '1.2.3.4/8/8',
  ];
  for (const text of good) test(`"${text}" is a rule`, () => assert.equal(isIpRule(text), true));
  for (const text of bad) test(`"${text}" is not a rule`, () => assert.equal(isIpRule(text), false));

  test('any address is within its own block and the block of all addresses', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.integer({ min: 0, max: 32 }), (ip, bits) => {
        assert.ok(ipAllowed([`${ip}/${bits}`], ip));
        assert.ok(ipAllowed(['0.0.0.0/0'], ip));
        assert.ok(ipAllowed([ip], `::ffff:${ip}`));
      }),
    );
    fc.assert(
      fc.property(fc.ipV6(), fc.integer({ min: 0, max: 128 }), (ip, bits) => {
        assert.ok(ipAllowed([`${ip}/${bits}`], ip));
      }),
    );
  });

  test('a link-local address is compared without its zone, and text never matches', () => {
    assert.equal(ipAllowed(['fe80::/10'], 'fe80::1%eth0'), true);
    for (const text of ['', 'unknown', '1.2.3.4.5', '_hidden'])
      assert.equal(ipAllowed(['0.0.0.0/0', '::/0'], text), false);
  });
});

describe('domain rules', () => {
  for (const text of [
    'example.com',
    '*.example.com',
    'localhost',
    'EXAMPLE.com.',
    'bücher.example',
    'a_b.test',
  ]) {
    test(`"${text}" is a rule`, () => assert.equal(isDomainRule(text), true));
  }
  for (const text of [
    '',
    '*',
    '*.',
    'https://example.com',
    'example.com:443',
    'a b',
    '*.*.com',
    'a..b',
    'a/b',
  ]) {
    test(`"${text}" is not a rule`, () => assert.equal(isDomainRule(text), false));
  }
});
