import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import Type from 'typebox';
import { Agent, request as send } from 'undici';
import { createApp } from '../../src/http/app.ts';
import { defineRoute, NoParams, NoQuery, type Route } from '../../src/http/route.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { AppError, notFound } from '../../src/kernel/errors.ts';
import { type Container, createContainer } from '../../src/main/container.ts';
import { loadConfig } from '../../src/platform/config.ts';
import type { Db } from '../../src/platform/db/index.ts';
import { isTransientError, violatedConstraint } from '../../src/platform/db/index.ts';
import { SECRET_KEY } from '../harness/app.ts';
import { noSessions } from '../harness/no-sessions.ts';
import { TestResponse } from '../harness/response.ts';

/** Request body of the test route, which controls its handler. */
const Thing = Type.Object({
  name: Type.String(),
  /** Action after inserting the row. */
  next: Type.Optional(Type.String()),
  /** Duration of the handler in milliseconds. */
  ms: Type.Optional(Type.Integer()),
});

/** Creates a table for the tests, with unique names. */
export async function createThings(db: Db): Promise<void> {
  await sql`create table thing (name text primary key, made_at timestamptz not null default now())`.execute(
    db,
  );
}

async function insert(db: Db, name: string): Promise<void> {
  await sql`insert into thing (name) values (${name})`.execute(db);
}

