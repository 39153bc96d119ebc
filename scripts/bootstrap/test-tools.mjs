import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { ROOT, stamp, stamped } from './stop.mjs';

const FOLDER = join(ROOT, '.cache/peers');

/**
 * Programs that tests use and that are not npm packages: one pinned version each, verified by Go against its
 * public checksum database, by cargo against its index, by apt against the keys of Debian. The platform never
 * needs them.
 */
export const PEERS = {
  // An S3 server over a folder, Apache-2.0.
  s3: { version: 'v1.8.0', build: go('github.com/versity/versitygw/cmd/versitygw', 'versitygw') },
  // A media server for rooms, Apache-2.0; on two cores it takes five minutes.
  livekit: {
    version: 'v1.13.5',
    build: go('github.com/livekit/livekit-server/cmd/server', 'server'),
    isLong: true,
    timeoutMs: 900_000,
  },
  // Breaking changes between two OpenAPI documents, Apache-2.0.
  oasdiff: { version: 'v1.29.1', build: go('github.com/oasdiff/oasdiff', 'oasdiff') },
  // A client in Python out of an OpenAPI document, and calls of every kind out of one; both MIT.
  'openapi-python-client': { version: '0.26.2', build: pip('openapi-python-client'), isLong: true },
  // Newest ffmpeg, from a Python package, GPL-3; used in addition to the system's ffmpeg. It has no ffprobe.
  'ffmpeg-current': {
    version: '0.8.1',
    build: pipProgram('imageio-ffmpeg', 'imageio_ffmpeg/binaries', 'ffmpeg'),
  },
  // Mock of the Stripe API, MIT: it validates parameters and is stateless.
  'stripe-mock': {
    version: 'v0.203.0',
    build: go('github.com/stripe/stripe-mock', 'stripe-mock'),
    isLong: true,
  },
  // A speech engine with a model of American English and spoken sentences, BSD; of Debian 12.
  pocketsphinx: {
    version: '0.8+5prealpha+1-15',
    build: debian(['pocketsphinx', 'pocketsphinx-en-us', 'pocketsphinx-testdata'], {
      program: 'usr/bin/pocketsphinx_continuous',
    }),
    isLong: true,
  },
  // OBS Studio of Debian 13 and its output by WebRTC, which Debian leaves out, with all that they need; GPL-2 and MPL-2.
  'obs-whip': {
    version: 'trixie, libdatachannel 0.23.0',
    build: obsWithWhip('trixie', '0.23.0'),
    isLong: true,
    timeoutMs: 1_800_000,
  },
  schemathesis: { version: '4.32.5', build: pip('schemathesis'), isLong: true },
};

/**
 * Gets a peer into `.cache/peers/<name>`, a program or a folder, unless this version of it is there.
 *
 * @returns why there is none, or null.
 */
