import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { nodePath } from './packages.mjs';
import { hashOf } from './sources.mjs';
import { ROOT, Stop, stamp, stamped } from './stop.mjs';

const WEB = join(ROOT, 'web');
const STAMP = join(WEB, 'dist/.stamp');

/** Builds the pages when their sources differ from those of the last build. */
export function buildWeb() {
  if (!existsSync(join(WEB, 'vite.config.ts'))) return;
  const state = hashOf(['web', 'sdk']);
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
