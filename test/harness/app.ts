import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request as send } from 'undici';
import type { Clock } from '../../src/kernel/clock.ts';
import type { Release } from '../../src/kernel/release.ts';
import { startApi } from '../../src/main/api.ts';
import { type Container, createContainer } from '../../src/main/container.ts';
import type { RoomEngineSelection } from '../../src/media/rooms/engine-selection.ts';
import { loadConfig } from '../../src/platform/config.ts';
import { eventWatcher, recordErrorCode, untrackedEvents } from './contract-coverage.ts';
import { createTestDatabase } from './database.ts';
import { type AccountOptions, insertAccount, type KeyOptions, type TestAccount } from './factories.ts';
import { moneyCheck, watchedLog } from './money-fields.ts';
import { TestResponse } from './response.ts';
import { assertDeclaredResponse } from './response-contract.ts';

export interface RequestOptions {
  key?: string;
  headers?: Record<string, string | string[]>;
  /** Sent as JSON, unless it is text or bytes, which are sent unchanged, as `application/json` by default. */
  body?: unknown;
  /** The test provokes a response that the endpoint does not declare. */
  undeclared?: true;
}

/** Real composition and request chain on a separate database; no worker, no media process. */
export interface TestApp {
  /** `http://127.0.0.1:<port>`, without the base path. */
  url: string;
  port: number;
  container: Container;
  /** URL for additional nodes on the same database. */
  databaseUrl: string;
  /** `path` is below the base URL, `/api/v1`. */
  request(method: string, path: string, options?: RequestOptions): Promise<TestResponse>;
  createAccount(options?: AccountOptions): Promise<TestAccount>;
  /** A key of a fresh account, unless `account` names one. */
  createKey(options?: KeyOptions): Promise<{ id: string; key: string; account: TestAccount }>;
  /** Stops the API as SIGTERM does; the container stays open. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** Secret key of every server that tests start in their process. */
export const SECRET_KEY = Buffer.alloc(32, 5);

interface AppOptions {
  /**
   * Another node of the same platform, with which it shares the database and files. Closed before that one.
   */
  beside?: TestApp;
  /** URL of a separate migrated database. */
  databaseUrl?: string;
  /** Default: the system's. */
  clock?: Clock;
  /** Variables of the configuration. */
  env?: Record<string, string>;
  /** Releases of the API. Default: the published ones. */
  releases?: readonly Release[];
  /** Room engine. Default: the mesh. */
  rooms?: RoomEngineSelection;
  /** Does `/health` see a media process? Default true. */
  mediaRuns?: () => boolean;
}

export async function startTestApp(options: AppOptions = {}): Promise<TestApp> {
  const given = options.databaseUrl ?? options.beside?.databaseUrl;
  const database = given === undefined ? await createTestDatabase({ pool: 1 }) : null;
  const databaseUrl = database?.url ?? given ?? '';
  const dataDir =
    options.beside?.container.config.DATA_DIR ??
    join(tmpdir(), `marquee-app-${randomBytes(6).toString('hex')}`);
  const config = loadConfig({
    PORT: '0',
    DATA_DIR: dataDir,
    PUBLIC_URL: 'http://marquee.test',
    LOG_LEVEL: 'silent',
    DRAIN_TIMEOUT: '10',
    ...options.env,
  });
  const { log, assertNoMoney } = watchedLog();
  const settings = {
    config,
    log,
    databaseUrl,
    secretKey: SECRET_KEY,
    name: 'test',
    strictEvents: true,
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    ...(options.rooms === undefined ? {} : { rooms: options.rooms }),
    ...(options.releases === undefined ? {} : { releases: options.releases }),
  };
  const container = await createContainer(settings, [{ consumers: [eventWatcher] }]);
  const { app, drain, routes } = await startApi(container, options.mediaRuns ?? (() => true));
  let drained: Promise<void> | null = null;
  const drainOnce = () => {
    drained ??= drain();
    return drained;
  };
  const { port } = addressOf(app.server.address());
  const url = `http://127.0.0.1:${port}`;
  const agent = new Agent({ pipelining: 1, connections: 32 });
  const checkDeclared = assertDeclaredResponse(routes);
  const checkMoney = moneyCheck(routes);
  const createAccount = (account?: AccountOptions) => insertAccount(container.db, account);
  return {
    url,
    port,
    databaseUrl,
    container: { ...container, events: untrackedEvents(container.events) },
    createAccount,
    async request(method, path, init) {
      const answer = await call(agent, `${url}/api/v1${path}`, method, init);
      recordErrorCode(answer);
      if (init?.undeclared !== true) checkDeclared(method, path, answer);
      checkMoney(method, path, answer);
      return answer;
    },
    async createKey({ account: given, ...input } = {}) {
      const account = given ?? (await createAccount());
      const made = await container.apiKeys.create({ scope: 'FULL_ACCESS', ...input, email: account.email });
      return { ...made, account };
    },
    drain: drainOnce,
    async close() {
      await agent.destroy();
      // No request of a test is on its way.
      app.server.closeIdleConnections();
      await drainOnce();
      await container.close();
      if (database !== null) {
        await database.close();
        await rm(dataDir, { recursive: true, force: true });
      }
      assertNoMoney();
    },
  };
}

/** A request that hangs fails its test instead of the whole run. */
const REQUEST_MS = 20_000;

function addressOf(address: AddressInfo | string | null): AddressInfo {
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address;
}

async function call(agent: Agent, url: string, method: string, options: RequestOptions = {}) {
  const { key, headers = {}, body } = options;
  const raw = typeof body === 'string' || body instanceof Uint8Array ? body : undefined;
  const response = await send(url, {
    dispatcher: agent,
    method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? null : (raw ?? JSON.stringify(body)),
    signal: AbortSignal.timeout(REQUEST_MS),
  });
  return new TestResponse(response.statusCode, response.headers, await response.body.text());
}
