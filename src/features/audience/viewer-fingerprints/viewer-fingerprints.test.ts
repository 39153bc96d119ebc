import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ClientInfo } from '../../../kernel/client-info.ts';
import { ConfigError } from '../../../platform/config-parsers.ts';
import { createCountries } from '../../../platform/countries.ts';
import { createViewerFingerprints } from './service.ts';

const PAD =
  'Mozilla/5.0 (iPad; CPU OS 16_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.0 Mobile/15E148 Safari/604.1';
const DESK = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0';
const TV =
  'Mozilla/5.0 (SMART-TV; Linux; Tizen 5.0) AppleWebKit/538.1 (KHTML, like Gecko) Version/5.0 TV Safari/538.1';

function arrivalsOf(countryHeader?: string, salt = 'salt') {
  return createViewerFingerprints({
    secrets: { sign: (purpose, text) => `${purpose}:${text}` },
    salts: { of: async (day) => Buffer.from(`${salt} of ${day}`) },
    countries: createCountries(undefined),
    countryHeader,
    hosts: ['video.example'],
    isAccountSession: async ({ headers }, accountId) => headers.cookie === accountId,
  });
}
const visit = (changes: Partial<ClientInfo> = {}): ClientInfo => ({
  ...{ ip: '8.8.8.8', userAgent: DESK, headers: {}, host: 'video.test', isProxied: false },
  ...changes,
});
const purpose = { workspaceId: 'wsp_1', isSelf: false };

test('an IP address resolves to a country or to none', () => {
  const { fingerprint } = arrivalsOf();
  const addresses = {
    '8.8.8.8': 'US',
    '::ffff:81.2.69.160': 'GB',
    '2a00:1450:4001::1': 'IE',
    '10.0.0.1': 'ZZ',
  };
  for (const [ip, country] of Object.entries({ ...addresses, '::1': 'ZZ', 'fe80::1%eth0': 'ZZ', '': 'ZZ' }))
    assert.equal(fingerprint(visit({ ip }), purpose).country, country, ip);
});

test('a country header counts only when a trusted proxy sent it', () => {
  const { fingerprint } = arrivalsOf('CF-IPCountry');
  const country = (said: string | undefined, isProxied = true) =>
    fingerprint(visit({ isProxied, headers: said === undefined ? {} : { 'cf-ipcountry': said } }), purpose)
      .country;
  assert.equal(country('nz'), 'NZ');
  for (const said of ['XX', 'T1', '', 'Atlantis']) assert.equal(country(said), 'ZZ', said);
  assert.equal(country(undefined), 'US', 'the address, where the proxy says nothing');
  assert.equal(country('NZ', false), 'US', 'whoever connects without the proxy');
});

test('a configured country database must be valid', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'marquee-countries-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'own.mmdb');
  const refused = (error: unknown) =>
    error instanceof ConfigError && error.message.startsWith('COUNTRY_DATABASE cannot be read');
  assert.throws(() => createCountries(file), refused);
  await writeFile(file, 'no database');
  assert.throws(() => createCountries(file), refused);
});

test('device, browser, operating system and bots are detected', () => {
  const { fingerprint } = arrivalsOf();
  const cases: [
    userAgent: string,
    device: string,
    browser: string | null,
    os: string | null,
    isBot: boolean,
  ][] = [
    [DESK, 'DESKTOP', 'Firefox', 'Windows', false],
    [PAD, 'TABLET', 'Safari', 'iOS', false],
    [TV, 'TV', 'Tizen', 'Tizen', false],
    ['VLC/3.0.16 LibVLC/3.0.16', 'OTHER', 'VLC', null, false],
    ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', 'BOT', null, null, true],
    ['curl/8.5.0', 'BOT', null, null, true],
    ['', 'BOT', null, null, true],
  ];
  for (const [userAgent, device, browser, os, isBot] of cases) {
    const met = fingerprint(visit({ userAgent }), purpose);
    assert.deepEqual([met.device, met.browser, met.os, met.isBot], [device, browser, os, isBot], userAgent);
  }
});

test('only the host of the referring page is stored, unless it is an own host', () => {
  const { fingerprint } = arrivalsOf();
  const cases: [told: string | null, referer: string | undefined, host: string | null][] = [
    ['https://WWW.Example.com:8443/a?b=secret', undefined, 'example.com'],
    ['news.example.org', undefined, 'news.example.org'],
    ['https://bücher.example/', undefined, 'xn--bcher-kva.example'],
    [null, 'https://blog.example/post', 'blog.example'],
    ['https://video.example/watch/1', 'https://video.test/watch/1', null],
    ['about:client', undefined, null],
    ['android-app://com.example', undefined, null],
    ['not a host', undefined, null],
    [null, undefined, null],
  ];
  for (const [referrer, referer, host] of cases) {
    const headers = referer === undefined ? {} : { referer };
    assert.equal(fingerprint(visit({ headers }), { ...purpose, referrer }).referrer, host, String(referrer));
  }
});

test('a hash is specific to a day, a workspace and a browser, and contains no IP address', async () => {
  const arrivals = arrivalsOf();
  const hash = async (
    changes: Partial<ClientInfo> = {},
    workspaceId = 'wsp_1',
    day = '2026-11-20',
    of = arrivals,
  ) => {
    const arrival = of.fingerprint(visit(changes), { ...purpose, workspaceId });
    const viewer = await of.viewerOf(arrival, new Date(`${day}T12:00:00Z`));
    assert.match(viewer.hash, /^[0-9a-f]{24}$/);
    assert.doesNotMatch(JSON.stringify(viewer), /8\.8\.8|video\.test|arrival/);
    return viewer.hash;
  };
  const first = await hash();
  assert.equal(await hash(), first);
  const block = { ip: '2001:db8:1:2::1' };
  assert.equal(await hash(block), await hash({ ip: '2001:db8:1:2:9::9' }));
  const others = [
    hash({ ip: '8.8.8.9' }),
    hash({ userAgent: PAD }),
    hash({}, 'wsp_2'),
    hash({}, 'wsp_1', '2026-11-21'),
  ];
  const salted = hash({}, 'wsp_1', '2026-11-20', arrivalsOf(undefined, 'another'));
  assert.equal(new Set([first, ...(await Promise.all([...others, salted]))]).size, 6);
});
