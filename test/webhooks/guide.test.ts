import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import Stripe from 'stripe';
import { signatureHeader } from '../../src/features/integration/webhooks/delivery/signature.ts';

const DOCS = join(import.meta.dirname, '../../docs');
const VECTORS = join(DOCS, 'vectors/signatures.json');
const run = promisify(execFile);

interface Vector {
  name: string;
  secret: string;
  now: number;
  header: string;
  body: string;
  valid: boolean;
}

let vectors: Vector[];
let guide: string;
let folder: string;

before(async () => {
  vectors = JSON.parse(await readFile(VECTORS, 'utf8'));
  guide = await readFile(join(DOCS, 'guides/webhooks.md'), 'utf8');
  folder = await mkdtemp(join(tmpdir(), 'marquee-guide-'));
});
after(() => rm(folder, { recursive: true, force: true }));

/** The code block of a language in the section "Verify". */
function snippet(language: string): string {
  const code = new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, 'm').exec(guide)?.[1];
  assert.ok(code !== undefined, `the guide has a block of ${language}`);
  return code;
}

/** Program that prints, as a JSON list, the results of the guide's function for each vector. */
interface Language {
  name: string;
  block: string;
  program: string;
  /** File names and texts: the snippet and its runner. */
  files(code: string): Record<string, string>;
  args: string[];
}

const LANGUAGES: Language[] = [
  {
    name: 'TypeScript',
    block: 'ts',
    program: process.execPath,
    args: ['main.ts', VECTORS],
    files: (code) => ({
      'verify.ts': code,
      'main.ts': `
        import { readFileSync } from 'node:fs';
        import { verifySignature } from './verify.ts';
        const vectors = JSON.parse(readFileSync(process.argv[2], 'utf8'));
        console.log(JSON.stringify(vectors.map(({ body, header, secret, now }) =>
          verifySignature(Buffer.from(body), header, secret, now))));`,
    }),
  },
  {
    name: 'Python',
    block: 'python',
    program: 'python3',
    args: ['main.py', VECTORS],
    files: (code) => ({
      'main.py': `${code}
import json, sys
vectors = json.load(open(sys.argv[1], encoding="utf-8"))
print(json.dumps([verify_signature(v["body"].encode(), v["header"], v["secret"], v["now"]) for v in vectors]))
`,
    }),
  },
  {
    name: 'Go',
    block: 'go',
    program: 'go',
    args: ['run', '.', VECTORS],
    files: (code) => ({
      'go.mod': 'module guide\n\ngo 1.21\n',
      'verify.go': code.replace('package webhooks', 'package main'),
      'main.go': `package main

import (
	"encoding/json"
	"os"
	"time"
)

func main() {
	var vectors []struct {
		Secret, Header, Body string
		Now                  int64
	}
	text, _ := os.ReadFile(os.Args[1])
	if err := json.Unmarshal(text, &vectors); err != nil {
		panic(err)
	}
	results := []bool{}
	for _, v := range vectors {
		results = append(results, VerifySignature([]byte(v.Body), v.Header, v.Secret, time.Unix(v.Now, 0)))
	}
	json.NewEncoder(os.Stdout).Encode(results)
}
`,
    }),
  },
  {
    name: 'PHP',
    block: 'php',
    program: 'php',
    args: ['main.php', VECTORS],
    files: (code) => ({
      'main.php': `${code}
echo json_encode(array_map(
    fn ($v) => verify_signature($v['body'], $v['header'], $v['secret'], $v['now']),
    json_decode(file_get_contents($argv[1]), true)
));
`,
    }),
  },
  {
    name: 'Ruby',
    block: 'ruby',
    program: 'ruby',
    args: ['main.rb', VECTORS],
    files: (code) => ({
      'main.rb': `${code}
require "json"
vectors = JSON.parse(File.read(ARGV[0], encoding: "UTF-8"))
puts JSON.generate(vectors.map { |v| verify_signature(v["body"], v["header"], v["secret"], v["now"]) })
`,
    }),
  },
];

const isInstalled = (program: string) => spawnSync(program, ['--help']).error === undefined;

describe('the functions of the guide judge every vector right', () => {
  for (const { name, block, program, args, files } of LANGUAGES) {
    test(name, { skip: isInstalled(program) ? false : `${program} is not installed` }, async () => {
      const cwd = join(folder, block);
      await writeFiles(cwd, files(snippet(block)));
      const env = { ...process.env, GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local' };
      const { stdout } = await run(program, args, { cwd, env });
      const results: unknown = JSON.parse(stdout);
      const expected = Object.fromEntries(vectors.map((vector) => [vector.name, vector.valid]));
      assert.ok(Array.isArray(results));
      assert.deepEqual(Object.fromEntries(vectors.map((vector, n) => [vector.name, results[n]])), expected);
    });
  }
});

async function writeFiles(cwd: string, files: Record<string, string>): Promise<void> {
  await mkdir(cwd);
  for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text);
}

test('the vectors match the signatures of deliveries, and the guide shows a valid one', () => {
  assert.ok(vectors.some(({ valid }) => valid) && vectors.some(({ valid }) => !valid));
  for (const { name, secret, header, body, valid } of vectors) {
    const signedAt = Number(/^t=(\d+),/.exec(header)?.[1]);
    if (valid) assert.equal(signatureHeader(secret, signedAt, body), header, name);
  }
  const [, header = '', shown = ''] = /SVC-Signature: (\S+)\n\n(\{.*\})\n/.exec(guide) ?? [];
  const [{ secret } = { secret: '' }] = vectors;
  assert.equal(signatureHeader(secret, 1_795_165_200, shown), header);
});

test('an independent verifier agrees on the vectors with a current timestamp', () => {
  const { webhooks } = new Stripe('sk_test_unused');
  for (const { name, secret, header, body, valid, now } of vectors) {
    // Excludes vectors on which its rules differ: it trims, requires a body, and accepts future timestamps.
    if (now !== 1_795_165_200 || /ahead|calendar|line break|empty body/.test(name)) continue;
    const verify = () => webhooks.signature?.verifyHeader(body, header, secret, Number.MAX_SAFE_INTEGER);
    if (valid) assert.ok(verify(), name);
    else assert.throws(verify, name);
  }
});

test('the guide names endpoints that exist', async () => {
  const { paths } = JSON.parse(await readFile(join(DOCS, '../openapi.json'), 'utf8'));
  const named = [...guide.matchAll(/`(GET|POST|PATCH|DELETE) (\/[\w/{}.-]+)/g)];
  assert.ok(named.length >= 8);
  for (const [, method = '', path = ''] of named) {
    if (path === '/openapi.json') continue;
    assert.ok(method.toLowerCase() in (paths[path] ?? {}), `${method} ${path}`);
  }
});
