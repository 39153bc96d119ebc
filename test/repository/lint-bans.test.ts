import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { before, test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');

interface Finding {
  /** Path of the file inside the tree. */
  path: string;
  message: string;
}

/** Returns the findings of Biome, with our configuration, for a tree of files (path to text). */
async function lint(files: Map<string, string>): Promise<Finding[]> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'marquee-lint-'));
  try {
    await cp(join(ROOT, 'biome.json'), join(folder, 'biome.json'));
    await cp(join(ROOT, 'scripts/lint'), join(folder, 'scripts/lint'), { recursive: true });
    for (const [path, text] of files) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), `${text}\n`);
    }
    const args = ['lint', '--vcs-enabled=false', '--reporter=github', '--max-diagnostics=none', 'src'];
    const biome = join(ROOT, 'node_modules/.bin/biome');
    const { stdout, stderr } = spawnSync(biome, args, { cwd: folder, encoding: 'utf8' });
    const findings = stdout.split('\n').flatMap((line) => {
      const [, rule, file, message] = /^::\w+ title=([^,]*),file=([^,]*),.*?::(.*)$/.exec(line) ?? [];
      if (file === undefined) return [];
      return [{ path: file.slice(folder.length + 1), message: `${rule}: ${message}` }];
    });
    assert.ok(findings.length > 0, `biome did not run: ${stderr}`);
    return findings;
  } finally {
    await rm(folder, { recursive: true });
  }
}

interface Ban {
  name: string;
  says: RegExp;
  bad: string[];
  good?: string[];
  /** Path in which the banned texts are allowed. */
  home?: string;
}

const OUTBOUND = /Only src\/platform\/outbound|No outbound connection/;

const BANS: Ban[] = [
  {
    name: 'process.env outside platform/config.ts',
    says: /noProcessEnv/,
    bad: ['export const port = process.env.PORT;', 'export const { PORT } = process.env;'],
    home: 'src/platform/config.ts',
  },
  {
    name: 'child processes outside media/ffmpeg',
    says: /Only src\/media\/ffmpeg and src\/platform\/db\/embedded start programs/,
    bad: [
      `export { spawn } from 'node:child_process';`,
      `import * as c from 'node:child_process'; c.spawn('ls');`,
    ],
    home: 'src/media/ffmpeg/process.ts',
  },
  {
    name: 'child processes outside platform/db/embedded',
    says: /start programs/,
    bad: [`import { spawn } from 'node:child_process'; spawn('ls');`],
    home: 'src/platform/db/embedded/programs.ts',
  },
  {
    name: 'outbound connections outside platform/outbound',
    says: OUTBOUND,
    bad: [
      `await fetch('https://a.test');`,
      `await globalThis.fetch('https://a.test');`,
      `import { request } from 'undici'; await request('https://a.test');`,
      `import net from 'node:net'; net.connect(25, 'a.test');`,
      `import { connect } from 'node:net'; connect(25, 'a.test');`,
      `import { request } from 'node:https'; request('https://a.test');`,
      `import { Socket } from 'node:net'; new Socket().connect(25, 'a.test');`,
    ],
    good: [`import { createServer } from 'node:net'; createServer();`],
    home: 'src/platform/outbound/client.ts',
  },
  {
    name: 'the wall clock outside kernel/clock.ts',
    says: /No wall clock/,
    bad: [
      'export const now = Date.now();',
      'export const read = Date.now;',
      'export const date = new Date();',
      'export const date = new Date(0);',
    ],
    good: ['export const isDate = (x: unknown): x is Date => x instanceof Date;'],
    home: 'src/kernel/clock.ts',
  },
  {
    name: 'type assertions',
    says: /No type assertion/,
    bad: [
      'export const n = JSON.parse("1") as number;',
      'export const n = 1 as unknown as string;',
      'export const n = <number>JSON.parse("1");',
    ],
    good: ['export const n = [1] as const;', `export { a as b } from './c.ts';`],
  },
  {
    name: 'types imported inside an expression, which dependency-cruiser does not see',
    says: /No inline import/,
    bad: [`export const n = (x: import('./a.ts').A) => x;`, `export type A = typeof import('./a.ts');`],
  },
  { name: 'any', says: /noExplicitAny/, bad: ['export const n = (x: any) => x;'] },
  { name: 'non-null assertions', says: /noNonNullAssertion/, bad: ['export const n = (x?: string) => x!;'] },
];

/** Round n contains the nth text of every ban, at a banned path and at the allowed one. */
const rounds: Finding[][] = [];
before(async () => {
  for (let n = 0; n < Math.max(...BANS.map((ban) => ban.bad.length)); n += 1) {
    const files = new Map<string, string>();
    for (const [index, { bad, good, home }] of BANS.entries()) {
      const text = bad[n];
      if (text !== undefined) files.set(`src/features/f${index}/bad.ts`, text);
      if (text !== undefined && home !== undefined) files.set(home, text);
      const fine = good?.[n];
      if (fine !== undefined) files.set(`src/features/f${index}/good.ts`, fine);
    }
    rounds.push(await lint(files));
  }
});

for (const [index, ban] of BANS.entries()) {
  test(`lint rejects ${ban.name}`, () => {
    for (const [n, text] of ban.bad.entries()) {
      const found = (path: string | undefined) =>
        (rounds[n] ?? []).filter((finding) => finding.path === path && ban.says.test(finding.message));
      assert.notDeepEqual(found(`src/features/f${index}/bad.ts`), [], text);
      assert.deepEqual(found(ban.home), [], text);
      assert.deepEqual(found(`src/features/f${index}/good.ts`), []);
    }
  });
}
