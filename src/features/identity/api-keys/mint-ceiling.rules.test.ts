import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { assertAllowed } from '../../../http/plugins/policy.ts';
import type { Gate } from '../../../http/route.ts';
import { PERMISSIONS } from '../../../kernel/access.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import { AppError } from '../../../kernel/errors.ts';
import { assertWithinMintCeiling, type KeyGrant } from './mint-ceiling.rules.ts';
import { domainAllowed, ipAllowed } from './rules.ts';

const GRANT: KeyGrant = {
  scope: 'FULL_ACCESS',
  permissions: [],
  mode: 'live',
  expiresAt: null,
  ipAllowlist: [],
  domainAllowlist: [],
  dailyQuota: null,
};

/** Returns the field that exceeds the ceiling, or `ok`. */
function verdict(minter: Partial<KeyGrant>, wanted: Partial<KeyGrant>): string {
  try {
    assertWithinMintCeiling({ ...GRANT, ...minter }, { ...GRANT, ...wanted });
    return 'ok';
  } catch (error) {
    assert.ok(error instanceof AppError);
    assert.equal(error.code, 'MINT_CEILING_EXCEEDED');
    return error.field ?? '';
  }
}

describe('the mint ceiling by dimension', () => {
  const STANDARD = 'STANDARD';
  const rows: [minter: Partial<KeyGrant>, wanted: Partial<KeyGrant>, expected: string][] = [
    [{}, {}, 'ok'],
    [{}, { scope: STANDARD, permissions: ['finance:*', '*'] }, 'ok'],
    [{ scope: STANDARD }, { scope: 'FULL_ACCESS' }, 'scope'],
    [{ scope: STANDARD }, { scope: STANDARD }, 'ok'],
    [{ scope: STANDARD }, { scope: 'READ_ONLY' }, 'ok'],
    [{ scope: 'READ_ONLY' }, { scope: STANDARD }, 'scope'],
    [{ scope: STANDARD }, { scope: STANDARD, permissions: ['videos:write', 'rooms:*'] }, 'ok'],
    [{ scope: STANDARD }, { scope: STANDARD, permissions: ['finance:read'] }, 'permissions'],
    [{ scope: STANDARD }, { scope: 'READ_ONLY', permissions: ['finance:read'] }, 'permissions'],
    [{ scope: STANDARD }, { scope: STANDARD, permissions: ['*'] }, 'permissions'],
    [{ scope: STANDARD, permissions: ['*'] }, { scope: STANDARD, permissions: ['finance:write'] }, 'ok'],
    [{ scope: STANDARD, permissions: ['*'] }, { scope: STANDARD }, 'ok'],
    [{ scope: STANDARD, permissions: ['videos:write'] }, { scope: STANDARD }, 'permissions'],
    [
      { scope: STANDARD, permissions: ['videos:write'] },
      { scope: STANDARD, permissions: ['videos:read'] },
      'ok',
    ],
    [
      { scope: STANDARD, permissions: ['videos:read'] },
      { scope: STANDARD, permissions: ['videos:write'] },
      'permissions',
    ],
    [
      { scope: STANDARD, permissions: ['videos:write'] },
      { scope: STANDARD, permissions: ['videos:*'] },
      'permissions',
    ],
    [
      { scope: STANDARD, permissions: ['finance:write'] },
      { scope: STANDARD, permissions: ['finance:read'] },
      'ok',
    ],
    [{ mode: 'test' }, { mode: 'live' }, 'mode'],
    [{ mode: 'test' }, { mode: 'test' }, 'ok'],
    [{}, { mode: 'test' }, 'ok'],
    [{ expiresAt: dateFromMs(10) }, {}, 'expiresAt'],
    [{ expiresAt: dateFromMs(10) }, { expiresAt: dateFromMs(11) }, 'expiresAt'],
    [{ expiresAt: dateFromMs(10) }, { expiresAt: dateFromMs(10) }, 'ok'],
    [{}, { expiresAt: dateFromMs(10) }, 'ok'],
    [{ ipAllowlist: ['10.0.0.0/8'] }, {}, 'ipAllowlist'],
    [{ ipAllowlist: ['10.0.0.0/8'] }, { ipAllowlist: ['10.1.0.0/16', '10.2.3.4'] }, 'ok'],
    [{ ipAllowlist: ['10.0.0.0/8'] }, { ipAllowlist: ['10.1.0.0/16', '11.0.0.1'] }, 'ipAllowlist'],
    [{ ipAllowlist: ['10.0.0.0/8'] }, { ipAllowlist: ['0.0.0.0/0'] }, 'ipAllowlist'],
    [{ ipAllowlist: ['10.0.0.0/8'] }, { ipAllowlist: ['::/0'] }, 'ipAllowlist'],
    [{ ipAllowlist: ['10.0.0.0/8'] }, { ipAllowlist: ['::ffff:10.1.2.3'] }, 'ok'],
    [{ ipAllowlist: ['2001:db8::/32'] }, { ipAllowlist: ['2001:db8:1::/48'] }, 'ok'],
    [{ ipAllowlist: ['2001:db8::/32'] }, { ipAllowlist: ['2001:db9::1'] }, 'ipAllowlist'],
    [{}, { ipAllowlist: ['10.0.0.1'] }, 'ok'],
    [{ domainAllowlist: ['*.example.com'] }, {}, 'domainAllowlist'],
    [{ domainAllowlist: ['*.example.com'] }, { domainAllowlist: ['a.example.com', '*.b.Example.com'] }, 'ok'],
    [{ domainAllowlist: ['*.example.com'] }, { domainAllowlist: ['*.example.com'] }, 'ok'],
    [{ domainAllowlist: ['*.example.com'] }, { domainAllowlist: ['example.com'] }, 'domainAllowlist'],
    [{ domainAllowlist: ['any.example.com'] }, { domainAllowlist: ['*.example.com'] }, 'domainAllowlist'],
    [{ domainAllowlist: ['example.com'] }, { domainAllowlist: ['*.example.com'] }, 'domainAllowlist'],
    [{ dailyQuota: 10 }, {}, 'dailyQuota'],
    [{ dailyQuota: 10 }, { dailyQuota: 11 }, 'dailyQuota'],
    [{ dailyQuota: 10 }, { dailyQuota: 10 }, 'ok'],
  ];
  for (const [minter, wanted, expected] of rows) {
    test(`${JSON.stringify(minter)} mints ${JSON.stringify(wanted)}: ${expected}`, () => {
      assert.equal(verdict(minter, wanted), expected);
    });
  }
});

