import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { trimFolder } from './compiled.mjs';
import { nodePath } from './packages.mjs';
import { hashOf } from './sources.mjs';
import { ROOT } from './stop.mjs';

const BUNDLES = join(ROOT, '.cache/server');
/** Number of retained bundles: a running older program loads some of its chunks later. */
const MAX_BUNDLES = 3;
/** Maximum size of compiled code, about ten times that of a bundle and the sources of the tests. */
const COMPILED_BYTES = 256 * 2 ** 20;

/**
 * Builds the server programs into few files, which load in a quarter of the time and use half the memory
 * (docs/decisions/startup-and-idle.md#one-bundle). Tests, and installations without a bundle, run the
 * sources.
 *
 * @returns the folder of the bundle for the current sources, or null if it neither exists nor can be built.
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
    // A concurrent start has created it.
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
  for (const path of byAge.slice(MAX_BUNDLES)) rmSync(path, { recursive: true, force: true });
}
