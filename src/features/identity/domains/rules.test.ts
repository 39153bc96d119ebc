import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { getPublicSuffix } from 'tldts';
import { dateFromMs } from '../../../kernel/clock.ts';
import { AppError } from '../../../kernel/errors.ts';
import { nonPublicNameReason } from '../../../platform/outbound/index.ts';
import {
  applyVerification,
  type DomainState,
  matchesOrigin,
  newToken,
  parseDomain,
  pendingUntil,
  resetVerification,
  type VerificationResult,
} from './rules.ts';

const naming = {
  isPlatformHost: (name: string) => name === 'video.example.net',
  isPublicSuffix: (name: string) => getPublicSuffix(name, { allowPrivateDomains: true }) === name,
  refuseName: nonPublicNameReason,
};

describe('valid domain names', () => {
  const good: [given: string, domain: string][] = [
    ['example.com', 'example.com'],
    ['Shop.Example.COM', 'shop.example.com'],
    [' shop.example.com. ', 'shop.example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['me.github.io', 'me.github.io'],
    ['a.co.uk', 'a.co.uk'],
  ];
  for (const [given, domain] of good) {
    test(given, () => assert.equal(parseDomain(given, { mode: 'live', ...naming }), domain));
  }

  const bad = [
    'https://example.com',
    'example.com:443',
    'example.com/shop',
    '*.example.com',
    'user@example.com',
    '',
    'com',
    'co.uk',
    'github.io',
    'intranet',
    'localhost',
    'shop.local',
    'x.localhost',
    'x.internal',
    'x.lan',
    'x.intranet',
    '127.0.0.1',
    '0x7f.1',
    '2130706433',
    '[::1]',
    'video.example.net',
    'Video.Example.Net.',
    `${'a.'.repeat(121)}com`,
  ];
  for (const text of bad) {
    test(`${JSON.stringify(text.slice(0, 40))} is rejected`, () => {
      assert.throws(
        () => parseDomain(text, { mode: 'live', ...naming }),
        (error) => error instanceof AppError && error.code === 'BAD_REQUEST' && error.field === 'domain',
      );
    });
  }

  test('test mode also accepts localhost and names under .test', () => {
    for (const name of ['localhost', 'shop.test']) {
      assert.equal(parseDomain(name, { mode: 'test', ...naming }), name);
    }
    assert.throws(() => parseDomain('x.local', { mode: 'test', ...naming }));
    assert.throws(() => parseDomain('video.example.net', { mode: 'test', ...naming }));
  });
});

const MINUTE = 60_000;
const DAY = 86_400_000;
const NOTHING: VerificationResult = { txt: false, file: false, error: 'dns: no TXT record' };
const TXT: VerificationResult = { txt: true, file: false, error: 'file: answered 404' };
const FILE: VerificationResult = { txt: false, file: true, error: 'dns: no TXT record' };

function pending(change: Partial<DomainState> = {}): DomainState {
  return {
    ...resetVerification(dateFromMs(0)),
    method: null,
    include_subdomains: false,
    failing_since: null,
    verified_at: null,
    ...change,
  };
}

/** Checks whenever a check is due, and returns the times and events. */
function run(state: DomainState, find: (ms: number) => VerificationResult, untilMs: number) {
  const looks: number[] = [];
  const events: [string, number][] = [];
  let now = state;
  for (let due = now.next_check_at; due !== null && due.getTime() <= untilMs; due = now.next_check_at) {
    const { change, event } = applyVerification(now, find(due.getTime()), due, false);
    looks.push(due.getTime());
    if (event !== null) events.push([event, due.getTime()]);
    now = { ...now, ...change };
  }
  return { state: now, looks, events };
}

describe('lifecycle of a live domain', () => {
  test('a pending domain is checked after 1, 5, 15 and 60 minutes, then hourly, and fails after 7 days', () => {
    const { state, looks, events } = run(pending(), () => NOTHING, 30 * DAY);
    assert.deepEqual(
      looks.slice(0, 6).map((ms) => ms / MINUTE),
      [1, 5, 15, 60, 120, 180],
    );
    assert.equal(looks.at(-1), 7 * DAY);
    assert.equal(state.status, 'FAILED');
    assert.equal(state.next_check_at, null);
    assert.deepEqual(events, [['integration_domain.failed', 7 * DAY]]);
  });

  test('the first proof verifies a domain, which is then checked daily', () => {
    const find = (ms: number) => (ms >= 15 * MINUTE ? TXT : NOTHING);
    const { state, looks, events } = run(pending(), find, 3 * DAY);
    assert.equal(state.status, 'VERIFIED');
    assert.equal(state.method, 'DNS_TXT');
    assert.equal(state.verified_at?.getTime(), 15 * MINUTE);
    assert.deepEqual(events, [['integration_domain.verified', 15 * MINUTE]]);
    assert.deepEqual(looks.slice(3), [15 * MINUTE + DAY, 15 * MINUTE + 2 * DAY]);
    assert.equal(pendingUntil(state), null);
  });

  test('a proof that is missing for less than three days has no effect', () => {
    const find = (ms: number) => (ms > 2 * DAY && ms < 4.5 * DAY ? NOTHING : TXT);
    const { state, events } = run(pending(), find, 10 * DAY);
    assert.equal(state.status, 'VERIFIED');
    assert.equal(state.failing_since, null);
    assert.equal(events.length, 1);
  });

  test('a domain lapses after three days without proof, and is verified again with it', () => {
    const find = (ms: number) => (ms > 2 * DAY && ms < 9 * DAY ? NOTHING : FILE);
    const { state, events } = run(pending(), find, 12 * DAY);
    const [verified, lapsed, again] = events;
    assert.deepEqual(
      events.map(([type]) => type),
      ['integration_domain.verified', 'integration_domain.lapsed', 'integration_domain.verified'],
    );
    assert.equal(verified?.[1], MINUTE);
    assert.equal(lapsed?.[1], 5 * DAY + MINUTE);
    assert.equal(again?.[1], 9 * DAY + MINUTE);
    assert.equal(state.status, 'VERIFIED');
    assert.equal(state.method, 'WELL_KNOWN');
  });
});

describe('verification methods', () => {
  const both: VerificationResult = { txt: true, file: true, error: null };
  const method = (state: Partial<DomainState>, finding: VerificationResult) =>
    applyVerification(pending(state), finding, dateFromMs(MINUTE), false).change.method;

  test('either proof suffices, and with both the requested method is reported', () => {
    assert.equal(method({}, TXT), 'DNS_TXT');
    assert.equal(method({}, FILE), 'WELL_KNOWN');
    assert.equal(method({ method: 'WELL_KNOWN' }, TXT), 'DNS_TXT');
    assert.equal(method({ method: 'DNS_TXT' }, FILE), 'WELL_KNOWN');
    assert.equal(method({ method: 'WELL_KNOWN' }, both), 'WELL_KNOWN');
    assert.equal(method({}, both), 'DNS_TXT');
  });

  test('subdomains are verified only by the record', () => {
    const state = pending({ include_subdomains: true });
    assert.equal(applyVerification(state, FILE, dateFromMs(MINUTE), false).change.status, 'PENDING');
    assert.equal(applyVerification(state, both, dateFromMs(MINUTE), false).change.method, 'DNS_TXT');
  });
});

describe('manual checks', () => {
  test('a manual check without a result leaves the schedule unchanged', () => {
    const state = pending();
    const { change, event } = applyVerification(state, NOTHING, dateFromMs(30_000), true);
    assert.deepEqual([change.status, change.checks, event], ['PENDING', 0, null]);
    assert.equal(change.next_check_at, state.next_check_at);
    assert.equal(change.last_error, NOTHING.error);
  });

  test('a manual check restarts a failed domain', () => {
    const failed = run(pending(), () => NOTHING, 8 * DAY).state;
    const now = dateFromMs(20 * DAY);
    const { change, event } = applyVerification(failed, NOTHING, now, true);
    assert.deepEqual([change.status, event], ['PENDING', null]);
    assert.equal(change.next_check_at?.getTime(), 20 * DAY + MINUTE);
    assert.equal(pendingUntil({ ...failed, ...change })?.getTime(), 27 * DAY);
    assert.equal(applyVerification(failed, TXT, now, true).event, 'integration_domain.verified');
  });

  test('manual checks of a verified domain do not lapse it before three days', () => {
    const verified = run(pending(), () => TXT, MINUTE).state;
    let state = { ...verified };
    for (let ms = DAY; ms < 4 * DAY; ms += 10 * MINUTE) {
      state = { ...state, ...applyVerification(state, NOTHING, dateFromMs(ms), true).change };
      assert.equal(state.status, 'VERIFIED');
    }
    assert.equal(
      applyVerification(state, NOTHING, dateFromMs(4 * DAY), true).event,
      'integration_domain.lapsed',
    );
  });
});

test('a live domain always has a next check unless it has failed', () => {
  const finding = fc.constantFrom(NOTHING, TXT, FILE);
  const step = fc.record({ finding, afterMs: fc.integer({ min: 0, max: 2 * DAY }), manual: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      let state = pending();
      let now = 0;
      for (const { finding: found, afterMs, manual } of steps) {
        now += afterMs;
        if (state.status === 'FAILED' && !manual) continue;
        const { change, event } = applyVerification(state, found, dateFromMs(now), manual);
        assert.equal(event !== null, change.status !== state.status && change.status !== 'PENDING');
        state = { ...state, ...change };
        assert.equal(state.next_check_at === null, state.status === 'FAILED');
        assert.equal(state.verified_at === null, !['VERIFIED', 'LAPSED'].includes(state.status));
        if (state.status === 'VERIFIED' && found !== NOTHING) assert.equal(state.failing_since, null);
      }
    }),
  );
});

