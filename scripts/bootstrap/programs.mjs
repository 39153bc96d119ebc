import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ROOT, Stop, stamp, stamped } from './stop.mjs';

const STAMP = join(ROOT, '.cache/ffmpeg');
const SANDBOX_STAMP = join(ROOT, '.cache/sandbox');
const JANUS_STAMP = join(ROOT, '.cache/janus');
const CHROMIUM_STAMP = join(ROOT, '.cache/chromium');
/** Chromium without the windows of a desktop: the browser tests take a quarter less of the processor with it. */
const HEADLESS = 'chromium-headless-shell';
const CHROMIUM = [
  HEADLESS,
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Checks ffmpeg (5.1 or newer with libx264, aac, hls) and ffprobe; installs them when it may. */
export function ensureFfmpeg(env) {
  const names = [env.FFMPEG_PATH || 'ffmpeg', env.FFPROBE_PATH || 'ffprobe'];
  const state = () => {
    const paths = names.map((name) => find([name]));
    if (paths.includes(undefined)) return undefined;
    return paths.map((path) => `${path} ${statSync(path).mtimeMs} ${statSync(path).size}`).join('\n');
  };
  const before = state();
  if (before !== undefined && stamped(STAMP, before)) return;
  let lack = lackOf(names);
  if (lack !== null && !env.FFMPEG_PATH) {
    install('ffmpeg', { apt: ['ffmpeg'], dnf: ['ffmpeg'], brew: ['ffmpeg'] }, lack);
    lack = lackOf(names);
  }
  if (lack !== null) throw new Stop(`${lack}; ${advice('ffmpeg')}`);
  stamp(STAMP, state() ?? '');
}

/** Returns the problem with the installed ffmpeg, or null. */
function lackOf([ffmpeg, ffprobe]) {
  const say = (args) => {
    const { status, stdout } = spawnSync(ffmpeg, ['-hide_banner', ...args], { encoding: 'utf8' });
    return status === 0 ? stdout : '';
  };
  const version = /^ffmpeg version (\S+)/m.exec(say(['-version']))?.[1];
  if (version === undefined || find([ffprobe]) === undefined) return 'ffmpeg or ffprobe is not installed';
  const [, major, minor] = /^n?(\d+)\.(\d+)/.exec(version) ?? [];
  // A build from a git snapshot has no number; it is newer than any unsupported release.
  if (major !== undefined && Number(major) + Number(minor) / 100 < 5.01) {
    return `ffmpeg ${version} is too old, 5.1 or newer is needed`;
  }
  const encoders = say(['-encoders']);
  for (const codec of ['libx264', 'aac']) {
    if (!new RegExp(`^ \\S+ ${codec} `, 'm').test(encoders)) return `this ffmpeg has no ${codec} encoder`;
  }
  return /^ +E\S* +hls /m.test(say(['-muxers'])) ? null : 'this ffmpeg has no hls muxer';
}

/**
 * Tries once to install Bubblewrap, the sandbox of ffmpeg on Linux. Without it the platform logs a warning
 * and runs unsandboxed.
 */
export function ensureSandbox() {
  if (process.platform !== 'linux' || find(['bwrap']) !== undefined || stamped(SANDBOX_STAMP, 'tried'))
    return;
  install(
    'bubblewrap',
    { apt: ['bubblewrap'], dnf: ['bubblewrap'] },
    'bubblewrap, the sandbox of ffmpeg, is not installed',
  );
  stamp(SANDBOX_STAMP, 'tried');
  if (find(['bwrap']) !== undefined) return;
  process.stderr.write(`marquee: ffmpeg runs without a sandbox; ${advice('bubblewrap')}\n`);
}

/** Path of a Chromium or Chrome for the browser tests; installs one when it may. */
export function ensureChromium(env) {
  const names = env.CHROMIUM_PATH ? [env.CHROMIUM_PATH] : CHROMIUM;
  const found = find(names);
  if (found !== undefined && (env.CHROMIUM_PATH || find([HEADLESS]) || stamped(CHROMIUM_STAMP, 'tried')))
    return found;
  install(HEADLESS, { apt: [HEADLESS] }, 'no headless Chromium for the tests');
  stamp(CHROMIUM_STAMP, 'tried');
  if (find(names) === undefined) {
    const packages = { apt: ['chromium'], dnf: ['chromium'], brew: ['--cask', 'chromium'] };
    install('chromium', packages, 'no Chromium for the tests');
  }
  const installed = find(names);
  if (installed === undefined) throw new Stop(`no Chromium for the browser tests; ${advice('chromium')}`);
  return installed;
}

/** Installs a Valkey or Redis server for the tests that need one; without it they are skipped by name. */
export function ensureCounterStore() {
  const names = ['valkey-server', 'redis-server'];
  if (find(names) !== undefined) return;
  install(
    'redis',
    { apt: ['redis-server'], dnf: ['redis'], brew: ['redis'] },
    'no Valkey or Redis server for the tests',
  );
  if (find(names) === undefined) {
    process.stderr.write(`marquee: tests with Valkey or Redis are skipped; ${advice('redis')}\n`);
  }
}

const RTMP_MODULE = '/usr/lib/nginx/modules/ngx_rtmp_module.so';

/**
 * Installs nginx with its rtmp module, a destination for restreams; without it the tests that need it are
 * skipped by name.
 */
export function ensureRtmpServer() {
  const missing = () => find(['nginx', '/usr/sbin/nginx']) === undefined || !existsSync(RTMP_MODULE);
  if (!missing() || manager() !== 'apt-get') return;
  install('nginx', { apt: ['nginx', 'libnginx-mod-rtmp'] }, 'no nginx with its rtmp module for the tests');
  if (missing()) {
    process.stderr.write('marquee: tests with nginx as a destination are skipped; ');
    process.stderr.write(`${advice('nginx libnginx-mod-rtmp')}\n`);
  }
}

/**
 * Janus, which carries the media of rooms, or records those that LiveKit carries. Where it is missing the browsers send to
 * each other, so it is tried to be installed once; the platform runs it itself, as a child.
 */
export function ensureJanus(env) {
  const name = env.JANUS_PATH || 'janus';
  const { ROOMS_ENGINE: wanted = 'auto', LIVEKIT_URL: livekit = '' } = env;
  const isLivekit = wanted === 'livekit' || (wanted !== 'janus' && livekit !== '');
  if (process.platform !== 'linux' || wanted === 'mesh' || find([name]) !== undefined) return;
  if (stamped(JANUS_STAMP, 'tried')) return;
  const packages = { apt: ['janus', 'janus-tools'] };
  const use = isLivekit ? 'records rooms' : 'is required for rooms with more than four people';
  install('janus', packages, `Janus is not installed, which ${use}`, 'janus');
  stamp(JANUS_STAMP, 'tried');
  if (find([name]) !== undefined) return;
  const lack = isLivekit ? 'rooms are not recorded' : 'rooms are limited to four people';
  process.stderr.write(`marquee: ${lack}; ${advice('janus')}\n`);
}

/** Installs coturn, a TURN server for the tests that need one; without it they are skipped by name. */
export function ensureTurnServer() {
  if (process.platform !== 'linux' || find(['turnserver']) !== undefined || manager() !== 'apt-get') return;
  install('coturn', { apt: ['coturn'] }, 'no TURN server for the tests', 'coturn');
  if (find(['turnserver']) === undefined) {
    process.stderr.write(`marquee: tests with TURN are skipped; ${advice('coturn')}\n`);
  }
}

/** Installs HAProxy, the load balancer of `npm run cluster`; without it the cluster has none. */
export function ensureLoadBalancer() {
  if (find(['haproxy', '/usr/sbin/haproxy']) !== undefined) return;
  const packages = { apt: ['haproxy'], dnf: ['haproxy'], brew: ['haproxy'] };
  install('haproxy', packages, 'no load balancer for the cluster', 'haproxy');
  if (find(['haproxy', '/usr/sbin/haproxy']) === undefined) {
    process.stderr.write(`marquee: the cluster has no load balancer; ${advice('haproxy')}\n`);
  }
}

/**
 * Installs Patroni with etcd and Debian's PostgreSQL, a replicated database for `npm run cluster`; without it
 * its tests are skipped by name.
 */
export function ensureReplicatedDatabase() {
  const reason = 'no replicated database for the cluster';
  const isMissing = () => ['patroni', 'etcd', 'pg_ctlcluster'].some((name) => find([name]) === undefined);
  if (process.platform !== 'linux' || !isMissing() || manager() !== 'apt-get') return;
  install('postgresql', { apt: ['postgresql'] }, reason, 'postgresql');
  install('etcd', { apt: ['etcd-server'] }, reason, 'etcd');
  install('patroni', { apt: ['patroni', 'python3-etcd'] }, reason, 'patroni');
  if (isMissing()) {
    const packages = 'postgresql etcd-server patroni python3-etcd';
    process.stderr.write(`marquee: tests with a replicated database are skipped; ${advice(packages)}\n`);
  }
}

/**
 * Installs wrk, which sends requests faster than the platform responds; without it benchmarks use JavaScript
 * clients.
 */
export function ensureLoadGenerator() {
  if (find(['wrk']) !== undefined) return;
  install('wrk', { apt: ['wrk'], brew: ['wrk'] }, 'no wrk, the load generator of the benchmarks');
  if (find(['wrk']) === undefined) {
    process.stderr.write(`marquee: the benchmarks use slower clients; ${advice('wrk')}\n`);
  }
}

/** Installs OBS Studio and a virtual screen; without it the tests that need it are skipped by name. */
export function ensureObs() {
  const missing = () => ['obs', 'Xvfb', 'dbus-run-session'].some((name) => find([name]) === undefined);
  if (process.platform !== 'linux' || !missing() || manager() !== 'apt-get') return;
  install(
    'obs',
    { apt: ['obs-studio', 'xvfb', 'dbus-x11', 'libgl1-mesa-dri'] },
    'no OBS Studio for the tests',
  );
  if (missing()) {
    process.stderr.write('marquee: tests with OBS are skipped; ');
    process.stderr.write(`${advice('obs-studio xvfb dbus-x11 libgl1-mesa-dri')}\n`);
  }
}

/** The real path of the first of `names` that is a program. */
function find(names) {
  for (const name of names) {
    const folders = name.includes('/') ? [''] : (process.env.PATH ?? '').split(delimiter);
    for (const folder of folders) {
      try {
        const path = join(folder, name);
        accessSync(path, constants.X_OK);
        if (statSync(path).isFile()) return realpathSync(path);
      } catch {}
    }
  }
  return undefined;
}

function manager() {
  return ['apt-get', 'dnf', 'brew'].find((name) => find([name]) !== undefined);
}

const KEYS = { 'apt-get': 'apt', dnf: 'dnf', brew: 'brew' };

/**
 * Runs its arguments while a policy forbids Debian's packages to start services (invoke-rc.d(8)), unless there is such a
 * policy already, and sees to it that the service `$0` does not start with the machine either.
 */
const WITHOUT_SERVICE = `
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  trap 'rm -f $policy' EXIT
  printf '#!/bin/sh\\nexit 101\\n' > $policy && chmod 755 $policy
fi
"$@"
code=$?
if [ -d /run/systemd/system ]; then systemctl disable "$0"; else update-rc.d "$0" disable; fi >&2
exit $code`;

/** The one line to type when we may not install. */
function advice(name) {
  const tool = manager();
  const sudo = tool === 'brew' || process.getuid?.() === 0 ? '' : 'sudo ';
  return tool === undefined ? `install ${name}` : `run: ${sudo}${tool} install ${name}`;
}

/**
 * Runs the system's package manager, as root or with passwordless sudo, after stating the reason; never if
 * MARQUEE_NO_SYSTEM_INSTALL is set.
 */
function install(name, packages, reason, service) {
  if (process.env.MARQUEE_NO_SYSTEM_INSTALL) return;
  const tool = manager();
  const root = process.getuid?.() === 0;
  const quiet = (command, args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;
  const allowed = tool === 'brew' ? !root : root || quiet('sudo', ['-n', 'true']);
  if (tool === undefined || !allowed || packages[KEYS[tool]] === undefined) return;
  process.stderr.write(
    `marquee: ${reason}; installing ${name} with ${tool} (MARQUEE_NO_SYSTEM_INSTALL=1 forbids it)\n`,
  );
  const prefix = root || tool === 'brew' ? [] : ['sudo', '-n'];
  const run = (...args) => {
    const [program, ...rest] = [...prefix, ...args];
    spawnSync(program, rest, {
      stdio: ['ignore', 2, 2],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  };
  if (tool === 'apt-get') {
    run('apt-get', 'update', '-q');
    const how = ['apt-get', 'install', '-y', '-q', '--no-install-recommends', ...packages.apt];
    const quiet = service === undefined ? [] : ['sh', '-c', WITHOUT_SERVICE, service];
    run('env', 'DEBIAN_FRONTEND=noninteractive', ...quiet, ...how);
  } else if (tool === 'dnf') {
    run('dnf', 'install', '-y', '-q', ...packages.dnf);
  } else {
    run('brew', 'install', '-q', ...packages.brew);
  }
}
