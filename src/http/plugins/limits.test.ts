import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type FastifyInstance, fastify } from 'fastify';
import { ipBlock } from '../../kernel/ip-block.ts';
import { type Counter, memoryCounter } from '../../platform/counters.ts';
import { createLogger } from '../../platform/logger.ts';
import { defineRoute, type Limit, NoBody, NoParams, NoQuery } from '../route.ts';
import { endpoint } from './endpoint.ts';
import { errorHandler } from './errors.ts';
import { limits } from './limits.ts';

const LIMIT: Limit = { bucket: 'b', per: 'ip', max: 2, windowSec: 60, refusal: 'text' };

function app(routes: Record<string, readonly Limit[]>, counter?: Counter): FastifyInstance {
  const windows = new Map<number | 'day', Counter>();
  const instance = fastify({ trustProxy: true });
  instance.decorateRequest('caller', null);
  endpoint(instance);
  instance.setErrorHandler(errorHandler(createLogger('silent'), () => null));
  limits(instance, {
    counters: {
      window(sec) {
        const made = counter ?? windows.get(sec) ?? memoryCounter(Number(sec));
        windows.set(sec, made);
        return made;
      },
    },
  });
  for (const [path, caps] of Object.entries(routes)) {
    const route = defineRoute({
      operationId: `test.${path}`,
      method: 'GET',
      path,
      summary: 'For tests',
      auth: 'public',
      permission: null,
      gate: null,
      idempotent: false,
      originLock: false,
      limits: caps,
      params: NoParams,
      query: NoQuery,
      body: NoBody,
      reply: { status: 200, schema: NoQuery },
      errors: [],
      handler: async () => ({}),
    });
    instance.get(path, { config: { route } }, async () => ({ success: true }));
  }
  return instance;
}

async function statuses(instance: FastifyInstance, urls: string[], from = '10.0.0.1'): Promise<number[]> {
  const out: number[] = [];
  for (const url of urls) {
    out.push((await instance.inject({ url, headers: { 'x-forwarded-for': from } })).statusCode);
  }
  return out;
}

describe('the caps of an endpoint', () => {
  it('count each address by itself, and paths of one bucket together', async () => {
    const instance = app({ '/a': [LIMIT], '/b': [LIMIT], '/c': [{ ...LIMIT, bucket: 'other' }] });
    assert.deepEqual(await statuses(instance, ['/a', '/b', '/a', '/b', '/c']), [200, 200, 429, 429, 200]);
    assert.deepEqual(await statuses(instance, ['/a', '/a', '/a'], '10.0.0.2'), [200, 200, 429]);
  });

  it('count a path parameter apart', async () => {
    const instance = app({ '/v/:id': [{ ...LIMIT, max: 1, param: 'id' }] });
    assert.deepEqual(await statuses(instance, ['/v/1', '/v/2', '/v/1', '/v/2']), [200, 200, 429, 429]);
  });

  it('refuse with the body that the limit names', async () => {
    const instance = app({
      '/plain': [{ ...LIMIT, max: 0 }],
      '/object': [{ ...LIMIT, max: 0, refusal: 'RATE_LIMITED' }],
      '/views': [{ ...LIMIT, max: 0, refusal: 'RATE_LIMIT' }],
    });
    const plain = await instance.inject('/plain');
    const { retryAfter, ...rest } = plain.json<{ retryAfter: number }>();
    assert.deepEqual(rest, { success: false, error: 'Too many requests' });
    assert.ok(retryAfter > 50 && retryAfter <= 60, `${retryAfter} s of a window of 60`);
    assert.equal(plain.headers['retry-after'], String(retryAfter));
    const codes = await Promise.all(
      ['/object', '/views'].map(async (url) => {
        const answer = await instance.inject(url);
        assert.equal(answer.statusCode, 429);
        return answer.json<{ error: { code: string } }>().error.code;
      }),
    );
    assert.deepEqual(codes, ['RATE_LIMITED', 'RATE_LIMIT']);
  });

  it('stop at the first that is reached: the rest do not count', async () => {
    const wide: Limit = { ...LIMIT, bucket: 'wide', max: 3 };
    const instance = app({ '/both': [{ ...LIMIT, max: 1 }, wide], '/wide': [wide] });
    assert.deepEqual(await statuses(instance, ['/both', '/both', '/both', '/both']), [200, 429, 429, 429]);
    assert.deepEqual(await statuses(instance, ['/wide', '/wide', '/wide']), [200, 200, 429]);
  });

  it('let requests through that cannot be counted', async () => {
    const count = async () => ({ count: -1, resetInMs: 1000 });
    const instance = app({ '/a': [{ ...LIMIT, max: 0 }] }, { hit: count, peek: count });
    assert.deepEqual(await statuses(instance, ['/a']), [200]);
  });

  it('do not count a key where none came', async () => {
    const instance = app({ '/a': [{ ...LIMIT, per: 'key', max: 0 }] });
    assert.deepEqual(await statuses(instance, ['/a']), [200]);
  });
});

describe('an address as it is counted', () => {
  for (const [ip, block] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::1', '0:0:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:0db8::', '2001:db8:0:0::/64'],
    ['2001:DB8:1::2', '2001:db8:1:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ] as const) {
    it(`${ip} is ${block}`, () => assert.equal(ipBlock(ip), block));
  }
});
