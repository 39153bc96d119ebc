import { X509Certificate } from 'node:crypto';
import { readFile, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newUuid } from '../../kernel/ids.ts';
import type { FfmpegInfo } from '../../media/ffmpeg/check.ts';
import type { HardwareProbeResult } from '../../media/ffmpeg/hardware-probe.ts';
import { selectRoomEngine } from '../../media/rooms/engine-selection.ts';
import type { Config } from '../../platform/config.ts';
import { reservedBytes } from '../../platform/disk.ts';
import { createLogger } from '../../platform/logger.ts';
import { isReachable } from '../../platform/outbound/index.ts';
import { findSecretKey } from '../../platform/secrets.ts';
import { readCertificate } from '../certificate.ts';
import { type HeldPort, holdPorts } from '../held-ports.ts';
import {
  codecEncoders,
  createGuardCheck,
  createHardwareCheck,
  createToolCheck,
  missingCodecs,
} from '../media-tools.ts';
import {
  type Check,
  type CheckContext,
  type CheckResult,
  checkCertificateExpiry,
  ok,
  problem,
  reasonOf,
  warning,
} from './check-result.ts';

const REACH_MS = 3000;
const GIB = 2 ** 30;
const OTHERS = 0o077;

const folder: Check = async ({ config }) => {
  const { DATA_DIR: dir, DISK_RESERVE: reserve } = config;
  const probe = join(dir, `.probe-${newUuid()}`);
  try {
    await writeFile(probe, 'probe', { flag: 'wx' });
    await rm(probe);
  } catch (error) {
    const remedy = 'set DATA_DIR to a folder that the user running Marquee can write to';
    return [problem('data-folder', `${dir} is not writable: ${reasonOf(error)}`, remedy)];
  }
  const { bavail, blocks, bsize } = await statfs(dir);
  const [free, kept] = [bavail * bsize, reservedBytes(blocks * bsize, reserve)];
  const text = `${(free / GIB).toFixed(1)} GiB are free on the disk of ${dir}`;
  const remedy = 'free up space or use a larger disk (docs/guides/operations.md#a-full-disk)';
  const found = [ok('data-folder', `${dir} can be written to`)];
  if (free <= kept) return [...found, problem('disk', `${text}: new files are rejected`, remedy)];
  if (free < 3 * kept) return [...found, warning('disk', text, remedy)];
  return [...found, ok('disk', text)];
};

const secret: Check = async ({ config }) => {
  const { SECRET_KEY, SECRET_KEY_FILE, DATA_DIR } = config;
  try {
    const key = await findSecretKey(config);
    if (key === null) return [ok('secret-key', 'not created yet: the first start creates it')];
  } catch (error) {
    const remedy = 'restore the key from your copy; encrypted data cannot be read without it';
    return [problem('secret-key', reasonOf(error), remedy)];
  }
  if (SECRET_KEY !== undefined) return [ok('secret-key', 'SECRET_KEY is set')];
  const file = SECRET_KEY_FILE ?? join(DATA_DIR, 'secret.key');
  const { mode } = await stat(file);
  if ((mode & OTHERS) === 0) return [ok('secret-key', `${file} exists and is readable only by its user`)];
  return [warning('secret-key', `others can read ${file}`, `chmod 600 ${file}`)];
};

const tools: Check = async ({ config, clock }) => {
  if (!config.ROLES.some((role) => role !== 'api')) return [];
  const found: CheckResult[] = [];
  let info: FfmpegInfo;
  try {
    info = await createToolCheck(config.FFMPEG_PATH, clock)();
    found.push(ok('ffmpeg', `ffmpeg ${info.version}`));
  } catch (error) {
    return [problem('ffmpeg', reasonOf(error), 'install ffmpeg 5.1 or later, or set FFMPEG_PATH')];
  }
  const remedy = 'install bubblewrap and allow it to create namespaces (docs/guides/operations.md#sandbox)';
  const guard = createGuardCheck(config);
  try {
    const { weakness } = await guard();
    if (weakness === null) found.push(ok('sandbox', 'ffmpeg runs in a sandbox'));
    else found.push(warning('sandbox', `ffmpeg has no sandbox: ${weakness}`, remedy));
  } catch (error) {
    return [...found, problem('sandbox', reasonOf(error), remedy)];
  }
  const log = createLogger('silent');
  const encoding = await createHardwareCheck(config, { clock, log, guard }).find();
  return [...found, ...encoderFindings(config, info, encoding)];
};

