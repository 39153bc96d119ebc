import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from './program.ts';

test('a script that npm run starts exits after its last statement', async (t) => {
  const script = `import ${JSON.stringify(join(ROOT, 'scripts/program.ts'))};`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  t.after(() => child.kill());
  const [code] = await once(child, 'exit', { signal: AbortSignal.timeout(60_000) });
  assert.equal(code, 0);
});