const permissions = fc.uniqueArray(fc.constantFrom(...PERMISSIONS), { maxLength: 4 });
const octets = fc.tuple(fc.constantFrom(10, 11), fc.constantFrom(0, 1), fc.constantFrom(0, 1));
const ipv4 = octets.map(([a, b, c]) => `${a}.${b}.0.${c}`);
const ip = fc.oneof(
  ipv4,
  ipv4.map((text) => `::ffff:${text}`),
  fc.constantFrom('::1', '2001:db8::1', '2001:db8:1::1'),
);
const ipRule = fc.oneof(
  ip,
  fc.tuple(ipv4, fc.integer({ min: 0, max: 32 })).map(([text, bits]) => `${text}/${bits}`),
  fc.tuple(ip, fc.integer({ min: 0, max: 32 })).map(([text, bits]) => `${text}/${bits}`),
  fc.tuple(ipv4, fc.integer({ min: 90, max: 128 })).map(([text, bits]) => `::ffff:${text}/${bits}`),
);
const host = fc.constantFrom('example.com', 'a.example.com', 'b.a.example.com', 'other.com', 'any.other.com');
const hostRule = fc.tuple(fc.boolean(), host).map(([wild, name]) => (wild ? `*.${name}` : name));
const millis = fc.option(fc.integer({ min: 1, max: 4 }));
const grant: fc.Arbitrary<KeyGrant> = fc.record({
  scope: fc.constantFrom('READ_ONLY', 'STANDARD', 'FULL_ACCESS'),
  permissions,
  mode: fc.constantFrom('live', 'test'),
  expiresAt: millis.map((ms) => (ms === null ? null : dateFromMs(ms))),
  ipAllowlist: fc.array(ipRule, { maxLength: 2 }),
  domainAllowlist: fc.array(hostRule, { maxLength: 2 }),
  dailyQuota: millis,
});

/** Every requirement of an endpoint on a key, with its actual check. */
const SURFACES = [null, ...PERMISSIONS].flatMap((permission) =>
  [null, 'finance-read', 'finance-write', 'owner', 'admin'].flatMap((gate) =>
    ['GET', 'POST'].map((method) => ({ permission, gate, method })),
  ),
);
const GATES: readonly (Gate | null)[] = [null, 'finance-read', 'finance-write', 'owner', 'admin'];

function mayUse({ scope, permissions: held, mode }: KeyGrant, surface: (typeof SURFACES)[number]): boolean {
  const gate = GATES.find((one) => one === surface.gate) ?? null;
  const caller = {
    workspaceId: '',
    accountId: '',
    actor: { kind: 'key', id: '', userId: 'usr_1' },
    plan: 'VIP',
    rateLimitPerMinute: 1,
    dailyQuota: null,
    scope,
    permissions: held,
    mode,
  } as const;
  try {
    assertAllowed({ gate, permission: surface.permission }, surface.method, caller, false);
    return true;
  } catch {
    return false;
  }
}

const IPS = [
  '10.0.0.0',
  '10.0.0.1',
  '10.1.0.1',
  '11.0.0.0',
  '11.1.0.1',
  '::1',
  '2001:db8::1',
  '2001:db8:1::1',
];
const HOSTS = [
  'example.com',
  'a.example.com',
  'b.a.example.com',
  'c.b.a.example.com',
  'other.com',
  undefined,
];

test('a minted key never has more access than its minter', () => {
  let minted = 0;
  fc.assert(
    fc.property(grant, grant, (minter, wanted) => {
      if (verdict(minter, wanted) !== 'ok') return;
      minted += 1;
      for (const surface of SURFACES) {
        assert.ok(!mayUse(wanted, surface) || mayUse(minter, surface), JSON.stringify(surface));
      }
      for (const address of IPS) {
        const through = wanted.ipAllowlist.length === 0 || ipAllowed(wanted.ipAllowlist, address);
        assert.ok(
          !through || minter.ipAllowlist.length === 0 || ipAllowed(minter.ipAllowlist, address),
          address,
        );
      }
      for (const name of HOSTS) {
        const through = wanted.domainAllowlist.length === 0 || domainAllowed(wanted.domainAllowlist, name);
        const held = minter.domainAllowlist.length === 0 || domainAllowed(minter.domainAllowlist, name);
        assert.ok(!through || held, `${name}`);
      }
      const end = (date: Date | null) => date?.getTime() ?? Infinity;
      assert.ok(end(wanted.expiresAt) <= end(minter.expiresAt));
      assert.ok((wanted.dailyQuota ?? Infinity) <= (minter.dailyQuota ?? Infinity));
      assert.ok(minter.mode === 'live' || wanted.mode === 'test');
    }),
    { numRuns: 20_000 },
  );
  assert.ok(minted > 200, `only ${minted} pairs were within the ceiling`);
});

test('a key may mint its equal', () => {
  fc.assert(
    fc.property(grant, (one) => assert.equal(verdict(one, one), 'ok')),
    { numRuns: 2000 },
  );
});
