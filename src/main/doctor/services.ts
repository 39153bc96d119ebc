import { promises as dns } from 'node:dns';
import { isIP } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { newUuid } from '../../kernel/ids.ts';
import { livekitOf } from '../../media/rooms/open.ts';
import { openBlobStore } from '../../media/storage/index.ts';
import { openDatabase } from '../../platform/db/index.ts';
import { NEWER_REMEDY } from '../../platform/db/migration-phase.ts';
import { OLDER_REMEDY } from '../../platform/db/older-migrations.ts';
import { type DatabaseState, findPoolExcess, readDatabaseState } from '../../platform/db/state.ts';
import { createLogger } from '../../platform/logger.ts';
import { checkMailServer } from '../../platform/mailer.ts';
import { probe } from '../../platform/outbound/index.ts';
import { openRedis } from '../../platform/redis.ts';
import {
  type Check,
  type CheckResult,
  checkCertificateExpiry,
  compareClocks,
  ok,
  problem,
  reasonOf,
  warning,
} from './check-result.ts';

const PROBE_TIMEOUT_MS = 5000;
const OLDEST_POSTGRES = 15;
const POOL_REMEDY = 'lower DATABASE_POOL or raise max_connections';

const database: Check = async ({ config, database: found, clock }) => {
  if (found === null) return [ok('database', 'not created yet: the first start creates it')];
  const remedy = 'check that PostgreSQL is running and DATABASE_URL is correct';
  if ('failure' in found) return [problem('database', reasonOf(found.failure), remedy)];
  const { sql, close } = openDatabase({ url: found.url, pool: 1, name: 'marquee doctor' });
  try {
    const sentMs = clock.ms();
    const state = await readDatabaseState(sql);
    const { majorVersion: major, isHalfRestored, obstacle } = state;
    const clocks = compareClocks('database-clock', 'the database', (sentMs + clock.ms()) / 2, state.timeMs);
    const findings = [ok('database', `PostgreSQL ${major} responds`), clocks];
    if (major < OLDEST_POSTGRES)
      findings.push(problem('database-version', `PostgreSQL ${major} is too old`, 'use version 15 or newer'));
    if (isHalfRestored) {
      const text = 'a restore into this database was interrupted';
      return [...findings, problem('migrations', text, 'run marquee restore again')];
    }
    if (obstacle !== null) return [...findings, problem('migrations', obstacle, OLDER_REMEDY)];
    const excess = await findPoolExcess(sql, config.DATABASE_POOL);
    if (excess !== null) findings.push(warning('database-connections', excess, POOL_REMEDY));
    return [...findings, judgeMigrations(state)];
  } catch (error) {
    return [problem('database', reasonOf(error), remedy)];
  } finally {
    await close();
  }
};

function judgeMigrations({ pending, unknown, newerObstacle }: DatabaseState): CheckResult {
  if (newerObstacle !== null) return problem('migrations', newerObstacle, NEWER_REMEDY);
  if (unknown.length > 0) {
    const text = `the database is newer than this program, which can run on it: it has ${unknown.join(', ')}`;
    return warning('migrations', text, 'finish the upgrade of all nodes');
  }
  if (pending.length === 0) return ok('migrations', 'the database is up to date');
  const text = `${pending.length} migrations are not applied yet`;
  return warning('migrations', text, 'the next start applies them, or run marquee migrate');
}

const site: Check = async ({ config, clock, isRunning }) => {
  const { hostname, origin } = new URL(config.PUBLIC_URL);
  const name = hostname.replace(/^\[(.*)\]$/, '$1');
  const findings: CheckResult[] = [];
  if (isIP(name) === 0) {
    try {
      const { address } = await dns.lookup(name);
      findings.push(ok('dns', `${name} resolves to ${address}`));
    } catch (error) {
      const remedy = `create an A or AAAA record for ${name}, or correct PUBLIC_URL`;
      return [problem('dns', `${name} of PUBLIC_URL cannot be resolved: ${reasonOf(error)}`, remedy)];
    }
  }
  if (!isRunning) return findings;
  const remedy = 'check the proxy, the firewall, and PUBLIC_URL';
  try {
    const sentMs = clock.ms();
    const { status, timeMs, certificateEndsMs } = await probe(`${origin}/healthz`, PROBE_TIMEOUT_MS);
    const whose = `the certificate of ${origin}`;
    const ends = certificateEndsMs;
    if (ends !== null) findings.push(checkCertificateExpiry('site-certificate', whose, ends, clock));
    if (timeMs !== null)
      findings.push(compareClocks('site-clock', origin, (sentMs + clock.ms()) / 2, timeMs));
    if (status !== 200) return [...findings, problem('site', `${origin}/healthz returned ${status}`, remedy)];
    return [...findings, ok('site', `${origin} responds`)];
  } catch (error) {
    return [
      ...findings,
      problem('site', `${origin} cannot be reached from here: ${reasonOf(error)}`, remedy),
    ];
  }
};

const mail: Check = async ({ config }) => {
  if (config.SMTP_URL === undefined) return [];
  try {
    await checkMailServer(config.SMTP_URL);
    return [ok('mail', 'the mail server accepts the host name, TLS and password')];
  } catch (error) {
    const remedy = 'correct SMTP_URL: smtp://user:password@host:587, or smtps:// for port 465';
    return [problem('mail', `the mail server rejected the connection: ${reasonOf(error)}`, remedy)];
  }
};

const bucket: Check = async ({ config }) => {
  if (config.S3_BUCKET === undefined) return [];
  const store = await openBlobStore(config);
  const key = `doctor/${newUuid()}`;
  try {
    await store.put(key, 'doctor', 'text/plain');
    const found = await store.open(key);
    if (found === null || String(await buffer(found.body)) !== 'doctor')
      throw new Error('the stored object has different content');
    await store.delete(key);
    return [ok('s3', `a file can be written to ${config.S3_BUCKET}, read and deleted`)];
  } catch (error) {
    const remedy =
      'correct the S3_* variables and the permissions of the key (docs/guides/uploads.md#for-operators)';
    return [problem('s3', `the bucket ${config.S3_BUCKET}: ${reasonOf(error)}`, remedy)];
  }
};

const counters: Check = async ({ config, clock }) => {
  if (config.REDIS_URL === undefined) return [];
  const store = await openRedis({ url: config.REDIS_URL, log: createLogger('silent') });
  try {
    const time = await store.attempt((client) => client.time());
    if (time === null) {
      const text = 'the Redis server at REDIS_URL does not respond: each process counts separately';
      return [warning('redis', text, 'check that it is running and that URL and password are correct')];
    }
    const there = Number(time[0]) * 1000;
    return [
      ok('redis', 'the counter store responds'),
      compareClocks('redis-clock', 'the counter store', clock.ms(), there),
    ];
  } finally {
    await store.close();
  }
};

const livekit: Check = async ({ config }) => {
  const server = livekitOf(config);
  if (server === null) return [];
  // Loaded only where there is a server.
  const { LivekitApi } = await import('../../media/rooms/livekit/api.ts');
  const lack = await new LivekitApi(server).lack();
  if (lack === null) return [ok('livekit', 'LiveKit responds and accepts the key')];
  return [
    problem('livekit', `LiveKit ${lack}`, 'correct LIVEKIT_URL, LIVEKIT_API_KEY and LIVEKIT_API_SECRET'),
  ];
};

export const serviceChecks: readonly Check[] = [database, site, mail, bucket, counters, livekit];
