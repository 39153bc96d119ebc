import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import {
  access,
  chmod,
  constants,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { needsOwnProcess } from '../../../test/harness/needs.ts';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { assertDecodes } from '../../../test/transcode/sources.ts';
import { createLogger } from '../../platform/logger.ts';
import { createGuard } from './guard.ts';
import { SANDBOX_UID } from './output.ts';
import { spawnFfmpeg } from './process.ts';
import type { SandboxView } from './sandbox.ts';

needsOwnProcess();

const log = createLogger('silent');
const guard = await createGuard();
const skip = guard.weakness === null ? false : `no sandbox here: ${guard.weakness}`;
const LIMITS = { memoryBytes: 8 * 2 ** 30, cpuSec: 60, fileBytes: 2 ** 30 };
const NOTHING: SandboxView = { reads: [], writes: null };

let dir = '';
let connections = 0;
const server = createServer((socket) => {
  connections += 1;
  socket.destroy();
});
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sandbox-'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
after(async () => {
  server.close();
  await rm(dir, { recursive: true, force: true });
});

async function fake(name: string, script: string): Promise<string> {
  const path = join(dir, name);
  await writeFile(path, `#!/bin/bash\n${script}\n`, { mode: 0o755 });
  return path;
}

async function descendants(pid: number | string): Promise<string[]> {
  const list = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const children = list.split(' ').filter((child) => child !== '');
  return [...children, ...(await Promise.all(children.map(descendants))).flat()];
}

/** Why not; false when it can. */
function canWrite(folder: string): Promise<string | false> {
  return access(folder, constants.W_OK).then(
    () => false,
    () => `${folder} cannot be written`,
  );
}

async function runProbeProgram(
  bin: string,
  view: SandboxView,
  isLive = false,
  by = guard,
): Promise<string[]> {
  let output = '';
  const program = await by.start(bin, { ...LIMITS, isLive }, view);
  const exit = await spawnFfmpeg({
    program,
    args: [],
    log,
    onOutput: (text) => {
      output += text;
    },
  }).exited;
  assert.equal(exit.code, 0, exit.stderr);
  return output.trim().split('\n');
}

test('sandbox: a compromised program has access only to its input and output', {
  skip,
}, async () => {
  const data = join(dir, 'data');
  const mine = join(data, 'media/ws_1');
  const theirs = join(data, 'media/ws_2');
  const out = join(data, 'tmp/job');
  for (const folder of [mine, theirs, out]) await mkdir(folder, { recursive: true });
  const secret = join(data, 'secret.key');
  const input = join(mine, 'upload');
  const victim = join(theirs, 'upload');
  for (const file of [secret, input, victim]) await writeFile(file, 'secret');
  const { port }: AddressInfo = Object(server.address());
  const attempts = {
    'read its input': `cat ${input}`,
    'write its output': `echo x > ${out}/made`,
    'write its input': `echo x > ${input}`,
    'read the secret key': `cat ${secret}`,
    "read another account's file": `cat ${victim}`,
    'see the folder of other accounts': `ls ${theirs}`,
    'read the passwords of the system': 'cat /etc/shadow || cat /etc/passwd',
    'read our environment': `cat /proc/${process.pid}/environ`,
    'see other processes': 'ls /proc | grep -E "^[0-9]{3,}"',
    'send us a signal': `kill -0 ${process.pid}`,
    'open a socket': `exec 3<>/dev/tcp/127.0.0.1/${port}`,
    'be root': '[ $(id -u) = 0 ]',
    'hold a capability': "grep -E '^Cap(Prm|Eff|Bnd): *0*[1-9a-f]' /proc/self/status",
    'gain privileges': "grep -E '^NoNewPrivs:.*0' /proc/self/status",
    'become root in a namespace of its own': 'unshare --user --map-root-user true',
    'mount something': 'mount -t tmpfs none /usr',
    'write anywhere else': `touch /x /tmp/x /usr/bin/x ${dir}/x`,
  };
  const lines = Object.entries(attempts).map(([name, command]) => `(${command}) >&2 && echo "${name}"`);
  const bin = await fake('taken-over', `${lines.join('\n')}\nexit 0`);
  const allowed = ['read its input', 'write its output'];
  assert.deepEqual(await runProbeProgram(bin, { reads: [input], writes: out }), allowed);
  assert.equal(connections, 0);
  assert.equal(await readFile(input, 'utf8'), 'secret');
  // A program that reads a broadcast has no input except its standard input.
  const live = await runProbeProgram(bin, { reads: [], writes: join(out, 'made') }, true);
  assert.deepEqual(live, ['write its output']);
  assert.equal(connections, 0);
});

test('sandbox: a program finds the devices of its encoder, and no others', { skip }, async () => {
  const bin = await fake('devices', 'ls /dev; head -c 4 /dev/zero | wc -c');
  const plain = ['null', 'urandom'];
  const shown = await runProbeProgram(bin, {
    reads: [],
    writes: null,
    devices: ['/dev/zero', '/dev/absent', '/etc/hosts'],
  });
  assert.deepEqual(shown, [...plain, 'zero', '4']);
  assert.deepEqual(await runProbeProgram(bin, NOTHING), [...plain, '0']);
});

test('sandbox: on the host the program runs as an unknown user without capabilities', {
  skip: skip || (process.getuid?.() === 0 ? false : 'only root can give it a user of its own'),
}, async () => {
  const out = await mkdtemp(join(dir, 'host-'));
  const input = join(dir, 'private');
  // A file readable only by the platform is made available, and no other.
  await writeFile(input, 'mine', { mode: 0o600 });
  const secret = join(dir, 'host-secret');
  await writeFile(secret, 'secret', { mode: 0o600 });
  const bin = await fake('lasting', `cat ${input} > ${out}/made; echo ready; while :; do sleep 0.05; done`);
  let isReady = false;
  const onOutput = () => {
    isReady = true;
  };
  const program = await guard.start(bin, LIMITS, { reads: [input], writes: out });
  const started = spawnFfmpeg({ program, args: [], log, onOutput });
  try {
    await waitFor(() => isReady, { message: 'the program runs' });
    const statuses = await Promise.all(
      (await descendants(started.pid)).map((pid) => readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')),
    );
    const inside = statuses.filter((status) => /^Name:\s+lasting$/m.test(status));
    assert.ok(inside.length > 0);
    for (const status of inside) {
      assert.match(status, new RegExp(`^Uid:(\\s+${SANDBOX_UID}){4}$`, 'm'));
      assert.match(status, new RegExp(`^Gid:(\\s+${SANDBOX_UID}){4}$`, 'm'));
      assert.match(status, /^Groups:\s*$/m);
      assert.match(status, /^CapPrm:\s+0+$/m);
    }
    const made = join(out, 'made');
    assert.equal(await readFile(made, 'utf8'), 'mine');
    assert.equal((await stat(made)).uid, SANDBOX_UID);
    // Reads as that user, on the host and without a sandbox.
    const other = { uid: SANDBOX_UID, gid: SANDBOX_UID };
    for (const path of [secret, `/proc/${process.pid}/environ`, `/proc/${process.pid}/mem`]) {
      assert.equal(spawnSync('cat', [path], other).status, 1, path);
    }
  } finally {
    await started.stop(0);
  }
});

test('sandbox: a folder of ours within a system folder is hidden, except for required files', {
  skip: skip || (await canWrite('/usr/local/lib')),
}, async (t) => {
  const data = await mkdtemp('/usr/local/lib/marquee-test-');
  await chmod(data, 0o755);
  t.after(() => rm(data, { recursive: true, force: true }));
  const [input, secret, key] = ['media/upload', 'secret.key', '../marquee-test.key'].map((name) =>
    join(data, name),
  );
  assert.ok(input && secret && key);
  t.after(() => rm(key, { force: true }));
  await mkdir(join(data, 'media'));
  for (const path of [input, secret, key]) await writeFile(path, 'secret');
  const commands = [`cat ${input}`, `cat ${secret}`, `grep . ${key}`, `touch ${data}/x`];
  const bin = await fake(
    'curious',
    `${commands.map((command) => `(${command}) >&2 && echo ${command}`).join('\n')}\nexit 0`,
  );
  const view: SandboxView = { reads: [input], writes: null };
  const shown = await runProbeProgram(bin, view);
  assert.deepEqual(shown, commands.slice(0, 3), 'nobody has said that it is ours');
  assert.deepEqual(await runProbeProgram(bin, view, false, await createGuard([], [data, key])), [
    `cat ${input}`,
  ]);
});

test('sandbox: paths named by the operator are shown, except for our files in them', { skip }, async () => {
  const [model, data] = [join(dir, 'named/model'), join(dir, 'named/data')];
  for (const folder of [model, join(data, 'run')]) await mkdir(folder, { recursive: true });
  for (const path of [`${model}/big.bin`, `${data}/secret`]) await writeFile(path, 'x', { mode: 0o644 });
  const link = join(dir, 'link.bin');
  await symlink(`${model}/big.bin`, link);
  const commands = [
    ...[`cat ${model}/big.bin`, `cat ${link}`, `touch ${data}/run/made`],
    ...[`touch ${model}/made`, `cat ${data}/secret`, `touch ${data}/made`, `ls ${dir}/data`],
  ];
  const bin = await fake(
    'engine',
    `${commands.map((command) => `(${command}) >&2 && echo ${command}`).join('\n')}\nexit 0`,
  );
  const view: SandboxView = { reads: [], writes: join(data, 'run'), named: [join(dir, 'named'), link] };
  assert.deepEqual(
    await runProbeProgram(bin, view, false, await createGuard([], [data])),
    commands.slice(0, 3),
  );
  assert.equal((await stat(`${model}/big.bin`)).uid, process.getuid?.(), 'it stays the operator’s');
});

test('sandbox: one file may be all that is written', { skip }, async () => {
  const [made, other] = [join(dir, 'made'), join(dir, 'other')];
  for (const file of [made, other]) await writeFile(file, 'before');
  const bin = await fake('writer', `echo after > ${made}; echo after > ${other}; exit 0`);
  await runProbeProgram(bin, { reads: [], writes: made });
  assert.equal(await readFile(made, 'utf8'), 'after\n');
  assert.equal(await readFile(other, 'utf8'), 'before');
});

async function encoder(name: string, output: string) {
  const out = await mkdtemp(join(dir, `${name}-`));
  const program = await guard.start('ffmpeg', LIMITS, { reads: [], writes: out });
  const source = ['-v', 'error', '-re', '-f', 'lavfi', '-i', 'testsrc2=s=64x64:r=10', '-c:v', 'libx264'];
  const args = [...source, '-preset', 'ultrafast', '-tune', 'zerolatency', '-flush_packets', '1', output];
  return { path: join(out, output), started: spawnFfmpeg({ program, args, cwd: out, log }) };
}

test('sandbox: stop lets ffmpeg finish its file', { skip }, async () => {
  const { path, started } = await encoder('stopped', 'x.mp4');
  await waitFor(async () => existsSync(path) && (await stat(path)).size > 2000, { message: 'some pictures' });
  const exit = await started.stop(60_000);
  assert.equal(exit.code, 255, exit.stderr);
  await assertDecodes(path);
});

test('sandbox: stop also ends a process before ffmpeg has started', { skip }, async () => {
  const { started } = await encoder('early', 'x.mp4');
  const exit = await started.stop(3000);
  assert.ok(exit.code !== 0 || exit.signal !== null);
  assert.throws(() => process.kill(started.pid, 0), /ESRCH/);
});

for (const [name, ignored, signal] of [
  ['willing', '', 'SIGINT'],
  ['deaf-to-int', 'INT', 'SIGTERM'],
  ['deaf', 'INT TERM', 'SIGKILL'],
] as const) {
  test(`sandbox: a ${name} program is stopped by ${signal}`, { skip }, async () => {
    let isReady = false;
    const trap = ignored === '' ? '' : `trap '' ${ignored}`;
    const bin = await fake(name, `${trap}\necho ready\nwhile :; do sleep 0.05; done`);
    const onOutput = () => {
      isReady = true;
    };
    const started = spawnFfmpeg({
      program: await guard.start(bin, LIMITS, NOTHING),
      args: [],
      log,
      onOutput,
    });
    await waitFor(() => isReady, { message: 'the program runs' });
    const exit = await started.stop(name === 'willing' ? 20_000 : 3000);
    assert.equal(exit.signal, signal);
  });
}

test('sandbox: exit codes and signals are reported as without a sandbox', { skip }, async () => {
  for (const [script, expected] of [
    ['exit 3', { code: 3, signal: null }],
    ['kill -SEGV $$', { code: null, signal: 'SIGSEGV' }],
  ] as const) {
    const bin = await fake('ending', script);
    const { code, signal } = await spawnFfmpeg({
      program: await guard.start(bin, LIMITS, NOTHING),
      args: [],
      log,
    }).exited;
    assert.deepEqual({ code, signal }, expected);
  }
});

test('guard: a program that does not start in the sandbox is named', { skip }, async () => {
  const needed = join(dir, 'needed');
  await writeFile(needed, '');
  const bin = await fake('needs-more', `[ -r ${needed} ]`);
  assert.match((await createGuard([bin])).weakness ?? '', /needs-more does not start in the sandbox/);
  assert.equal((await createGuard(['ffmpeg', 'ffprobe', join(dir, 'absent')])).weakness, null);
});

test('guard: without bubblewrap it warns and still starts programs', async (t) => {
  const path = process.env.PATH;
  process.env.PATH = dir;
  t.after(() => {
    process.env.PATH = path;
  });
  const poor = await createGuard();
  assert.equal(poor.weakness, 'bubblewrap is not installed');
  assert.deepEqual(await poor.start('ffmpeg', LIMITS, NOTHING), { command: ['ffmpeg'], isSandboxed: false });
});
