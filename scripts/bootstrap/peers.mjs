import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, stamp, stamped } from './stop.mjs';

const FOLDER = join(ROOT, '.cache/peers');

/**
 * Programs that tests talk to and that no package manager has: built with Go, one pinned version each, which Go
 * checks against its public checksum database. The platform never needs them.
 */
export const PEERS = {
  // An S3 server over a folder, Apache-2.0.
  s3: { module: 'github.com/versity/versitygw/cmd/versitygw', version: 'v1.8.0', program: 'versitygw' },
};

/**
 * Builds a peer into `.cache/peers/<name>` unless this version of it is there.
 *
 * @returns why there is none, or null.
 */
export function buildPeer(name, { timeoutMs }) {
  const { module, version, program } = PEERS[name];
  const path = join(FOLDER, name);
  if (existsSync(path) && stamped(`${path}.version`, version)) return null;
  mkdirSync(FOLDER, { recursive: true });
  const folder = mkdtempSync(join(FOLDER, 'build-'));
  try {
    process.stderr.write(`marquee: building ${program} ${version}\n`);
    const { status, error } = spawnSync(
      'go',
      ['install', '-trimpath', '-ldflags=-s -w', `${module}@${version}`],
      {
        cwd: folder,
        stdio: ['ignore', 'ignore', 2],
        env: { ...process.env, GOBIN: folder, GOTOOLCHAIN: 'local' },
        timeout: timeoutMs,
      },
    );
    if (status !== 0) return error === undefined ? 'go install failed' : error.message;
    renameSync(join(folder, program), path);
    stamp(`${path}.version`, version);
    return null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Builds what `npm test` can use, once for each version and only where Go is; tests without it are skipped. */
export function tryPeers() {
  for (const [name, { version }] of Object.entries(PEERS)) {
    if (spawnSync('go', ['version'], { stdio: 'ignore' }).status !== 0) return;
    const tried = join(FOLDER, `${name}.tried`);
    if (stamped(tried, version)) continue;
    stamp(tried, version);
    const lack = buildPeer(name, { timeoutMs: 150_000 });
    if (lack === null) continue;
    process.stderr.write(
      `marquee: tests with ${name} are skipped (${lack}); type: node scripts/peers.mjs ${name}\n`,
    );
  }
}
