import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const BIN = join(ROOT, 'node_modules/.bin');
const REDOCLY = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'));
const DOCUMENT = join(ROOT, 'openapi.json');

/** Returns the output of the tool; rejects with it if the tool fails. */
async function output(program: string, args: string[], cwd: string): Promise<string> {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const { stdout, stderr } = await run(program, args, { cwd, env, maxBuffer: 1e7 }).catch(
    (error: unknown) => {
      assert.fail(
        `${program}: ${Reflect.get(Object(error), 'stdout')}${Reflect.get(Object(error), 'stderr')}`,
      );
    },
  );
  return stdout + stderr;
}

test('redocly reports no problems', async () => {
  const said = await output(process.execPath, [REDOCLY, 'lint', DOCUMENT], ROOT);
  assert.match(said, /valid/);
  assert.doesNotMatch(said, /warning/i);
});

const USE = `import type { components, paths } from './api.ts';
type Schemas = components['schemas'];
type List = paths['/streams']['get'];
export const query: List['parameters']['query'] = { visibility: ['PUBLIC'], order: 'asc' };
export const body: paths['/me/api-keys']['post']['requestBody']['content']['application/json'] = { name: 'Backend' };
type Answer = List['responses'][200]['content']['application/json'];
export const flags = (answer: Answer): boolean[] => answer.data.map(({ isLive }) => isLive);
export const code: Schemas['NotFoundError']['error']['code'] = 'NOT_FOUND';
export function startOf(event: Schemas['AnyEvent']): string | null {
  if (event.type === 'stream.live') return event.data.wentLiveAt;
  return event.type === 'stream.broadcast_started' ? event.data.startedAt : null;
}
`;

test('openapi-typescript generates equivalent types', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'marquee-openapi-'));
  t.after(() => rm(folder, { recursive: true }));
  await output(
    join(BIN, 'openapi-typescript'),
    [DOCUMENT, '--default-non-nullable=false', '-o', join(folder, 'api.ts')],
    folder,
  );
  const options = { strict: true, noEmit: true, allowImportingTsExtensions: true, types: [] };
  const compilerOptions = { ...options, module: 'nodenext', target: 'esnext' };
  const files = ['api.ts', 'use.ts'];
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  await writeFile(join(folder, 'use.ts'), USE);
  await output(join(BIN, 'tsc'), ['-p', '.'], folder);
});
