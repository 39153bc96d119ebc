/**
 * `npm run test:upgrade [-- --from COMMIT]`: a cluster of the previous release under load, whose nodes are
 * replaced one by one by this checkout; then tests of the previous release on its own program with the new
 * schema (docs/decisions/database.md#phases-of-migrations).
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startCluster } from '../test/cluster/cluster.ts';
import { hasHaproxy, NO_HAPROXY } from '../test/cluster/haproxy.ts';
import { type LoadResult, startLoad } from '../test/cluster/load.ts';
import { costTable, resultLines } from '../test/cluster/table.ts';
import { type Cost, runReplacement } from '../test/cluster/trials.ts';
import { startHttpsSink } from '../test/harness/https-sink.ts';
import { ROOT, runProgram } from './program.ts';

/**
 * No release has a tag yet: the last commit before migrations declared phases. It resets connections when it stops,
 * so resets are only printed; later ones drain.
 */
const PREVIOUS_RELEASE = 'e6e89e3f';
/** Tests of the previous release that use its API on a database. */
const SUITE = [
  'test/contract/{examples,invalid-input,isolation}.test.ts',
  'src/features/{live/streams,video/videos,video/uploads,integration/webhooks,identity/auth}/*.test.ts',
];
const SUITE_MS = 900_000;

const { values } = parseArgs({ options: { from: { type: 'string', default: PREVIOUS_RELEASE } } });
const print = (text: string) => void process.stdout.write(`${text}\n`);
const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' });

function hasCommit(commit: string): boolean {
  const args = ['cat-file', '-e', `${commit}^{commit}`];
  return spawnSync('git', args, { cwd: ROOT, stdio: 'ignore' }).status === 0;
}

/** Checks the previous release out into a folder, with its packages. */
function checkOut(commit: string, folder: string): void {
  git('worktree', 'add', '--quiet', '--detach', folder, commit);
  const lock = (root: string) => readFileSync(join(root, 'package-lock.json'), 'utf8');
  if (lock(folder) === lock(ROOT)) symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  else execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'inherit' });
  const pages = join(ROOT, 'web/dist');
  if (existsSync(pages)) symlinkSync(pages, join(folder, 'web/dist'));
}

/** Replaces the nodes of a cluster of the release one by one. @returns the problems. */
async function upgradeCluster(root: string): Promise<string[]> {
  const sink = await startHttpsSink();
  const environment = { WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8', NODE_EXTRA_CA_CERTS: sink.ca.file };
  const cluster = await startCluster({ root, environment });
  try {
    const load = await startLoad(cluster, sink);
    const costs: Cost[] = [];
    for (const node of cluster.nodes) {
      print(`replacing ${node.name} …`);
      costs.push(await runReplacement(cluster, load, node));
    }
    const result = await load.finish();
    print(`\n${costTable(costs)}\n${resultLines(result, null)}\n`);
    return [...costs.flatMap(problemsOf), ...lossesOf(result)];
  } finally {
    await cluster.close();
    await sink.close();
  }
}

/** The silence of viewers is only printed, because the previous release decides how its encoders are disconnected. */
function problemsOf({ name, failures, restarted }: Cost): string[] {
  const isDraining = values.from !== PREVIOUS_RELEASE;
  const failed = [...failures].filter(([outcome]) => isDraining || outcome !== 'reset');
  return [
    ...failed.map(([outcome, count]) => `${name}: ${count} requests failed (${outcome})`),
    ...restarted.map((other) => `${name}: ${other} restarted`),
  ];
}

function lossesOf({ writes, webhooks, uploads }: LoadResult): string[] {
  const counts = {
    'writes lost': writes.lost,
    'writes doubled': writes.doubled,
    'events lost': webhooks.lost,
    'uploads lost': uploads.lost,
  };
  return Object.entries(counts).flatMap(([name, count]) => (count > 0 ? [`${count} ${name}`] : []));
}

/** Runs tests of the release on its program, with the migrations of this checkout. @returns the problems. */
async function runSuite(root: string): Promise<string[]> {
  cpSync(join(ROOT, 'migrations'), join(root, 'migrations'), { recursive: true });
  const files = globSync(SUITE, { cwd: root }).filter((path) => !/[.](full|alone)[.]test[.]ts$/.test(path));
  const program = [
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    '--test',
    '--test-concurrency=2',
  ];
  const failure = await runProgram([...program, '--test-reporter=dot', ...files], {
    timeoutMs: SUITE_MS,
    cwd: root,
  });
  return failure === null ? [] : [`tests of the previous release fail on the new schema${failure}`];
}

async function main(commit: string): Promise<number> {
  const lack = hasCommit(commit) ? (hasHaproxy() ? null : NO_HAPROXY) : `${commit} is not in this repository`;
  if (lack !== null) {
    print(`test:upgrade is skipped: ${lack}`);
    return 0;
  }
  const folder = mkdtempSync(join(tmpdir(), 'marquee-upgrade-'));
  const root = join(folder, 'previous');
  try {
    checkOut(commit, root);
    const problems = [...(await upgradeCluster(root)), ...(await runSuite(root))];
    for (const problem of problems) print(`FAILED ${problem}`);
    if (problems.length === 0) print(`upgraded from ${commit}: nothing was lost`);
    return problems.length === 0 ? 0 : 1;
  } finally {
    if (existsSync(root)) git('worktree', 'remove', '--force', root);
    rmSync(folder, { recursive: true, force: true });
  }
}

process.exit(await main(values.from));
