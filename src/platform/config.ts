import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { PEOPLE_KEYS, type PeopleConfig, type PeopleKeys, readPeople } from './config-accounts.ts';
import {
  ANALYTICS_KEYS,
  type AnalyticsConfig,
  type AnalyticsKeys,
  readAnalytics,
} from './config-analytics.ts';
import { MEDIA_KEYS, type MediaConfig, type MediaKeys, readMedia } from './config-media.ts';
import { MONEY_KEYS, type MoneyConfig, type MoneyKeys, readMoney } from './config-money.ts';
import {
  apiKey,
  ConfigError,
  databaseUrl,
  destinations,
  diskReserve,
  email,
  flag,
  hosts,
  integer,
  type Key,
  logLevel,
  nameServers,
  password,
  plan,
  port,
  type RegistrationMode,
  registration,
  roles,
  secretKey,
  text,
  trustProxy,
  url,
} from './config-parsers.ts';
import { PROCESS_KEYS, readProcesses, readSockets } from './config-processes.ts';
import { ROOM_KEYS, type RoomConfig, type RoomKeys, readRooms } from './config-rooms.ts';
import { readVideo, VIDEO_KEYS } from './config-video.ts';
import { readWebhooks, WEBHOOK_KEYS } from './config-webhooks.ts';
import type { DiskReserve } from './disk.ts';

export type { RegistrationMode, TrustProxy } from './config-parsers.ts';
export { ConfigError } from './config-parsers.ts';
export type { SocketName } from './config-processes.ts';
export type { RoomConfig } from './config-rooms.ts';

