import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { createTestCa, type TestCa } from '../../../test/harness/certificates.ts';
import { TestClock } from '../../../test/harness/clock.ts';
import { BARE_ENVIRONMENT } from '../../../test/harness/command-line.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { freePort } from '../../../test/harness/platform.ts';
import { fakeNvenc } from '../../../test/transcode/fake-hardware.ts';
import { systemClock } from '../../kernel/clock.ts';
import { loadConfig } from '../../platform/config.ts';
import { acquireInstanceLock } from '../../platform/instance-lock.ts';
import { runCommandLine } from '../command-line.ts';
import { runChecks } from './run-checks.ts';

let folder: string;
let database: TestDatabase;
let ca: TestCa;
let base: Record<string, string>;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'marquee-doctor-'));
  [database, ca] = await Promise.all([createTestDatabase({ pool: 1 }), createTestCa()]);
  const [port, rtmpPort] = [await freePort(), await freePort()];
  base = {
    DATA_DIR: folder,
    DATABASE_URL: database.url,
    PUBLIC_URL: `http://localhost:${port}`,
    PORT: String(port),
    RTMP_PORT: String(rtmpPort),
    DISK_RESERVE: '1MB',
  };
});
after(async () => {
  await database.close();
  await ca.close();
  await rm(folder, { recursive: true, force: true });
});

interface Diagnosis {
  code: number;
  /** `STATUS text -> remedy` of each, by the name of its check. */
  found: Map<string, string>;
  printed: string;
}

async function doctor(environment: Record<string, string> = {}): Promise<Diagnosis> {
  let printed = '';
  const stdout = {
    write: (text: string) => {
      printed += text;
    },
  };
  const given = { ...BARE_ENVIRONMENT, ...base, ...environment };
  const code = await runCommandLine(['doctor', '--json'], { stdout, stderr: stdout }, given);
  const { findings } = Object(JSON.parse(printed));
  assert.ok(Array.isArray(findings), printed);
  const found = new Map<string, string>();
  for (const { check, status, text, remedy } of findings.map(Object)) {
    assert.equal(remedy === null, status === 'OK', `${check}: a remedy for each that is not OK`);
    const known = found.get(check);
    found.set(check, `${known === undefined ? '' : `${known}\n`}${status} ${text}`);
  }
  return { code, found, printed };
}

function assertFound({ found }: Diagnosis, expected: Record<string, RegExp>): void {
  for (const [check, text] of Object.entries(expected)) {
    const seen = found.get(check) ?? '';
    assert.match(seen, text, `${check}: ${seen || [...found.values()].join('; ')}`);
  }
}

test('where all is in order nothing is a problem, and nothing is changed', async () => {
  const diagnosis = await doctor();
  const { found, printed, code } = diagnosis;
  assert.deepEqual([[...found.values()].filter((text) => text.includes('PROBLEM')), code], [[], 0], printed);
  assertFound(diagnosis, {
    configuration: /^OK/,
    'data-folder': /^OK/,
    disk: /^OK .* GiB are free/,
    'secret-key': /^OK not created yet/,
    ffmpeg: /^OK ffmpeg \d/,
    sandbox: /^(OK|WARNING ffmpeg has no sandbox: )/,
    ports: /^OK the ports are free/,
    database: /^OK PostgreSQL \d+ responds/,
    'database-clock': /^OK/,
    migrations: /^OK the database is up to date/,
    dns: /^OK localhost resolves to/,
  });
});

test('configured services that do not work are reported with a remedy, and no password is printed', async () => {
  const mailServer = new SMTPServer({
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onAuth: (_login, _session, done) => done(new Error('wrong password')),
  });
  const mailPort = await freePort();
  mailServer.listen(mailPort, '127.0.0.1');
  const nobody = '127.0.0.1:1';
  const diagnosis = await doctor({
    PUBLIC_URL: 'https://nowhere.invalid',
    DATABASE_URL: `postgres://me:hunter2@${nobody}/x`,
    SMTP_URL: `smtp://me:hunter2@127.0.0.1:${mailPort}`,
    S3_BUCKET: 'videos',
    S3_ENDPOINT: `http://${nobody}`,
    S3_ACCESS_KEY_ID: 'AKX',
    S3_SECRET_ACCESS_KEY: 'hunter2',
    REDIS_URL: `redis://:hunter2@${nobody}`,
    ROOMS_ENGINE: 'livekit',
    LIVEKIT_URL: `wss://${nobody}`,
    LIVEKIT_API_KEY: 'key',
    LIVEKIT_API_SECRET: 'hunter2'.repeat(6),
    FFMPEG_PATH: join(folder, 'no-ffmpeg'),
    SECRET_KEY_FILE: join(folder, 'no-key'),
    DISK_RESERVE: '900000GB',
    WEBHOOK_ALLOW_PRIVATE: '10.0.0.0/8',
  }).finally(() => mailServer.close());
  assert.equal(diagnosis.code, 1);
  assertFound(diagnosis, {
    dns: /^PROBLEM nowhere\.invalid of PUBLIC_URL cannot be resolved/,
    'trust-proxy': /^WARNING rate limits count all clients as one/,
    'private-addresses': /^WARNING/,
    database: /^PROBLEM the database cannot be reached/,
    mail: /^PROBLEM the mail server rejected the connection: .*wrong password/,
    s3: /^PROBLEM the bucket videos: /,
    redis: /^WARNING the Redis server at REDIS_URL does not respond/,
    livekit: /^PROBLEM LiveKit cannot be reached/,
    ffmpeg: /^PROBLEM /,
    'secret-key': /^PROBLEM .*no-key/,
    disk: /^PROBLEM .* new files are rejected/,
  });
  assert.doesNotMatch(diagnosis.printed, /hunter2/);
});

