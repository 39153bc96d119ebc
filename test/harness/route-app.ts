import { createApp } from '../../src/http/app.ts';
import type { HttpPorts } from '../../src/http/ports.ts';
import type { Route } from '../../src/http/route.ts';
import type { Container } from '../../src/main/container.ts';
import { noSessions } from './no-sessions.ts';
import { TestResponse } from './response.ts';

/** Request chain with routes of a test, on the parts of a test app; it does not listen. */
export interface RouteApp {
  /** `path` is below the base URL. */
  request(
    method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    options?: { key?: string; headers?: Record<string, string>; body?: object },
  ): Promise<TestResponse>;
  close(): Promise<void>;
}

export async function createRouteApp(container: Container, routes: readonly Route[]): Promise<RouteApp> {
  const { apiKeys, domains, idempotency, leases, clock, log, counters } = container;
  const perMinute = counters({ name: 'route-app-minute', window: 60, withoutStore: 'open' });
  const perDay = counters({ name: 'route-app-day', window: 'day', withoutStore: 'open' });
  const ports: HttpPorts = {
    keys: apiKeys,
    verifyUserToken: async () => null,
    sessions: noSessions,
    counters: {
      perMinute: (key) => perMinute.hit(key),
      perDay: (key) => perDay.hit(key),
      dayCount: (key) => perDay.peek(key),
      window: (windowSec) =>
        counters({ name: `cap${windowSec}`, window: windowSec, withoutStore: 'insured' }),
    },
    idempotency,
    leases,
    originLock: domains,
    metrics: { observe: () => {} },
    databaseFailure: () => null,
    clock,
    log,
    accessLog: { note: () => {} },
    requestLog: { note: () => {}, count: () => {} },
    quotas: { changed: () => {}, refused: () => {} },
    deprecatedUses: { note: container.changelog.noteUse },
  };
  const app = await createApp({ ports, routes, pages: [], trustProxy: false });
  return {
    async request(method, path, { key, headers = {}, body } = {}) {
      const response = await app.inject({
        method,
        url: `/api/v1${path}`,
        headers: { ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...headers },
        ...(body === undefined ? {} : { payload: body }),
      });
      const plain = Object.entries(response.headers).map(([name, value]) => [
        name,
        typeof value === 'number' ? String(value) : value,
      ]);
      return new TestResponse(response.statusCode, Object.fromEntries(plain), response.body);
    },
    close: () => app.close(),
  };
}