/** Every variable the program reads, in the order of docs/configuration.md. */
export const KEYS = {
  PORT: port('HTTP port for the API, pages and playback.', 8080),
  HOST: text('Address the HTTP and RTMP listeners bind.', '127.0.0.1'),
  DRAIN_DELAY: integer(
    'Seconds for which the API still accepts connections after SIGTERM, while `/readyz` returns 503. Set it to the time that your load balancer takes to notice: usually 5.',
    0,
    0,
    600,
  ),
  DRAIN_TIMEOUT: integer(
    'Maximum seconds from SIGTERM until requests in flight are aborted, `DRAIN_DELAY` included.',
    25,
    1,
    3600,
  ),
  PUBLIC_URL: url('Public URL of the HTTP port. Default `http://localhost:PORT`.', ['http:', 'https:']),
  PLATFORM_HOSTS: hosts('Additional host names of the platform, comma-separated.'),
  DATA_DIR: text('Folder for all data stored on this machine.', './data'),
  DISK_RESERVE: diskReserve(
    'Disk space of `DATA_DIR` reserved for the database: a size such as `500MB` or `2GB`, or a percentage such as `5%`. New files that would use it are rejected (507). Default: 5% or 2 GB, whichever is less.',
  ),
  S3_BUCKET: text(
    'Bucket of an S3-compatible service for uploads, videos and recordings. Unset: they are stored in `DATA_DIR/media`. See `docs/guides/uploads.md`.',
  ),
  S3_ENDPOINT: url('Endpoint URL of the service, unless it is Amazon S3.', ['http:', 'https:']),
  S3_REGION: text('Region of the bucket.', 'us-east-1'),
  S3_ACCESS_KEY_ID: text('Access key for the bucket. Unset: the IAM role of the machine is used.'),
  S3_SECRET_ACCESS_KEY: text('Secret of the access key.'),
  S3_PATH_STYLE: flag(
    'Use path-style URLs (`https://host/bucket/key`); required by MinIO and most services other than Amazon S3.',
    false,
  ),
  S3_PREFIX: {
    ...text('Prefix of every key in the bucket, such as `marquee/`.', ''),
    parse: (value) => {
      const name = value.replace(/^\/+|\/+$/g, '');
      if (!/^[\w./-]{0,100}$/.test(name))
        throw new Error('must be a path of letters, digits, ".", "_" and "-"');
      return name === '' ? '' : `${name}/`;
    },
  },
  S3_SIGNED_URLS: flag(
    'Redirect players to signed URLs of the service, which must be reachable for them and allow their origins (CORS). `false`: files are served by this program.',
    true,
  ),
  DATABASE_URL: databaseUrl(
    'PostgreSQL 15 or newer; the primary of several hosts if they are separated by commas. Unset: PostgreSQL 18 from npm runs in `DATA_DIR`.',
  ),
  DATABASE_POOL: integer('Maximum database connections per process.', 10, 2, 200),
  DATABASE_DEADLINE_MS: integer(
    'How long a request waits for the database before it returns 503.',
    5000,
    100,
    60_000,
  ),
  LIVE_WITHOUT_DATABASE_SEC: integer(
    'How long viewers can continue to watch broadcasts and videos while the database is unavailable; 0: not at all. See `docs/guides/operations.md`.',
    300,
    0,
    86_400,
  ),
  REDIS_URL: url(
    'URL of a Valkey or Redis server for counters shared by all nodes of a cluster (`rediss://` for TLS). Unset: each machine counts separately.',
    ['redis:', 'rediss:'],
  ),
  ROLES: roles,
  ...PROCESS_KEYS,
  SECRET_KEY: secretKey,
  SECRET_KEY_FILE: text('File that contains the secret key, to store it outside `DATA_DIR`; it must exist.'),
  TRUST_PROXY: trustProxy,
  LIVEMODE: flag('`livemode` of every event: whether this is the production platform.', false),
  LOG_LEVEL: logLevel,
  REQUEST_LOG: flag('Log requests of each key for 7 days (`GET /me/requests`).', true),
  ...ANALYTICS_KEYS,
  SMTP_URL: url(
    'URL of the SMTP server, with user name and password if required. Unset: emails are stored in the development mailbox (`marquee mail list`).',
    ['smtp:', 'smtps:'],
  ),
  MAIL_FROM: {
    ...text('Sender of emails. Default `Marquee <no-reply@HOST>` with the host of `PUBLIC_URL`.'),
    parse: (value) => {
      if (!/^[^\r\n]*[^\s<@]@[^\s>@]+>?$/.test(value))
        throw new Error('must be an email address, or Name <address>');
      return value;
    },
  },
  REGISTRATION: registration,
  DEFAULT_PLAN: plan(
    'Plan of newly registered accounts, from the dashboard or `POST /auth/register`.',
    'FREE',
  ),
  ...PEOPLE_KEYS,
  METRICS_HOST: text('Address the metrics port binds.', '127.0.0.1'),
  METRICS_PORT: {
    ...port(
      'Port for Prometheus metrics, `/healthz` and `/readyz`. Default 9464, or a free port if it is in use.',
      9464,
    ),
    fallback: null,
  },
  RTMP_PORT: port('RTMP port for encoders.', 1935),
  RTMP_URL: url('Public RTMP URL for encoders. Default: the host of `PUBLIC_URL`, `RTMP_PORT`, `/live`.', [
    'rtmp:',
    'rtmps:',
  ]),
  ...MEDIA_KEYS,
  INGEST_IDLE_MS: integer(
    'Time without media after which a publisher is disconnected.',
    10_000,
    1000,
    600_000,
  ),
  INGEST_MAX_PER_ADDRESS: integer('Maximum RTMP connections per IP address.', 20, 1, 100_000),
  SIGNAL_GRACE_MS: integer(
    'Reconnect window: how long a lost encoder connection can take to return before `hasSignal` becomes false.',
    3000,
    0,
    600_000,
  ),
  LIVE_MAX_RUNGS: integer(
    'Maximum scaled-down renditions per live stream; 0 serves only the source.',
    2,
    0,
    5,
  ),
  FFMPEG_PATH: text('Path of ffmpeg, version 5.1 or newer.', 'ffmpeg'),
  FFPROBE_PATH: text('Path of ffprobe.', 'ffprobe'),
  REQUIRE_SANDBOX: flag(
    'Fail to start if ffmpeg cannot run in a sandbox. See `docs/guides/operations.md`.',
    false,
  ),
  ...VIDEO_KEYS,
  TRANSCODE_CONCURRENCY: {
    ...integer(
      'Maximum videos a worker encodes concurrently; 0 leaves all processing to other workers. Default: half of the CPU cores.',
      1,
      0,
      256,
    ),
    fallback: null,
  },
  VIDEO_CHUNK_MIN_SEC: integer(
    'Videos longer than this are split into chunks that are encoded in parallel by one or more workers.',
    600,
    1,
    43_200,
  ),
  ACCEL_REDIRECT_PREFIX: {
    ...text(
      'Internal location, such as `/_media/`, of an nginx proxy that serves video files from `DATA_DIR/media`. Unset: this program serves them. See `docs/guides/playback.md`.',
    ),
    parse: (value) => {
      if (!/^\/(?:[\w.-]+\/)+$/.test(value))
        throw new Error('must be a path that begins and ends with a slash');
      return value;
    },
  },
  ...ROOM_KEYS,
  ...MONEY_KEYS,
  ...WEBHOOK_KEYS,
  FETCH_ALLOW_PRIVATE: destinations(
    'Private CIDR blocks and host names that all other requests made for users are allowed to reach. For development and tests.',
  ),
  DNS_SERVERS: nameServers(
    'Name servers (`ip:port`) for host names provided by users. Default: those of the system.',
  ),
  MARQUEE_URL: {
    ...url('URL of the platform that `marquee webhook` connects to. Default `http://localhost:8080`.', [
      'http:',
      'https:',
    ]),
    fallback: 'http://localhost:8080',
  },
  MARQUEE_API_KEY: text('API key for `marquee webhook`.'),
  BOOTSTRAP_EMAIL: email(
    'Email of the owner account created on an empty database.',
    'owner@marquee.localhost',
  ),
  BOOTSTRAP_PASSWORD: password('Password of that account. Generated and displayed once if unset.', 12),
  BOOTSTRAP_API_KEY: apiKey,
} satisfies Record<string, Key<unknown>>;

