import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { createPartner, type Partner } from '../test/harness/partner.ts';
import { type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';

const ROOT = join(import.meta.dirname, '..');
const PEER = join(ROOT, '.cache/peers/pocketsphinx/usr');
const PROGRAM = join(PEER, 'bin/pocketsphinx_continuous');
const MODEL = join(PEER, 'share/pocketsphinx/model/en-us');
const SPOKEN = join(PEER, 'share/pocketsphinx/test/data/librivox');
const skip = existsSync(PROGRAM)
  ? false
  : 'no speech engine for the tests; on Debian 12 type: node scripts/test-tools.mjs pocketsphinx';

const TRANSCRIBE_COMMAND = `sh ${join(ROOT, 'scripts/pocketsphinx.sh')} {input} {language} ${MODEL} ${PROGRAM}`;
/** Start of the second sentence. */
const SECOND_AT_SEC = 8;

let folder: string;
let platform: RunningPlatform;
let partner: Partner;

before(async () => {
  if (skip) return;
  folder = await mkdtemp(join(tmpdir(), 'marquee-spoken-'));
  const environment = { ROLES: 'api,worker', TRANSCRIBE_COMMAND };
  platform = await startPlatform({ dataDir: join(folder, 'data'), environment });
  partner = createPartner(platform);
});
after(async () => {
  if (skip) return;
  await platform?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Uploads two sentences read from a book, with silence between them. @returns the ID of the video. */
async function uploadSpoken(): Promise<string> {
  const path = join(folder, 'spoken.mp4');
  const [first, second] = ['0880', '0930'].map((number) => [
    '-i',
    join(SPOKEN, `sense_and_sensibility_01_austen_64kb-${number}.wav`),
  ]);
  const delayed = `[2:a]adelay=${SECOND_AT_SEC * 1000}[late]`;
  await promisify(execFile)('ffmpeg', [
    ...['-v', 'error', '-f', 'lavfi', '-i', 'testsrc2=s=320x180:r=10', ...(first ?? []), ...(second ?? [])],
    ...['-filter_complex', `${delayed};[1:a][late]amix=2:normalize=0,aresample=48000[a]`],
    ...['-map', '0:v', '-map', '[a]', '-t', '12', '-c:v', 'libx264', '-preset', 'ultrafast'],
    ...['-pix_fmt', 'yuv420p', '-c:a', 'aac', '-b:a', '128k', path],
  ]);
  const bytes = await readFile(path);
  const { videoId, uploadUrl } = await partner.createUpload({
    filename: 'spoken.mp4',
    sizeBytes: bytes.length,
  });
  assert.ok((await fetch(uploadUrl, { method: 'PUT', body: new Uint8Array(bytes) })).ok);
  await partner.videoWhen(videoId, ({ status }) => status === 'READY', 60_000);
  return videoId;
}

async function transcribed(videoId: string, body: object) {
  await partner.call('POST', `/videos/${videoId}/captions/auto`, body);
  return waitFor(
    async () => {
      const { data } = await partner.call('GET', `/videos/${videoId}/captions/auto`);
      return Object(data).endedAt !== null && Object(data);
    },
    { timeoutMs: 60_000, intervalMs: 200, message: 'the end of a transcription' },
  );
}

/** Returns times in seconds and texts. */
function cuesOf(text: string): { from: number; to: number; said: string }[] {
  const seconds = (stamp: string) => stamp.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return [...text.matchAll(/^(\S+) --> (\S+)\n([\s\S]*?)(?=\n\n|\n?$(?![\s\S]))/gm)].map(
    ([, from = '', to = '', said = '']) => ({ from: seconds(from), to: seconds(to), said }),
  );
}

test('a real engine in the sandbox transcribes the speech of a video with its times', {
  skip,
}, async () => {
  const videoId = await uploadSpoken();
  const { data: health } = await partner.call('GET', '/health/ready').catch(() => ({ data: null }));
  assert.ok(!JSON.stringify(health).includes('SANDBOX'));
  const done = await transcribed(videoId, {});
  assert.deepEqual([done.status, done.language, done.error], ['READY', 'en-US', null]);

  const { data: captions } = await partner.call('GET', `/videos/${videoId}/captions`);
  const [caption, ...others] = Array.isArray(captions) ? captions : [];
  assert.deepEqual([caption.language, caption.isAuto, others], ['en-US', true, []]);
  const answer = await fetch(caption.url);
  assert.equal(answer.headers.get('content-type'), 'text/vtt; charset=utf-8');
  const cues = cuesOf(await answer.text());
  const words = (from: number, to: number) =>
    cues
      .filter((cue) => cue.from >= from && cue.to <= to)
      .map(({ said }) => said)
      .join(' ');
  // A recording of 2010 and a small model: only some of the words are recognized, in their places.
  assert.match(words(0, 4), /young man/);
  assert.match(words(SECOND_AT_SEC, 12), /himself/);
  assert.equal(words(0, 12).split(/\s+/).length, cues.flatMap(({ said }) => said.split(/\s+/)).length);

  const { data: events } = await partner.call('GET', '/me/events?type=video.caption.ready');
  assert.deepEqual(
    (Array.isArray(events) ? events : []).map(({ data }) => [data.videoId, data.language, data.isAuto]),
    [[videoId, 'en-US', true]],
  );

  const other = await transcribed(videoId, { language: 'de' });
  assert.deepEqual([other.status, other.error], ['FAILED', 'The speech engine failed.']);
});
