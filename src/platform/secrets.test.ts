import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { createSecrets, loadSecretKey } from './secrets.ts';

const secrets = createSecrets(Buffer.alloc(32, 1));
const others = createSecrets(Buffer.alloc(32, 2));

describe('encryption', () => {
  test('encryption returns any text unchanged, in its context and under its key only', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, context) => {
        const bytes = secrets.encrypt(text, context);
        assert.equal(secrets.decrypt(bytes, context), text);
        assert.throws(() => secrets.decrypt(bytes, `${context}x`));
        assert.throws(() => others.decrypt(bytes, context));
      }),
      { numRuns: 200 },
    );
  });

  test('never gives the same bytes twice, and refuses changed ones', () => {
    const bytes = secrets.encrypt('whsec_x');
    assert.notDeepEqual(secrets.encrypt('whsec_x'), bytes);
    for (let i = 0; i < bytes.length; i++) {
      const changed = Uint8Array.from(bytes);
      changed[i] = (changed[i] ?? 0) ^ 1;
      assert.throws(() => secrets.decrypt(changed), String(i));
    }
    for (const length of [0, 1, 28]) assert.throws(() => secrets.decrypt(bytes.subarray(0, length)));
  });
});

test('a signature holds for its text, purpose and key only', () => {
  const signature = secrets.sign('preview', 'str_1');
  assert.ok(secrets.verify('preview', 'str_1', signature));
  assert.ok(!secrets.verify('preview', 'str_2', signature));
  assert.ok(!secrets.verify('cursor', 'str_1', signature));
  assert.ok(!others.verify('preview', 'str_1', signature));
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const misspelt = [...letters]
    .map((last) => signature.slice(0, -1) + last)
    .filter((one) => one !== signature);
  for (const bad of ['', 'x', signature.slice(1), `${signature}AA`, `${signature}=`, ...misspelt]) {
    assert.ok(!secrets.verify('preview', 'str_1', bad), bad);
  }
});

describe('the key file', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'marquee-secrets-'));
  });
  after(() => rm(folder, { recursive: true }));

  test('a configured key is taken as it is', async () => {
    const hex = 'ab'.repeat(32);
    assert.deepEqual(
      await loadSecretKey({ DATA_DIR: join(folder, 'unused'), SECRET_KEY: hex }),
      Buffer.from(hex, 'hex'),
    );
  });

  test('the key file is created once with owner-only access, regardless of concurrent calls', async () => {
    const dataDir = join(folder, 'data');
    const keys = await Promise.all(Array.from({ length: 10 }, () => loadSecretKey({ DATA_DIR: dataDir })));
    assert.equal(new Set(keys.map((key) => key.toString('hex'))).size, 1);
    assert.equal(keys[0]?.length, 32);
    assert.deepEqual(await readdir(dataDir), ['secret.key']);
    assert.equal((await stat(join(dataDir, 'secret.key'))).mode & 0o777, 0o600);
    assert.deepEqual(await loadSecretKey({ DATA_DIR: dataDir }), keys[0]);
  });

  test('a damaged one is an error, not a new key', async () => {
    await writeFile(join(folder, 'secret.key'), 'abc');
    await assert.rejects(loadSecretKey({ DATA_DIR: folder }), /secret\.key/);
  });

  test("the operator's key file is read from any location and never created", async () => {
    const SECRET_KEY_FILE = join(folder, 'apart.key');
    const source = { DATA_DIR: join(folder, 'empty'), SECRET_KEY_FILE };
    await assert.rejects(loadSecretKey(source), /apart\.key \(SECRET_KEY_FILE\) does not exist/);
    await writeFile(SECRET_KEY_FILE, `${'cd'.repeat(32)}\n`);
    assert.deepEqual(await loadSecretKey(source), Buffer.alloc(32, 0xcd));
    await assert.rejects(stat(source.DATA_DIR), { code: 'ENOENT' });
  });
});