type Values = { readonly [N in keyof typeof KEYS]: ReturnType<(typeof KEYS)[N]['parse']> };
type Derived =
  | RoomKeys
  | MoneyKeys
  | AnalyticsKeys
  | PeopleKeys
  | MediaKeys
  | 'PUBLIC_URL'
  | 'RTMP_URL'
  | 'DATABASE_URL'
  | 'REDIS_URL'
  | 'SECRET_KEY'
  | 'SECRET_KEY_FILE'
  | 'BOOTSTRAP_PASSWORD'
  | 'BOOTSTRAP_API_KEY'
  | 'MARQUEE_API_KEY'
  | 'METRICS_PORT'
  | 'ACCEL_REDIRECT_PREFIX'
  | 'TRANSCODE_CONCURRENCY'
  | 'SMTP_URL'
  | 'REGISTRATION'
  | 'MAIL_FROM'
  | 'DISK_RESERVE'
  | 'S3_BUCKET'
  | 'S3_ENDPOINT'
  | 'S3_ACCESS_KEY_ID'
  | 'S3_SECRET_ACCESS_KEY';

/** The frozen configuration. Keys without a default are undefined when unset. */
export type Config = Omit<Values, Derived> &
  RoomConfig &
  MoneyConfig &
  AnalyticsConfig &
  PeopleConfig &
  MediaConfig & {
    readonly PUBLIC_URL: string;
    readonly REGISTRATION: RegistrationMode;
    readonly RTMP_URL: string;
    readonly DATABASE_URL: string | undefined;
    readonly REDIS_URL: string | undefined;
    readonly SECRET_KEY: string | undefined;
    readonly SECRET_KEY_FILE: string | undefined;
    readonly METRICS_PORT: number | undefined;
    readonly TRANSCODE_CONCURRENCY: number;
    readonly ACCEL_REDIRECT_PREFIX: string | undefined;
    readonly SMTP_URL: string | undefined;
    readonly DISK_RESERVE: DiskReserve | undefined;
    readonly S3_BUCKET: string | undefined;
    readonly S3_ENDPOINT: string | undefined;
    readonly S3_ACCESS_KEY_ID: string | undefined;
    readonly S3_SECRET_ACCESS_KEY: string | undefined;
    readonly MAIL_FROM: string;
    readonly BOOTSTRAP_PASSWORD: string | undefined;
    readonly BOOTSTRAP_API_KEY: string | undefined;
    readonly MARQUEE_API_KEY: string | undefined;
  };

type Environment = Record<string, string | undefined>;

function read<T>(environment: Environment, name: string, key: Key<T>): T | undefined {
  const given = environment[name];
  const value = given === undefined || given === '' ? key.fallback : given;
  if (value === null) return undefined;
  try {
    return key.parse(value);
  } catch (error) {
    throw new ConfigError(`${name} ${error instanceof Error ? error.message : 'is not valid'}`);
  }
}

function required<T>(environment: Environment, name: string, key: Key<T>): T {
  const value = read(environment, name, key);
  if (value === undefined) throw new ConfigError(`${name} is required`);
  return value;
}

/**
 * Reads and checks the whole configuration.
 *
 * @throws {ConfigError} naming the first key whose value is not valid.
 */
