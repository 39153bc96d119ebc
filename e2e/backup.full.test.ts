import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { makeClip } from '../test/harness/clip.ts';
import { type HttpsSink, startHttpsSink } from '../test/harness/https-sink.ts';
import { createPartner, type Partner } from '../test/harness/partner.ts';
import { freePort, type RunningPlatform, serverProgram, startPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';

const PART = 100_000;

let folder: string;
let dataDir: string;
let to: string;
let sink: HttpsSink;
let platform: RunningPlatform | null = null;
let partner: Partner;
let clip: Buffer;
let ports: { port: number; rtmpPort: number };
let environment: Record<string, string>;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'marquee-lost-'));
  [dataDir, to] = [join(folder, 'data'), join(folder, 'backups')];
  sink = await startHttpsSink();
  ports = { port: await freePort(), rtmpPort: await freePort() };
  environment = {
    WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8',
    NODE_EXTRA_CA_CERTS: sink.ca.file,
    ROOMS_ENGINE: 'mesh',
  };
  await makeClip(join(folder, 'clip.mp4'), { seconds: 4, width: 320, height: 180 });
  clip = await readFile(join(folder, 'clip.mp4'));
  await start();
});
after(async () => {
  await platform?.stop();
  await sink?.close();
  await rm(folder, { recursive: true, force: true });
});

async function start(): Promise<RunningPlatform> {
  // The restored database must not be replaced by the one of the tests.
  platform = await startPlatform({ dataDir, environment, ...ports });
  partner = createPartner(platform);
  return platform;
}

interface Command {
  child: ChildProcess;
  /** Null where it was killed. */
  ended: Promise<{ code: number | null; output: string }>;
}

function marquee(...args: string[]): Command {
  const program = ['--disable-warning=ExperimentalWarning', serverProgram('cli'), ...args];
  const child = spawn(process.execPath, program, {
    cwd: join(import.meta.dirname, '..'),
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment, DATA_DIR: dataDir },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      output += String(text);
    });
  }
  const ended = new Promise<{ code: number | null; output: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, output }));
  });
  return { child, ended };
}

async function done(...args: string[]): Promise<string> {
  const { code, output } = await marquee(...args).ended;
  assert.equal(code, 0, output);
  return output;
}

async function refused(message: RegExp, ...args: string[]): Promise<void> {
  const { code, output } = await marquee(...args).ended;
  assert.equal(code, 1, output);
  assert.match(output, message);
}

/** Kills the command once it has reached this point. @throws when it has exited before. */
async function killWhen(command: Command, path: string, message: string): Promise<void> {
  const isThere = () =>
    readdir(path).then(
      (names) => names.length > 0,
      () => false,
    );
  await waitFor(isThere, { timeoutMs: 60_000, intervalMs: 5, message });
  command.child.kill('SIGKILL');
  assert.equal((await command.ended).code, null, 'it had ended before');
}

async function upload(): Promise<string> {
  const session = await partner.createUpload({ filename: 'clip.mp4', sizeBytes: clip.length });
  const answer = await fetch(session.uploadUrl, { method: 'PUT', body: new Uint8Array(clip) });
  assert.ok(answer.ok);
  return session.videoId;
}

async function segmentOf(playbackUrl: string): Promise<number> {
  const lines = async (url: string) =>
    (await (await fetch(url)).text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const [rung = ''] = await lines(playbackUrl);
  const playlist = new URL(rung, playbackUrl).href;
  const [segment = ''] = await lines(playlist);
  return (await (await fetch(new URL(segment, playlist))).arrayBuffer()).byteLength;
}

test('a data folder lost under load is restored with all data acknowledged before the backup', async () => {
  assert.ok(platform !== null);
  await partner.createWebhook(`${sink.url}/hook`, ['stream.created']);
  const videoId = await upload();
  const video = await partner.videoWhen(videoId, ({ status }) => status === 'READY', 120_000);
  const bytes = await segmentOf(video.playbackUrl ?? '');
  const half = await partner.createUpload({ filename: 'half.mp4', sizeBytes: clip.length });
  const tus = { 'tus-resumable': '1.0.0', 'content-type': 'application/offset+octet-stream' };
  const part = await fetch(half.uploadUrl, {
    method: 'PATCH',
    headers: { ...tus, 'upload-offset': '0' },
    body: new Uint8Array(clip.subarray(0, PART)),
  });
  assert.equal(part.status, 204);

  const acknowledged: string[] = [];
  let isOver = false;
  const load = Promise.all(
    [1, 2].map(async () => {
      while (!isOver) acknowledged.push((await partner.createStream()).id);
    }),
  );
  await waitFor(() => acknowledged.length >= 20, { timeoutMs: 30_000 });
  await killWhen(marquee('backup', '--to', to), join(to, 'media'), 'the backup has begun');
  await refused(/no complete backup found/, 'backup', 'verify', '--from', to);
  const before = [...acknowledged];
  await done('backup', '--to', to);
  isOver = true;
  await load;
  assert.match(await done('backup', 'verify', '--from', to), /is complete/);
  assert.equal((await readdir(join(to, 'backups'))).length, 1, 'what was broken off is gone');
  await refused(/another Marquee process already runs/, 'restore', '--from', to);

  await platform.stop();
  await copyFile(join(dataDir, 'secret.key'), join(folder, 'secret.key'));
  await rm(dataDir, { recursive: true });
  await mkdir(dataDir);
  await refused(/secret key not found/, 'restore', '--from', to);
  await copyFile(join(folder, 'secret.key'), join(dataDir, 'secret.key'));
  await killWhen(marquee('restore', '--from', to), join(dataDir, 'media', 'w'), 'media come back');
  await assert.rejects(start(), /interrupted: run marquee restore again/);
  await done('restore', '--from', to);
  await refused(/the database is not empty/, 'restore', '--from', to);

  await start();
  for (const id of before) assert.equal((await partner.stream(id)).id, id);
  const restored = await partner.video(videoId);
  assert.equal(await segmentOf(restored.playbackUrl ?? ''), bytes);
  const rest = await fetch(half.uploadUrl, { method: 'HEAD', headers: tus });
  assert.equal(rest.headers.get('upload-offset'), String(PART));
  const { id } = await partner.createStream();
  const arrived = () => sink.requests.some(({ rawBody }) => String(rawBody).includes(id));
  await waitFor(arrived, { timeoutMs: 30_000, message: 'a webhook of the restored platform' });
});