test('a token is unique, with 32 characters of base 62', () => {
  const tokens = Array.from({ length: 200 }, newToken);
  for (const token of tokens) assert.match(token, /^[0-9A-Za-z]{32}$/);
  assert.equal(new Set(tokens).size, tokens.length);
});

describe('origins that a verified domain covers', () => {
  const rows: [
    domain: string,
    subdomains: boolean,
    origin: string,
    mode: 'live' | 'test',
    covered: boolean,
  ][] = [
    ['example.com', false, 'https://example.com', 'live', true],
    ['example.com', false, 'https://example.com:8443', 'live', true],
    ['example.com', false, 'https://EXAMPLE.com.', 'live', true],
    ['example.com', false, 'http://example.com', 'live', false],
    ['example.com', false, 'https://www.example.com', 'live', false],
    ['example.com', true, 'https://www.example.com', 'live', true],
    ['example.com', true, 'https://a.b.example.com', 'live', true],
    ['example.com', true, 'https://badexample.com', 'live', false],
    ['example.com', true, 'https://example.com.evil.net', 'live', false],
    ['xn--bcher-kva.example', false, 'https://bücher.example', 'live', true],
    ['localhost', false, 'http://localhost:3000', 'test', true],
    ['shop.test', false, 'http://shop.test', 'test', true],
    ['shop.test', false, 'http://shop.test', 'live', false],
    ['example.com', false, 'http://example.com', 'test', false],
    ['example.com', false, 'ftp://example.com', 'live', false],
  ];
  for (const [domain, include_subdomains, origin, mode, covered] of rows) {
    test(`${domain}${include_subdomains ? ' and below' : ''}: ${origin} (${mode}) ${covered}`, () => {
      assert.equal(matchesOrigin({ domain, include_subdomains }, new URL(origin), mode), covered);
    });
  }
});