export function loadConfig(environment: Environment = process.env): Config {
  const get = <T>(name: string, key: Key<T>) => required(environment, name, key);
  const find = <T>(name: string, key: Key<T>) => read(environment, name, key);
  const port = get('PORT', KEYS.PORT);
  const publicUrl = read(environment, 'PUBLIC_URL', KEYS.PUBLIC_URL) ?? `http://localhost:${port}`;
  const { hostname } = new URL(publicUrl);
  const rtmpPort = get('RTMP_PORT', KEYS.RTMP_PORT);
  const dataDir = resolve(get('DATA_DIR', KEYS.DATA_DIR));
  return Object.freeze({
    PORT: port,
    HOST: get('HOST', KEYS.HOST),
    ...readDrain(get),
    PUBLIC_URL: publicUrl,
    PLATFORM_HOSTS: get('PLATFORM_HOSTS', KEYS.PLATFORM_HOSTS),
    DATA_DIR: dataDir,
    DISK_RESERVE: read(environment, 'DISK_RESERVE', KEYS.DISK_RESERVE),
    ...readS3(environment),
    ...readDatabase(environment),
    REDIS_URL: read(environment, 'REDIS_URL', KEYS.REDIS_URL),
    ROLES: get('ROLES', KEYS.ROLES),
    ...readProcesses(get),
    ...readSecretKey(environment),
    TRUST_PROXY: get('TRUST_PROXY', KEYS.TRUST_PROXY),
    LIVEMODE: get('LIVEMODE', KEYS.LIVEMODE),
    LOG_LEVEL: get('LOG_LEVEL', KEYS.LOG_LEVEL),
    REQUEST_LOG: get('REQUEST_LOG', KEYS.REQUEST_LOG),
    ...readAnalytics(find, get('TRUST_PROXY', KEYS.TRUST_PROXY)),
    METRICS_HOST: get('METRICS_HOST', KEYS.METRICS_HOST),
    METRICS_PORT: read(environment, 'METRICS_PORT', KEYS.METRICS_PORT),
    SMTP_URL: read(environment, 'SMTP_URL', KEYS.SMTP_URL),
    REGISTRATION: find('REGISTRATION', KEYS.REGISTRATION) ?? (isLoopback(hostname) ? 'open' : 'invite'),
    DEFAULT_PLAN: get('DEFAULT_PLAN', KEYS.DEFAULT_PLAN),
    ...readPeople(find),
    MAIL_FROM: find('MAIL_FROM', KEYS.MAIL_FROM) ?? `Marquee <no-reply@${hostname}>`,
    RTMP_PORT: rtmpPort,
    RTMP_URL: find('RTMP_URL', KEYS.RTMP_URL) ?? `rtmp://${hostname}:${rtmpPort}/live`,
    ...readMedia(find, publicUrl),
    INGEST_IDLE_MS: get('INGEST_IDLE_MS', KEYS.INGEST_IDLE_MS),
    INGEST_MAX_PER_ADDRESS: get('INGEST_MAX_PER_ADDRESS', KEYS.INGEST_MAX_PER_ADDRESS),
    SIGNAL_GRACE_MS: get('SIGNAL_GRACE_MS', KEYS.SIGNAL_GRACE_MS),
    LIVE_MAX_RUNGS: get('LIVE_MAX_RUNGS', KEYS.LIVE_MAX_RUNGS),
    FFMPEG_PATH: get('FFMPEG_PATH', KEYS.FFMPEG_PATH),
    FFPROBE_PATH: get('FFPROBE_PATH', KEYS.FFPROBE_PATH),
    REQUIRE_SANDBOX: get('REQUIRE_SANDBOX', KEYS.REQUIRE_SANDBOX),
    TRANSCODE_CONCURRENCY:
      read(environment, 'TRANSCODE_CONCURRENCY', KEYS.TRANSCODE_CONCURRENCY) ??
      Math.max(1, Math.floor(availableParallelism() / 2)),
    ...readVideo(find),
    VIDEO_CHUNK_MIN_SEC: get('VIDEO_CHUNK_MIN_SEC', KEYS.VIDEO_CHUNK_MIN_SEC),
    ACCEL_REDIRECT_PREFIX: read(environment, 'ACCEL_REDIRECT_PREFIX', KEYS.ACCEL_REDIRECT_PREFIX),
    ...readRooms(find, { dataDir, publicUrl }),
    ...readMoney(find),
    ...readWebhooks((name, key) => required(environment, name, key)),
    FETCH_ALLOW_PRIVATE: get('FETCH_ALLOW_PRIVATE', KEYS.FETCH_ALLOW_PRIVATE),
    DNS_SERVERS: get('DNS_SERVERS', KEYS.DNS_SERVERS),
    MARQUEE_URL: get('MARQUEE_URL', KEYS.MARQUEE_URL),
    MARQUEE_API_KEY: read(environment, 'MARQUEE_API_KEY', KEYS.MARQUEE_API_KEY),
    BOOTSTRAP_EMAIL: get('BOOTSTRAP_EMAIL', KEYS.BOOTSTRAP_EMAIL),
    BOOTSTRAP_PASSWORD: read(environment, 'BOOTSTRAP_PASSWORD', KEYS.BOOTSTRAP_PASSWORD),
    BOOTSTRAP_API_KEY: read(environment, 'BOOTSTRAP_API_KEY', KEYS.BOOTSTRAP_API_KEY),
  });
}