function encoderFindings(config: Config, info: FfmpegInfo, found: HardwareProbeResult): CheckResult[] {
  const names = codecEncoders(config, info, found).map(({ codec, encoder }) => `${codec} by ${encoder}`);
  const lacking = missingCodecs(config, info, found);
  const build =
    'install an ffmpeg with libx265 and libsvtav1, or remove them from VIDEO_CODECS (docs/guides/processing.md#hevc-and-av1)';
  const driver = 'see docs/guides/processing.md#hardware';
  return [
    ok('encoders', `videos are encoded as ${names.join(', ')}`),
    ...lacking.map((codec) =>
      warning('encoders', `VIDEO_CODECS includes ${codec}, but this ffmpeg has no encoder for it`, build),
    ),
    ...found.refusals.map(({ what, reason }) =>
      warning('encoders', `software encoding is used instead of ${what}: ${reason}`, driver),
    ),
  ];
}

const rooms: Check = async ({ config }) => {
  const remedy = 'see docs/guides/room-engines.md, or set ROOMS_ENGINE';
  try {
    const { name, lack } = await selectRoomEngine(config);
    if (lack === null) return [ok('rooms', `the room engine is ${name}`)];
    return [warning('rooms', `rooms are limited to four people: ${lack}`, remedy)];
  } catch (error) {
    return [problem('rooms', reasonOf(error), remedy)];
  }
};

const ports: Check = async ({ config, isRunning }) => {
  const { ROLES, PORT, RTMP_PORT } = config;
  if (!isRunning) {
    try {
      await assertFreePorts(config);
      return [ok('ports', 'the ports are free')];
    } catch (error) {
      const remedy =
        'stop the program that uses the port, or choose another with PORT, RTMP_PORT, RTMPS_PORT, MEDIA_PORT or METRICS_PORT';
      return [problem('ports', reasonOf(error), remedy)];
    }
  }
  const wanted = [...(ROLES.includes('api') ? [PORT] : []), ...(ROLES.includes('media') ? [RTMP_PORT] : [])];
  return Promise.all(wanted.map((port) => answering(config.HOST, port)));
};

async function assertFreePorts(config: Config): Promise<void> {
  const hasCertificate = config.ROLES.includes('media') && (await readCertificate(config)) !== null;
  const held: HeldPort[] = [];
  try {
    await holdPorts(config, { hasCertificate, inherited: new Map(), onHeld: (port) => held.push(port) });
  } finally {
    for (const port of held) port.close();
  }
}

async function answering(host: string, port: number): Promise<CheckResult> {
  const here = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return isReachable({ host: here, port, timeoutMs: REACH_MS }).then(
    () => ok('ports', `port ${port} responds`),
    () => problem('ports', `the platform is running, but port ${port} does not respond`, 'check its log'),
  );
}

const certificate: Check = async ({ config, clock }) => {
  const { TLS_CERT_FILE: file } = config;
  if (file === undefined) return [];
  try {
    await readCertificate(config);
    const ends = Date.parse(new X509Certificate(await readFile(file)).validTo);
    return [checkCertificateExpiry('rtmps-certificate', `the certificate in ${file}`, ends, clock)];
  } catch (error) {
    return [problem('rtmps-certificate', reasonOf(error), 'see docs/guides/operations.md#rtmps')];
  }
};

/** Checks for settings that are consistent but unsuitable for a public platform. */
const settings: Check = async ({ config }) => {
  const { hostname, protocol } = new URL(config.PUBLIC_URL);
  const isPublic = hostname !== 'localhost' && hostname !== '127.0.0.1';
  const found: CheckResult[] = [];
  if (isPublic && protocol === 'http:') {
    const remedy =
      'use a TLS proxy (docs/guides/operations.md#run-the-platform) and set PUBLIC_URL to its https URL';
    found.push(
      warning('public-url', `${config.PUBLIC_URL} has no TLS: passwords can be intercepted`, remedy),
    );
  }
  if (protocol === 'https:' && config.TRUST_PROXY === false) {
    const remedy = 'set TRUST_PROXY to the number of proxies in front';
    found.push(warning('trust-proxy', 'rate limits count all clients as one: the proxy', remedy));
  }
  if (isPublic && config.SMTP_URL === undefined) {
    const text = 'SMTP_URL is not set: no emails are sent, including email verification';
    found.push(warning('mail', text, 'set SMTP_URL and MAIL_FROM'));
  }
  if (isPublic && config.WEBHOOK_ALLOW_PRIVATE.length + config.FETCH_ALLOW_PRIVATE.length > 0) {
    const text = 'webhooks or imports of users may reach private addresses';
    found.push(warning('private-addresses', text, 'unset WEBHOOK_ALLOW_PRIVATE and FETCH_ALLOW_PRIVATE'));
  }
  if (process.getuid?.() === 0) {
    found.push(
      warning(
        'user',
        'the command runs as root',
        'run the platform as a dedicated user (docs/guides/operations.md#run-the-platform)',
      ),
    );
  }
  return [ok('configuration', 'every variable is valid'), ...found];
};

export const machineChecks: readonly ((examined: CheckContext) => Promise<CheckResult[]>)[] = [
  settings,
  folder,
  secret,
  tools,
  rooms,
  ports,
  certificate,
];
