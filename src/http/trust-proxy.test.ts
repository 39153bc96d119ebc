import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import Type from 'typebox';
import { noSessions } from '../../test/harness/no-sessions.ts';
import { systemClock } from '../kernel/clock.ts';
import { ConfigError, loadConfig, type TrustProxy } from '../platform/config.ts';
import { createLogger } from '../platform/logger.ts';
import { createApp } from './app.ts';
import { defineRoute, NoBody, NoParams, NoQuery } from './route.ts';

const configured = (value: string): TrustProxy => loadConfig({ TRUST_PROXY: value }).TRUST_PROXY;
const unused = () => Promise.reject(new Error('not part of this test'));
const log = createLogger('silent');

const whoAmI = defineRoute({
  operationId: 'test.ip',
  method: 'GET',
  path: '/ip',
  summary: 'The client address',
  auth: 'none',
  permission: null,
  gate: null,
  idempotent: false,
  originLock: false,
  params: NoParams,
  query: NoQuery,
  body: NoBody,
  reply: { status: 200, schema: Type.Object({ ip: Type.String() }) },
  errors: [],
  handler: async ({ ip }) => ({ ip }),
});

/** The address that the program sees of a request from `peer` with this `X-Forwarded-For`. */
async function seen(setting: string, forwarded: string | undefined, peer = '10.0.0.9'): Promise<unknown> {
  const app = await createApp({
    ports: {
      keys: { verify: unused, onChanged: () => {} },
      verifyUserToken: unused,
      sessions: noSessions,
      counters: {
        perMinute: unused,
        perDay: unused,
        dayCount: unused,
        window: () => ({ hit: unused, peek: unused }),
      },
      idempotency: { find: unused, once: unused, onceLeased: unused },
      leases: { acquire: unused },
      originLock: { refusal: unused },
      metrics: { observe: () => {} },
      databaseFailure: () => null,
      clock: systemClock,
      log,
      accessLog: { note: () => {} },
      requestLog: { note: () => {}, count: () => {} },
      quotas: { changed: () => {}, refused: () => {} },
      deprecatedUses: { note: () => {} },
    },
    routes: [whoAmI],
    pages: [],
    trustProxy: configured(setting),
  });
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  const response = await app.inject({ url: '/api/v1/ip', remoteAddress: peer, headers });
  await app.close();
  return response.json().data.ip;
}

describe('TRUST_PROXY', () => {
  const spoofed = '6.6.6.6, 203.0.113.7, 10.0.0.8';
  const cases: [setting: string, forwarded: string | undefined, expected: string, why: string][] = [
    ['', spoofed, '10.0.0.9', 'off by default: the header is ignored'],
    ['false', spoofed, '10.0.0.9', 'off'],
    ['true', spoofed, '10.0.0.8', 'one proxy: what it appended, not what the client sent'],
    ['1', spoofed, '10.0.0.8', 'the same as true'],
    ['2', spoofed, '203.0.113.7', 'two proxies in a row'],
    ['true', undefined, '10.0.0.9', 'no header'],
    ['10.0.0.0/8', spoofed, '203.0.113.7', 'the last address that is no proxy'],
    ['10.0.0.9', spoofed, '10.0.0.8', 'only this proxy'],
    ['192.168.0.0/16, ::1', spoofed, '10.0.0.9', 'the peer is none of the proxies'],
  ];
  for (const [setting, forwarded, expected, why] of cases) {
    test(`${setting === '' ? 'unset' : setting}: ${why}`, async () => {
      assert.equal(await seen(setting, forwarded), expected);
    });
  }

  for (const bad of [
    'maybe',
    '100',
    '-1',
    '10.0.0.0/33',
    '::1/129',
    '10.0.0.0/8,',
    'proxy.example',
    '1.2.3',
  ]) {
    test(`${bad} is refused`, () => {
      assert.throws(
        () => configured(bad),
        (error) => error instanceof ConfigError && error.message.startsWith('TRUST_PROXY must be'),
      );
    });
  }
});
