import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { signatureHeader } from '../../src/features/integration/webhooks/delivery/signature.ts';
import { freePort } from '../harness/platform.ts';
import { waitFor } from '../harness/wait-for.ts';

const GUIDE = join(import.meta.dirname, '../../docs/guides/getting-started.md');
const SECRET = 'whsec_of_the_guide';

test('the receiver of the guide accepts signed events once, and rejects all others', async (t) => {
  const guide = await readFile(GUIDE, 'utf8');
  const program = /^```js\n([\s\S]*?)^```$/m.exec(guide)?.[1] ?? '';
  const folder = await mkdtemp(join(tmpdir(), 'marquee-receiver-'));
  const port = await freePort();
  await writeFile(
    join(folder, 'receiver.mjs'),
    program.replace('listen(3000)', `listen(${port}, '127.0.0.1')`),
  );
  const receiver = spawn(process.execPath, [join(folder, 'receiver.mjs')], {
    env: { ...process.env, WEBHOOK_SECRET: SECRET },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(async () => {
    receiver.kill();
    await rm(folder, { recursive: true, force: true });
  });
  let printed = '';
  receiver.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  const body = JSON.stringify({ id: 'e1', type: 'stream.live', data: { streamId: 'str_1' } });
  const post = async (signature: string) => {
    const headers = { 'SVC-Signature': signature };
    return (await fetch(`http://127.0.0.1:${port}/hook`, { method: 'POST', headers, body })).status;
  };
  const now = Math.floor(Date.now() / 1000);
  const signed = signatureHeader(SECRET, now, body);
  await waitFor(async () => (await post(signed).catch(() => 0)) === 204, { message: 'the receiver listens' });
  assert.equal(await post(signed), 204);
  assert.equal(await post(signatureHeader('whsec_other', now, body)), 400);
  assert.equal(await post(signatureHeader(SECRET, now - 1000, body)), 400);
  await waitFor(() => printed !== '', { message: 'the event is printed' });
  assert.equal(printed, 'stream.live {"streamId":"str_1"}\n');
});