test('a value that is not valid, a folder that is none, a port that is taken, rooms that cannot be', async () => {
  assertFound(await doctor({ PORT: 'many' }), { configuration: /^PROBLEM PORT must be/ });
  const [file, key] = [join(folder, 'a-file'), join(folder, 'open.key')];
  await writeFile(file, '');
  await writeFile(key, `${'0'.repeat(64)}\n`);
  await chmod(key, 0o644);
  const taken = createServer().listen(Number(base.RTMP_PORT), '0.0.0.0');
  await once(taken, 'listening');
  const diagnosis = await doctor({
    DATA_DIR: join(file, 'data'),
    SECRET_KEY_FILE: key,
    ROOMS_ENGINE: 'janus',
    JANUS_PATH: join(folder, 'no-janus'),
    PUBLIC_URL: 'http://192.0.2.1',
  }).finally(() => taken.close());
  assertFound(diagnosis, {
    'data-folder': /^PROBLEM .* is not writable/,
    'secret-key': /^WARNING others can read/,
    ports: /^PROBLEM port \d+ is already in use/,
    rooms: /^PROBLEM ROOMS_ENGINE is janus/,
    'public-url': /^WARNING .* has no TLS/,
    mail: /^WARNING SMTP_URL is not set/,
  });
});

test('what encodes is named, and what of the configuration nothing here does', async () => {
  const program = join(folder, 'ffmpeg-without-av1');
  const script =
    '#!/bin/sh\ncase "$*" in *-encoders) ffmpeg "$@" | grep -v libsvtav1 ;; *) exec ffmpeg "$@" ;; esac\n';
  await writeFile(program, script, { mode: 0o755 });
  // A card is there at most by accident: a device of this number is not.
  const hardware = { VIDEO_ENCODER: 'vaapi', VAAPI_DEVICE: '/dev/dri/renderD199' };
  const diagnosis = await doctor({ FFMPEG_PATH: program, VIDEO_CODECS: 'h264,av1', ...hardware });
  assertFound(diagnosis, {
    encoders: new RegExp(
      [
        '^OK videos are encoded as H264 by libx264',
        'WARNING VIDEO_CODECS includes AV1, but this ffmpeg has no encoder for it',
        'WARNING software encoding is used instead of vaapi: \\S.*$',
      ].join('\n'),
    ),
  });
  assert.equal(diagnosis.code, 0);
  const fake = await fakeNvenc(folder, 'ffmpeg-with-nvenc');
  assertFound(await doctor({ FFMPEG_PATH: fake, VIDEO_ENCODER: 'auto', VIDEO_CODECS: 'h264,hevc' }), {
    encoders: /^OK videos are encoded as H264 by h264_nvenc, HEVC by hevc_nvenc$/,
  });
});

test('a database of another version, and one whose restore was interrupted', async () => {
  const { sql } = database;
  // Skips the checks of the machine.
  const quick = { ROLES: 'api', ROOMS_ENGINE: 'mesh' };
  await sql`insert into migration (name) values ('9999_later.sql')`;
  const newer = await doctor(quick);
  await sql`update migration set phase = 'expand' where name = '9999_later.sql'`;
  const expanded = await doctor(quick);
  await sql`delete from migration where name in ('9999_later.sql', '0006_audience.sql')`;
  const older = await doctor(quick);
  await sql`insert into migration (name) values ('0006_audience.sql')`;
  await sql`create schema marquee_restore`;
  const half = await doctor(quick);
  await sql`drop schema marquee_restore`;
  assertFound(newer, {
    migrations: /^PROBLEM the database is too new for this version: it has 9999_later\.sql/,
  });
  assertFound(expanded, {
    migrations: /^WARNING the database is newer .* can run on it: it has 9999_later\.sql/,
  });
  assertFound(older, { migrations: /^WARNING 1 migrations are not applied yet/ });
  assertFound(half, { migrations: /^PROBLEM a restore into this database was interrupted/ });
  assert.deepEqual([newer.code, expanded.code, older.code, half.code], [1, 0, 0, 1]);
});

test('clocks that differ and certificates that end, also of the address of a platform that runs', async () => {
  const { cert, key } = await ca.issue(['localhost']);
  const files = { TLS_CERT_FILE: join(folder, 'cert.pem'), TLS_KEY_FILE: join(folder, 'key.pem') };
  await Promise.all([writeFile(files.TLS_CERT_FILE, cert), writeFile(files.TLS_KEY_FILE, key)]);
  const hour = 3_600_000;
  const site = createHttpServer((_request, response) => {
    response.setHeader('date', new Date(systemClock.ms() - hour).toUTCString());
    response.writeHead(502).end();
  });
  site.listen(Number(base.PORT), '127.0.0.1');
  await once(site, 'listening');
  const lock = acquireInstanceLock(folder);
  const rtmps = { RTMPS_PORT: String(await freePort()) };
  const running = await doctor({ ...files, ...rtmps }).finally(() => {
    lock.release();
    site.close();
  });
  assertFound(running, {
    'site-clock': /^PROBLEM the clocks of this machine and of http:\/\/localhost:\d+ differ by 36\d\d s/,
    site: /^PROBLEM .*\/healthz returned 502/,
    ports: /PROBLEM the platform is running, but port \d+ does not respond/,
    'rtmps-certificate': /^OK .* is valid until \d{4}-/,
  });
  const clock = new TestClock(new Date(systemClock.ms() + 20_000 * hour).toISOString());
  const later = await runChecks(loadConfig({ ...base, ...files, ...rtmps }), clock, []);
  const statusOf = (wanted: string) => later.find(({ check }) => check === wanted)?.status;
  assert.deepEqual([statusOf('rtmps-certificate'), statusOf('database-clock')], ['PROBLEM', 'PROBLEM']);
});