export async function countThings(db: Db, name: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int from thing where name = ${name}`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

/** Things that happen to a handler, by the name in `next`. */
function endings({ db, events, bus }: Container): Record<string, (name: string) => Promise<void>> {
  const inTransaction = (name: string, error: Error) =>
    events.transaction(async (tx) => {
      await insert(tx, name);
      throw error;
    });
  return {
    nothing: async () => {},
    notFound: (name) => inTransaction(`${name}, refused`, notFound()),
    conflict: (name) => events.transaction((tx) => insert(tx, name)),
    crash: (name) => inTransaction(`${name}, crashed`, new Error('the handler broke')),
    limited: async () => {
      throw new AppError('RATE_LIMITED', { headers: { 'Retry-After': '7' } });
    },
    hint: async (name) => bus.publish('things', name),
    hintAndCrash: async (name) => {
      bus.publish('things', name);
      throw new Error('the handler broke');
    },
    /** A failed write outside a transaction, after which the handler continues. */
    recover: async (name) => {
      await insert(db, name).catch(() => {});
      await insert(db, `${name}, recovered`);
    },
    /** Transactions within each other, of which the inner one fails. */
    nested: (name) =>
      db.transaction().execute(async (tx) => {
        await insert(tx, `${name}, outer`);
        await inTransaction(`${name}, inner`, new Error('inner')).catch(() => {});
      }),
    /** A transaction that the handler does not await. */
    dangling: async (name) => {
      void db
        .transaction()
        .execute(async (tx) => {
          await insert(tx, `${name}, dangling`);
          await sleep(300);
        })
        .catch(() => {});
      await sleep(50);
    },
    readBack: async (name) => {
      if ((await countThings(db, name)) !== 1) throw new Error('the handler does not see its own change');
    },
  };
}

/** Name of things whose provider is unavailable. */
const AWAY = 'away';

/** Defines a route whose handler calls an external service and inserts a row for each operation. */
function leasedRoute(runs: string[]): Route {
  return defineRoute({
    operationId: 'test.leased',
    method: 'POST',
    path: '/leased',
    summary: 'For tests',
    auth: 'key',
    permission: null,
    gate: null,
    idempotent: 'leased',
    body: Thing,
    reply: { status: 201, schema: Type.Object({ operationId: Type.String() }) },
    errors: ['SERVICE_UNAVAILABLE', 'CONFLICT'],
    async handler({ idempotentRunId }, { body }) {
      runs.push(body.name);
      if (body.ms !== undefined) await sleep(body.ms);
      if (runs.filter((name) => name === body.name).length === 1 && body.next === AWAY) {
        throw new AppError('SERVICE_UNAVAILABLE');
      }
      if (body.next === 'conflict') throw new AppError('CONFLICT');
      return { operationId: idempotentRunId ?? 'none' };
    },
  });
}

function thingRoutes(container: Container, runs: string[]): Route[] {
  const act = endings(container);
  const leased = leasedRoute(runs);
  return [
    leased,
    ...['/things', '/others'].map((path) =>
      defineRoute({
        operationId: `test.${path.slice(1)}`,
        method: 'POST',
        path,
        summary: 'For tests',
        auth: 'key',
        permission: null,
        gate: null,
        idempotent: true,
        originLock: false,
        params: NoParams,
        query: NoQuery,
        body: Thing,
        reply: { status: 201, schema: Type.Object({ name: Type.String(), run: Type.Integer() }) },
        errors: [],
        async handler(_context, { body }) {
          runs.push(body.name);
          const run = runs.length;
          await container.events.transaction((tx) => insert(tx, body.name));
          if (body.ms !== undefined) await sleep(body.ms);
          await act[body.next ?? 'nothing']?.(body.name);
          return { name: body.name, run };
        },
      }),
    ),
  ];
}

/** One node of the program with test routes, on a database that it may share with others. */
export interface TestNode {
  url: string;
  container: Container;
  /** The names that the handlers were called with, in order. */
  runs: string[];
  close(): Promise<void>;
}

interface NodeOptions {
  databaseUrl: string;
  clock?: Clock;
  env?: Record<string, string>;
}

export async function startTestNode({ databaseUrl, clock, env }: NodeOptions): Promise<TestNode> {
  const config = loadConfig({ PUBLIC_URL: 'http://marquee.test', LOG_LEVEL: 'silent', ...env });
  const container = await createContainer({
    config,
    databaseUrl,
    secretKey: SECRET_KEY,
    name: 'test',
    ...(clock === undefined ? {} : { clock }),
  });
  const runs: string[] = [];
  const { counters, apiKeys, idempotency, log } = container;
  const perMinute = counters({ name: 'minute', window: 60, withoutStore: 'open' });
  const perDay = counters({ name: 'day', window: 'day', withoutStore: 'open' });
  const app = await createApp({
    ports: {
      keys: apiKeys,
      verifyUserToken: async () => null,
      sessions: noSessions,
      counters: {
        perMinute: (key) => perMinute.hit(key),
        perDay: (key) => perDay.hit(key),
        dayCount: (key) => perDay.peek(key),
        window: (windowSec) => counters({ name: 'cap', window: windowSec, withoutStore: 'insured' }),
      },
      idempotency,
      leases: container.leases,
      originLock: { refusal: async () => null },
      metrics: { observe: () => {} },
      databaseFailure(error) {
        if (isTransientError(error)) return new AppError('SERVICE_UNAVAILABLE');
        return violatedConstraint(error) === undefined ? null : new AppError('CONFLICT');
      },
      clock: container.clock,
      log,
      accessLog: { note: () => {} },
      requestLog: { note: () => {}, count: () => {} },
      quotas: { changed: () => {}, refused: () => {} },
      deprecatedUses: { note: () => {} },
    },
    routes: thingRoutes(container, runs),
    pages: [],
    trustProxy: config.TRUST_PROXY,
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  return {
    url,
    container,
    runs,
    async close() {
      await app.close();
      await container.close();
    },
  };
}

export interface PostOptions {
  key: string;
  idempotencyKey?: string | string[];
  headers?: Record<string, string>;
  path?: string;
  signal?: AbortSignal;
}

/** POSTs a thing. Connections are not reused, so that a node may die under them. */
export async function post(url: string, body: unknown, options: PostOptions): Promise<TestResponse> {
  const { key, idempotencyKey, headers, path = '/things', signal } = options;
  const agent = new Agent({ keepAliveTimeout: 1 });
  try {
    const response = await send(`${url}/api/v1${path}`, {
      dispatcher: agent,
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        ...headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });
    return new TestResponse(response.statusCode, response.headers, await response.body.text());
  } finally {
    await agent.destroy();
  }
}
