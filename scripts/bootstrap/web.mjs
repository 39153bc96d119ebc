import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodePath } from './packages.mjs';
import { ROOT, Stop, stamp, stamped } from './stop.mjs';

const WEB = join(ROOT, 'web');
const STAMP = join(WEB, 'dist/.stamp');

/** Builds the pages when their sources differ from those of the last build. */
export function buildWeb() {
  if (!existsSync(join(WEB, 'vite.config.ts'))) return;
  const state = sourcesHash();
  if (stamped(STAMP, state)) return;
  process.stderr.write('marquee: building the pages\n');
  const vite = join(ROOT, 'node_modules/vite/bin/vite.js');
  const { status } = spawnSync(nodePath(), [vite, 'build', WEB, '--logLevel', 'warn'], {
    cwd: ROOT,
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) throw new Stop('the pages could not be built');
  stamp(STAMP, state);
}

function sourcesHash() {
  const hash = createHash('sha256').update(readFileSync(join(ROOT, 'package-lock.json')));
  for (const folder of [WEB, join(ROOT, 'sdk')]) {
    if (!existsSync(folder)) continue;
    const files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
      .filter((path) => !path.startsWith(join(WEB, 'dist')) && !path.includes('node_modules'))
      .sort();
    for (const path of files) hash.update(path.slice(ROOT.length)).update(readFileSync(path));
  }
  return hash.digest('hex');
}
