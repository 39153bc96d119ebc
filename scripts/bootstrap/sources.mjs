import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ROOT, readOr, stamp } from './stop.mjs';

const LEFT_OUT = /[\\/](?:dist|node_modules)[\\/]|[.]test[.]ts$/;

/**
 * Returns a hash of the files in these folders of the checkout and of the lock file. It is cached with the
 * sizes and times of the files, so that files are read again only after one of those changes.
 */
export function hashOf(folders) {
  const paths = [
    join(ROOT, 'package-lock.json'),
    ...folders
      .map((name) => join(ROOT, name))
      .filter((folder) => existsSync(folder))
      .flatMap(filesBelow),
  ];
  const look = createHash('sha256');
  for (const path of paths) {
    const { size, mtimeMs } = statSync(path);
    look.update(`${path} ${size} ${mtimeMs}\n`);
  }
  const seen = look.digest('hex');
  const memo = join(ROOT, '.cache', `sources-${basename(folders[0])}`);
  const [known, kept] = readOr(memo).split(' ');
  if (known === seen) return kept;
  const hash = createHash('sha256');
  for (const path of paths) hash.update(path.slice(ROOT.length)).update(readFileSync(path));
  const found = hash.digest('hex');
  stamp(memo, `${seen} ${found}`);
  return found;
}

function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter((path) => !LEFT_OUT.test(path.slice(ROOT.length)))
    .sort();
}