export function buildPeer(name, { timeoutMs }) {
  const { version, build } = PEERS[name];
  const path = join(FOLDER, name);
  if (existsSync(path) && stamped(`${path}.version`, version)) return null;
  mkdirSync(FOLDER, { recursive: true });
  const folder = mkdtempSync(join(FOLDER, 'build-'));
  try {
    process.stderr.write(`marquee: building ${name} ${version}\n`);
    const { lack, made } = build({ version, folder, timeoutMs });
    if (lack !== undefined) return lack;
    rmSync(path, { recursive: true, force: true });
    renameSync(made, path);
    stamp(`${path}.version`, version);
    return null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function go(module, program) {
  return ({ version, folder, timeoutMs }) => {
    const args = ['install', '-trimpath', '-ldflags=-s -w', `${module}@${version}`];
    const env = { ...process.env, GOBIN: folder, GOTOOLCHAIN: 'local' };
    const lack = run('go', args, { cwd: folder, env, timeout: timeoutMs });
    return { lack, made: join(folder, program) };
  };
}
/** A folder for PYTHONPATH. */
function pip(name) {
  return ({ version, folder, timeoutMs }) => {
    const made = join(folder, 'packages');
    const args = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--target', made];
    return {
      lack: run('python3', [...args, `${name}==${version}`], { cwd: folder, timeout: timeoutMs }),
      made,
    };
  };
}

/** A folder with one program, which the package carries under a longer name. */
function pipProgram(name, path, program) {
  return ({ version, folder, timeoutMs }) => {
    const packages = join(folder, 'packages');
    const made = join(folder, 'programs');
    mkdirSync(made);
    const args = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps'];
    const lack = run('python3', [...args, '--target', packages, `${name}==${version}`], {
      cwd: folder,
      timeout: timeoutMs,
    });
    if (lack !== undefined) return { lack, made };
    const [file] = readdirSync(join(packages, path)).filter((entry) => entry.startsWith(`${program}-`));
    if (file === undefined) return { lack: `${name} has no ${program} for this machine`, made };
    renameSync(join(packages, path, file), join(made, program));
    chmodSync(join(made, program), 0o755);
    return { lack, made };
  };
}

/** Extracts the packages of one source into a folder without installing them. Libraries are the system's. */
function debian(packages, { program }) {
  return ({ version, folder, timeoutMs }) => {
    const made = join(folder, 'root');
    mkdirSync(made);
    const options = { cwd: folder, timeout: timeoutMs };
    const wanted = packages.map((name) => `${name}=${version}`);
    let lack = run('apt-get', ['--quiet', '--quiet', 'download', ...wanted], options);
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.deb'))) {
      lack ??= run('dpkg-deb', ['--extract', file, made], options);
    }
    if (lack !== undefined) return { lack, made };
    const { stdout } = spawnSync('ldd', [join(made, program)], { encoding: 'utf8' });
    const missing = /(\S+) => not found/.exec(stdout)?.[1];
    return { lack: missing === undefined ? undefined : `it needs ${missing}`, made };
  };
}

const OBS_PACKAGES = [
  'obs-studio',
  'xvfb',
  'dbus',
  'dash',
  'libgl1-mesa-dri',
  'libssl3t64',
  'fonts-dejavu-core',
];
/** Path inside the tree that bubblewrap mounts as root. */
const OBS_PLUGINS = 'usr/lib/x86_64-linux-gnu/obs-plugins';

/**
 * Builds a folder with OBS and its dependencies, for bubblewrap to run it in. libdatachannel comes in a Rust
 * package that contains its sources; cargo, cmake and a compiler build it and OBS's own plugin for it, whose
 * sources are Debian's.
 */
function obsWithWhip(suite, crate) {
  return ({ folder, timeoutMs }) => {
    const { apt, made, lack: missing } = laterDebian(suite, { folder, timeoutMs });
    const options = { cwd: folder, timeout: timeoutMs };
    const headers = join(folder, 'headers');
    let lack = missing;
    const then = (program, args) => {
      lack ??= run(program, args, options);
    };
    const extract = (from, to) => {
      for (const file of lack === undefined ? readdirSync(from).filter((name) => name.endsWith('.deb')) : [])
        then('dpkg-deb', ['--extract', join(from, file), to]);
    };
    then('apt-get', [...apt, 'update']);
    then('apt-get', [...apt, '--yes', '--download-only', 'install', ...OBS_PACKAGES]);
    extract(join(folder, 'cache/archives'), made);
    then('apt-get', [...apt, 'download', 'libobs-dev', 'libcurl4-gnutls-dev', 'libsimde-dev']);
    extract(folder, headers);
    then('apt-get', [...apt, 'source', '--download-only', '--tar-only', 'obs-studio']);
    const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.orig.tar.xz'));
    then('tar', [
      '--extract',
      '--strip-components=2',
      '--wildcards',
      `--file=${tarball}`,
      '*/plugins/obs-webrtc',
    ]);
    mkdirSync(join(folder, 'src'));
    writeFileSync(join(folder, 'src/lib.rs'), '');
    const wanted = `[package]\nname = "sources"\nversion = "0.0.0"\n[dependencies]\ndatachannel-sys = "=${crate}"\n`;
    writeFileSync(join(folder, 'Cargo.toml'), wanted);
    then('cargo', ['vendor', '--quiet', 'vendored']);
    const [sources, build] = ['vendored/datachannel-sys/libdatachannel', 'build'];
    const off = ['BUILD_SHARED_LIBS=OFF', 'NO_WEBSOCKET=ON', 'NO_EXAMPLES=ON', 'NO_TESTS=ON'];
    const how = [...off, 'CMAKE_POSITION_INDEPENDENT_CODE=ON', 'CMAKE_CXX_FLAGS=-O1', 'CMAKE_C_FLAGS=-O1'];
    then('cmake', ['-S', sources, '-B', build, ...how.map((one) => `-D${one}`)]);
    then('cmake', ['--build', build, '--parallel', '2']);
    const code = ['obs-webrtc', 'whip-output', 'whip-service'].map((name) => `obs-webrtc/${name}.cpp`);
    const include = ['', '/obs', '/x86_64-linux-gnu'].map((path) => `${headers}/usr/include${path}`);
    const libraries = ['', '/deps/libjuice', '/deps/libsrtp', '/deps/usrsctp/usrsctplib'];
    const names = ['datachannel', 'juice', 'srtp2', 'usrsctp'];
    const archives = libraries.map((path, at) => `${build}${path}/lib${names[at]}.a`);
    const flags = [
      '-std=c++17',
      '-O1',
      '-shared',
      '-fPIC',
      ...[...include, `${sources}/include`].map((path) => `-I${path}`),
    ];
    const plugin = join(made, OBS_PLUGINS, 'obs-webrtc.so');
    then('g++', [...flags, ...code, ...archives, '-lssl', '-lcrypto', '-o', plugin]);
    then('cp', ['-r', 'obs-webrtc/data', join(made, 'usr/share/obs/obs-plugins/obs-webrtc')]);
    return { lack, made };
  };
}

/** An empty tree for packages of a later Debian, and the arguments with which apt gets them from the mirror that it uses here. */
function laterDebian(suite, { folder }) {
  const made = join(folder, 'root');
  const mirror = mirrorOfDebian();
  if (mirror === undefined) return { lack: 'apt knows no mirror of Debian', made, apt: [] };
  for (const name of ['root/etc', 'root/usr', 'state/lists/partial', 'cache/archives/partial'])
    mkdirSync(join(folder, name), { recursive: true });
  for (const name of ['bin', 'lib', 'lib64', 'sbin']) symlinkSync(`usr/${name}`, join(made, name));
  // The scripts of the packages, which are not run, would have written these.
  for (const [name, text] of Object.entries(ACCOUNTS)) writeFileSync(join(made, 'etc', name), text);
  writeFileSync(join(folder, 'status'), '');
  const from = `[signed-by=${KEYRING}] ${mirror} ${suite} main\n`;
  writeFileSync(join(folder, 'sources.list'), `deb ${from}deb-src ${from}`);
  const settings = {
    'Dir::State': join(folder, 'state'),
    'Dir::State::status': join(folder, 'status'),
    'Dir::Cache': join(folder, 'cache'),
    'Dir::Etc::SourceList': join(folder, 'sources.list'),
    'Dir::Etc::SourceParts': '/dev/null',
    'Dir::Etc::Preferences': '/dev/null',
    'Dir::Etc::PreferencesParts': '/dev/null',
    'APT::Sandbox::User': 'root',
    'APT::Install-Recommends': 'false',
  };
  const all = Object.entries(settings).flatMap(([name, to]) => ['-o', `${name}=${to}`]);
  return { lack: undefined, made, apt: ['--quiet', '--quiet', ...all] };
}

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const ACCOUNTS = {
  passwd: 'root:x:0:0:root:/root:/bin/sh\n',
  group: 'root:x:0:\n',
  hosts: '127.0.0.1 localhost\n',
};

/** Returns the mirror from which apt gets Debian itself, not its updates; undefined on other systems. */
function mirrorOfDebian() {
  const asked = [
    'indextargets',
    '--format',
    '$(REPO_URI) $(CODENAME)',
    'Origin: Debian',
    'Created-By: Packages',
  ];
  const { stdout } = spawnSync('apt-get', asked, { encoding: 'utf8' });
  return /^(\S+) [a-z]+$/m.exec(stdout ?? '')?.[1];
}

function run(program, args, options) {
  const { status, error } = spawnSync(program, args, { stdio: ['ignore', 'ignore', 2], ...options });
  if (status === 0) return undefined;
  return error === undefined ? `${program} ${args[0]} failed` : error.message;
}

/** Maximum wait of `npm test` for one peer: Go takes seconds with a build cache, minutes without. */
const SHORT_MS = 40_000;

/** Installs the optional test programs, once for each version; tests without them are skipped. */
export function tryPeers(long) {
  for (const [name, { version, isLong, timeoutMs = 300_000 }] of Object.entries(PEERS)) {
    if (isLong === true && !long) continue;
    const tried = join(FOLDER, `${name}.tried`);
    if (!long && stamped(tried, version)) continue;
    stamp(tried, version);
    const lack = buildPeer(name, { timeoutMs: long ? timeoutMs : SHORT_MS });
    if (lack === null) continue;
    process.stderr.write(
      `marquee: tests with ${name} are skipped (${lack}); type: node scripts/test-tools.mjs ${name}\n`,
    );
  }
}