const isLoopback = (host: string) => /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(host);

function readDrain(get: <T>(name: string, key: Key<T>) => T) {
  const drain = {
    DRAIN_DELAY: get('DRAIN_DELAY', KEYS.DRAIN_DELAY),
    DRAIN_TIMEOUT: get('DRAIN_TIMEOUT', KEYS.DRAIN_TIMEOUT),
  };
  if (drain.DRAIN_DELAY >= drain.DRAIN_TIMEOUT) {
    throw new ConfigError('DRAIN_DELAY must be less than DRAIN_TIMEOUT');
  }
  return drain;
}

function readSecretKey(environment: Environment) {
  const key = read(environment, 'SECRET_KEY', KEYS.SECRET_KEY);
  const file = read(environment, 'SECRET_KEY_FILE', KEYS.SECRET_KEY_FILE);
  if (key !== undefined && file !== undefined) {
    throw new ConfigError('SECRET_KEY_FILE cannot be combined with SECRET_KEY');
  }
  return { SECRET_KEY: key, SECRET_KEY_FILE: file && resolve(file) };
}

function readDatabase(environment: Environment) {
  return {
    DATABASE_URL: read(environment, 'DATABASE_URL', KEYS.DATABASE_URL),
    DATABASE_POOL: required(environment, 'DATABASE_POOL', KEYS.DATABASE_POOL),
    DATABASE_DEADLINE_MS: required(environment, 'DATABASE_DEADLINE_MS', KEYS.DATABASE_DEADLINE_MS),
    LIVE_WITHOUT_DATABASE_SEC: required(
      environment,
      'LIVE_WITHOUT_DATABASE_SEC',
      KEYS.LIVE_WITHOUT_DATABASE_SEC,
    ),
  };
}

function readS3(environment: Environment) {
  return {
    S3_BUCKET: read(environment, 'S3_BUCKET', KEYS.S3_BUCKET),
    S3_ENDPOINT: read(environment, 'S3_ENDPOINT', KEYS.S3_ENDPOINT),
    S3_REGION: required(environment, 'S3_REGION', KEYS.S3_REGION),
    S3_ACCESS_KEY_ID: read(environment, 'S3_ACCESS_KEY_ID', KEYS.S3_ACCESS_KEY_ID),
    S3_SECRET_ACCESS_KEY: read(environment, 'S3_SECRET_ACCESS_KEY', KEYS.S3_SECRET_ACCESS_KEY),
    S3_PATH_STYLE: required(environment, 'S3_PATH_STYLE', KEYS.S3_PATH_STYLE),
    S3_PREFIX: required(environment, 'S3_PREFIX', KEYS.S3_PREFIX),
    S3_SIGNED_URLS: required(environment, 'S3_SIGNED_URLS', KEYS.S3_SIGNED_URLS),
  };
}

/** Returns the listening sockets that a service manager passed to this process, with their file descriptors. */
export function inheritedSockets(environment: Environment = process.env, pid = process.pid) {
  return readSockets(environment, pid);
}

/** Returns the environment for our own child processes: that of this process plus additional variables. */
export function ownEnvironment(more: Readonly<Record<string, string>>): Record<string, string | undefined> {
  return { ...process.env, ...more };
}

/** All that a program we start sees of our environment: it may read files that strangers sent. */
export function programEnvironment(environment: Environment = process.env): { PATH: string; LANG: 'C' } {
  return { PATH: environment.PATH ?? '/usr/local/bin:/usr/bin:/bin', LANG: 'C' };
}
