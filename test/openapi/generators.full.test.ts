import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { python, pythonPeerUnavailableReason } from './python.ts';

const DOCUMENT = join(import.meta.dirname, '../../openapi.json');
const PEER = 'openapi-python-client';

const USE = `
from marquee_client.models import Stream, StreamCreate
from marquee_client.api.streams import streams_create
assert callable(streams_create.sync)
assert StreamCreate(title="Friday").to_dict() == {"title": "Friday"}
`;

test('a client in Python has every operation, compiles and is imported', async (t) => {
  const lack = pythonPeerUnavailableReason(PEER);
  if (lack !== null) return t.skip(lack);
  const folder = await mkdtemp(join(tmpdir(), 'marquee-client-'));
  t.after(() => rm(folder, { recursive: true }));
  const client = join(folder, 'marquee_client');
  const options = ['--path', DOCUMENT, '--meta', 'none', '--output-path', client];
  const made = await python(PEER, ['-m', 'openapi_python_client', 'generate', ...options], folder);
  assert.equal(made.failed, false, made.text);
  assert.doesNotMatch(made.text, /WARNING parsing|Unable to|Skipping (?!Integration)/i, made.text);
  const compiled = await python(PEER, ['-m', 'compileall', '-q', client], folder);
  assert.equal(compiled.failed, false, compiled.text);
  const used = await python(PEER, ['-c', USE], folder);
  assert.equal(used.failed, false, used.text);
  const groups = await readdir(join(client, 'api'));
  assert.ok(groups.includes('streams') && groups.includes('webhooks'));
});
