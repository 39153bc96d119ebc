import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { spoolVerified } from './spool.ts';
import { createTempDir } from './temp.ts';

test('what waits for its checksum has no name, so nothing of it outlives kill -9', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'spool-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const pieces = ['one', 'two', 'three'];
  const seen: string[][] = [];
  async function* content() {
    for (const piece of pieces) {
      yield Buffer.from(piece);
      seen.push(await readdir(dir));
    }
  }
  const value = createHash('sha256').update(pieces.join('')).digest();
  const chunks: Uint8Array[] = [];
  const digest = { algorithm: 'sha256', value } as const;
  for await (const chunk of spoolVerified(content(), digest, createTempDir(dir))) chunks.push(chunk);
  assert.equal(Buffer.concat(chunks).toString(), pieces.join(''));
  assert.deepEqual(seen, [[], [], []]);
});
