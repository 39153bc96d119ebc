import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import {
  ANALYTICS_KEYS,
  type AnalyticsConfig,
  type AnalyticsKeys,
  readAnalytics,
} from './config-analytics.ts';
import {
  apiKey,
  ConfigError,
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
} from './config-kinds.ts';
import { MEDIA_KEYS, type MediaConfig, type MediaKeys, readMedia } from './config-media.ts';
import { MONEY_KEYS, type MoneyConfig, type MoneyKeys, readMoney } from './config-money.ts';
import { PEOPLE_KEYS, type PeopleConfig, type PeopleKeys, readPeople } from './config-people.ts';
import { ROOM_KEYS, type RoomConfig, type RoomKeys, readRooms } from './config-rooms.ts';
import { readVideo, VIDEO_KEYS } from './config-video.ts';
import { readWebhooks, WEBHOOK_KEYS } from './config-webhooks.ts';
import type { DiskReserve } from './disk.ts';

export type { RegistrationMode, TrustProxy } from './config-kinds.ts';
export { ConfigError } from './config-kinds.ts';
export type { RoomConfig } from './config-rooms.ts';

/** Every variable the program reads, in the order of the README's table. */
export const KEYS = {
  PORT: port('HTTP port of the API, the pages and playback.', 8080),
  HOST: text('Address that the HTTP and RTMP listeners bind.', '127.0.0.1'),
  PUBLIC_URL: url('Address under which the world reaches the HTTP port. Default `http://localhost:PORT`.', [
    'http:',
    'https:',
  ]),
  PLATFORM_HOSTS: hosts('Further host names of the platform itself, comma-separated.'),
  DATA_DIR: text('Folder of everything that is kept on this machine.', './data'),
  DISK_RESERVE: diskReserve(
    'Space of the disk of `DATA_DIR` that is kept free for the database: bytes such as `500MB` or `2GB`, or a share such as `5%`. New files are refused (507) when it would be touched. Default: 5 % or 2 GB, whichever is less.',
  ),
  S3_BUCKET: text(
    'Bucket of an S3-compatible service for uploads, videos and recordings. Unset: they are kept in `DATA_DIR/media`. See `docs/guides/uploads.md`.',
  ),
  S3_ENDPOINT: url('Address of the service, unless it is Amazon S3.', ['http:', 'https:']),
  S3_REGION: text('Region of the bucket.', 'us-east-1'),
  S3_ACCESS_KEY_ID: text('Key for the bucket. Unset: the role of the machine.'),
  S3_SECRET_ACCESS_KEY: text('Its secret.'),
  S3_PATH_STYLE: flag(
    'Put the bucket into the path of addresses (`https://host/bucket/key`); MinIO and most others than Amazon want it.',
    false,
  ),
  S3_PREFIX: {
    ...text('Put before every key in the bucket, such as `marquee/`.', ''),
    parse: (value) => {
      const name = value.replace(/^\/+|\/+$/g, '');
      if (!/^[\w./-]{0,100}$/.test(name))
        throw new Error('must be a path of letters, digits, ".", "_" and "-"');
      return name === '' ? '' : `${name}/`;
    },
  },
  S3_SIGNED_URLS: flag(
    'Send players to the service itself, by signed addresses; it must be reachable for them and allow their origins (CORS). `false`: the files come through this program.',
    true,
  ),
  DATABASE_URL: url('PostgreSQL 15 or newer. Unset: PostgreSQL 18 from npm runs in `DATA_DIR`.', [
    'postgres:',
    'postgresql:',
  ]),
  DATABASE_POOL: integer('Connections to the database of each process.', 10, 2, 200),
  DATABASE_DEADLINE_MS: integer(
    'How long a request waits for an answer of the database before it is 503.',
    5000,
    100,
    60_000,
  ),
  REDIS_URL: url(
    'Valkey or Redis that the nodes of a cluster share for their counters (`rediss://` for TLS). Unset: each process counts for itself.',
    ['redis:', 'rediss:'],
  ),
  ROLES: roles,
  SECRET_KEY: secretKey,
  SECRET_KEY_FILE: text(
    'A file with that key, for one that is kept apart from `DATA_DIR`; it has to be there.',
  ),
  TRUST_PROXY: trustProxy,
  LIVEMODE: flag('`livemode` of every event: whether this is the production platform.', false),
  LOG_LEVEL: logLevel,
  REQUEST_LOG: flag('Keep what was requested with each key for 7 days (`GET /me/requests`).', true),
  ...ANALYTICS_KEYS,
  SMTP_URL: url(
    'Mail server, with user and password where it wants them. Unset: mails stay in the development mailbox (`marquee mail list`).',
    ['smtp:', 'smtps:'],
  ),
  MAIL_FROM: {
    ...text('Sender of mails. Default `Marquee <no-reply@HOST>` with the host of `PUBLIC_URL`.'),
    parse: (value) => {
      if (!/^[^\r\n]*[^\s<@]@[^\s>@]+>?$/.test(value))
        throw new Error('must be an address, or Name <address>');
      return value;
    },
  },
  REGISTRATION: registration,
  DEFAULT_PLAN: plan(
    'Plan of accounts that are registered, in the dashboard or with `POST /auth/register`.',
    'FREE',
  ),
  ...PEOPLE_KEYS,
  METRICS_PORT: {
    ...port('Prometheus metrics on 127.0.0.1. Default 9464, or a free port when that is taken.', 9464),
    fallback: null,
  },
  RTMP_PORT: port('RTMP port that encoders publish to.', 1935),
  RTMP_URL: url(
    'Address of the RTMP port as encoders see it. Default: the host of `PUBLIC_URL`, `RTMP_PORT`, `/live`.',
    ['rtmp:', 'rtmps:'],
  ),
  ...MEDIA_KEYS,
  INGEST_IDLE_MS: integer('A publisher that sends no media for so long is cut off.', 10_000, 1000, 600_000),
  INGEST_MAX_PER_ADDRESS: integer('RTMP connections accepted from one address.', 20, 1, 100_000),
  SIGNAL_GRACE_MS: integer(
    'How long a broken encoder connection may take to come back before `hasSignal` falls.',
    3000,
    0,
    600_000,
  ),
  LIVE_MAX_RUNGS: integer(
    'Most scaled-down renditions of one live stream; 0 serves only the source.',
    2,
    0,
    5,
  ),
  FFMPEG_PATH: text('The ffmpeg program, 5.1 or newer.', 'ffmpeg'),
  FFPROBE_PATH: text('The ffprobe program.', 'ffprobe'),
  REQUIRE_SANDBOX: flag(
    'Refuse to start where ffmpeg cannot be shut into a sandbox. See `docs/guides/operating.md`.',
    false,
  ),
  ...VIDEO_KEYS,
  TRANSCODE_CONCURRENCY: {
    ...integer(
      'Videos that a worker encodes at once; 0 leaves all processing to other workers. Default: half of the cores.',
      1,
      0,
      256,
    ),
    fallback: null,
  },
  VIDEO_CHUNK_MIN_SEC: integer(
    'Longer videos are cut into chunks that several workers, or several encodes of one, work on at once.',
    600,
    1,
    43_200,
  ),
  ACCEL_REDIRECT_PREFIX: {
    ...text(
      'Internal location, such as `/_media/`, of the nginx in front that serves `DATA_DIR/media`: it sends the files of videos. Unset: this program does. See `docs/guides/playback.md`.',
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
  FETCH_ALLOW_PRIVATE: destinations('The same for everything else that is dialled for a user.'),
  DNS_SERVERS: nameServers(
    'Name servers (`ip:port`) for addresses given by users. Default: those of the system.',
  ),
  MARQUEE_URL: {
    ...url('The platform that `marquee webhook` talks to. Default `http://localhost:8080`.', [
      'http:',
      'https:',
    ]),
    fallback: 'http://localhost:8080',
  },
  MARQUEE_API_KEY: text('The API key that `marquee webhook` uses.'),
  BOOTSTRAP_EMAIL: email('E-mail of the owner account made on an empty database.', 'owner@marquee.localhost'),
  BOOTSTRAP_PASSWORD: password('Password of that account. Generated and shown once when unset.', 12),
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
    PUBLIC_URL: publicUrl,
    PLATFORM_HOSTS: get('PLATFORM_HOSTS', KEYS.PLATFORM_HOSTS),
    DATA_DIR: dataDir,
    DISK_RESERVE: read(environment, 'DISK_RESERVE', KEYS.DISK_RESERVE),
    ...readS3(environment),
    DATABASE_URL: read(environment, 'DATABASE_URL', KEYS.DATABASE_URL),
    DATABASE_POOL: get('DATABASE_POOL', KEYS.DATABASE_POOL),
    DATABASE_DEADLINE_MS: get('DATABASE_DEADLINE_MS', KEYS.DATABASE_DEADLINE_MS),
    REDIS_URL: read(environment, 'REDIS_URL', KEYS.REDIS_URL),
    ROLES: get('ROLES', KEYS.ROLES),
    ...readSecretKey(environment),
    TRUST_PROXY: get('TRUST_PROXY', KEYS.TRUST_PROXY),
    LIVEMODE: get('LIVEMODE', KEYS.LIVEMODE),
    LOG_LEVEL: get('LOG_LEVEL', KEYS.LOG_LEVEL),
    REQUEST_LOG: get('REQUEST_LOG', KEYS.REQUEST_LOG),
    ...readAnalytics(find, get('TRUST_PROXY', KEYS.TRUST_PROXY)),
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

function readSecretKey(environment: Environment) {
  const key = read(environment, 'SECRET_KEY', KEYS.SECRET_KEY);
  const file = read(environment, 'SECRET_KEY_FILE', KEYS.SECRET_KEY_FILE);
  if (key !== undefined && file !== undefined) {
    throw new ConfigError('SECRET_KEY_FILE cannot stand beside SECRET_KEY');
  }
  return { SECRET_KEY: key, SECRET_KEY_FILE: file && resolve(file) };
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

/** For processes of our own: what this one was given, and more. */
export function ownEnvironment(more: Readonly<Record<string, string>>): Record<string, string | undefined> {
  return { ...process.env, ...more };
}

/** All that a program we start sees of our environment: it may read files that strangers sent. */
export function programEnvironment(environment: Environment = process.env): { PATH: string; LANG: 'C' } {
  return { PATH: environment.PATH ?? '/usr/local/bin:/usr/bin:/bin', LANG: 'C' };
}
