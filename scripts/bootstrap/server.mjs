import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { trimFolder } from './compiled.mjs';
import { nodePath } from './packages.mjs';
import { hashOf } from './sources.mjs';
import { ROOT } from './stop.mjs';

const BUNDLES = join(ROOT, '.cache/server');
/** The newest bundles are kept: an older program that still runs loads parts of its own later. */
const KEPT = 3;
/** Of compiled code: some ten times what a bundle and the sources of the tests have. */
const COMPILED_BYTES = 256 * 2 ** 20;

/**
 * The programs of the server in few files, which take a quarter of the time to load and half of the memory
 * (docs/decisions/startup-and-idle.md#one-bundle). The sources stay what is run by tests and where there is no bundle.
 *
 * @returns the folder of the bundle for the sources as they are, or null where there is none and none could be made.
 */
export function serverBundle({ build }) {
  const folder = join(BUNDLES, hashOf(['src', 'scripts/bootstrap']).slice(0, 16));
  if (existsSync(folder)) return folder;
  return build && buildServer(folder) ? folder : null;
}

/** The file of a program in the bundle, or of its source. */
export function serverProgram(bundle, name) {
  return bundle === null ? join(ROOT, 'src/main', `${name}.ts`) : join(bundle, `${name}.mjs`);
}

/** @returns whether it is there; a checkout that cannot be written runs its sources. */
function buildServer(folder) {
  process.stderr.write('marquee: bundling the server\n');
  const made = `${folder}.${process.pid}`;
  const vite = join(ROOT, 'node_modules/vite/bin/vite.js');
  const config = join(ROOT, 'scripts/bootstrap/server.config.mjs');
  const { status } = spawnSync(
    nodePath(),
    [vite, 'build', ROOT, '--config', config, '--outDir', made, '--logLevel', 'warn'],
    { cwd: ROOT, stdio: ['ignore', 2, 2] },
  );
  try {
    if (status === 0) renameSync(made, folder);
  } catch {
    // Another start was quicker.
  }
  rmSync(made, { recursive: true, force: true });
  if (!existsSync(folder)) return false;
  removeOld();
  trimFolder(join(ROOT, '.cache/node'), COMPILED_BYTES);
  return true;
}

function removeOld() {
  mkdirSync(BUNDLES, { recursive: true });
  const byAge = readdirSync(BUNDLES)
    .map((name) => join(BUNDLES, name))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  for (const path of byAge.slice(KEPT)) rmSync(path, { recursive: true, force: true });
}
