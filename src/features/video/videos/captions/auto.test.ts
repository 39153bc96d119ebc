import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../../test/harness/app.ts';
import type { TestAccount } from '../../../../../test/harness/factories.ts';
import { jobWorker } from '../../../../../test/harness/modules.ts';
import { insertReadyVideo, videoEvents } from '../../../../../test/harness/videos.ts';
import { waitFor } from '../../../../../test/harness/wait-for.ts';
import { addVideo, encodedFiles, type VideoFixture } from '../../../../../test/videos/fixture.ts';
import { type JobWorkers, startJobWorkers } from '../../../../jobs/worker.ts';
import { newId } from '../../../../kernel/ids.ts';

/** Responds according to the requested language, as engines do in different ways. */
const ENGINE = `
[ "$(head -c 4 "$1")" = RIFF ] || exit 9
[ "$(wc -c < "$1")" -gt 380000 ] || exit 8
case "$2" in
  auto) echo '{"result":{"language":"de"},"transcription":[{"offsets":{"from":0,"to":2500},"text":" Guten <Abend>"}]}';;
  en) printf 'WEBVTT\\n\\n00:01.000 --> 00:01.000\\nOh\\n\\n00:01.000 --> 00:02.000\\nGood evening\\n';;
  pt) printf '{"transcription":[{"offsets":{"from":100,"to":900},"text":"Boa noite"}]}' > "$3.json"; echo noise;;
  nl) printf 'WEBVTT\\n\\n';;
  it) echo buona sera;;
  ja) sleep 300;;
  *) exit 1;;
esac
`;

let app: TestApp;
let key: string;
let account: TestAccount;
let dir: string;
let files: VideoFixture;
let workers: JobWorkers;

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'marquee-engine-'));
  const engine = join(dir, 'engine.sh');
  await writeFile(engine, ENGINE);
  const env = { TRANSCRIBE_COMMAND: `sh "${engine}" {input} {language} {output}` };
  [app, files] = await Promise.all([startTestApp({ env }), encodedFiles()]);
  ({ key, account } = await app.createKey());
  startWorkers();
});
function startWorkers(): void {
  const { container } = app;
  workers = startJobWorkers({ ...container, workers: [jobWorker(container, 'video.transcribe')] });
}
after(async () => {
  await workers?.stop();
  await app.close();
  await rm(dir, { recursive: true, force: true });
});

const path = (id: string) => `/videos/${id}/captions/auto`;
const ask = (id: string, body: object = {}) => app.request('POST', path(id), { key, body });
const add = () => addVideo(app.container, account, files);
const captions = async (id: string) =>
  (await app.request('GET', `/videos/${id}/captions`, { key })).assertOk(200).list('data').map(Object);

async function made(id: string, body: object = {}) {
  (await ask(id, body)).assertOk(201);
  return waitFor(
    async () => {
      const answer = (await app.request('GET', path(id), { key })).assertOk(200);
      return answer.at('data.endedAt') === null ? undefined : answer;
    },
    { timeoutMs: 20_000, message: 'the end of a transcription' },
  );
}

test('speech becomes captions in the detected language', async () => {
  const id = await add();
  const done = await made(id);
  assert.deepEqual([done.at('data.status'), done.at('data.language')], ['READY', 'de']);
  const [caption] = await captions(id);
  const { url, ...rest } = caption;
  assert.deepEqual(rest, { language: 'de', label: 'Deutsch (auto)', isAuto: true, isDefault: false });
  const served = await fetch(url.replace('http://marquee.test', app.url));
  assert.equal(await served.text(), 'WEBVTT\n\n00:00:00.000 --> 00:00:02.500\nGuten &lt;Abend&gt;\n');
  const told = (await videoEvents(app.container.db, id)).find(({ type }) => type === 'video.caption.ready');
  assert.deepEqual([told?.data.language, told?.data.isAuto], ['de', true]);

  (await made(id)).assertOk(200);
  assert.equal((await captions(id)).length, 1, 'again: instead of the ones before');
  // One English cue has no duration.
  for (const language of ['pt-BR', 'en']) {
    assert.equal((await made(id, { language })).at('data.status'), 'READY', language);
  }
  assert.deepEqual((await captions(id)).map(({ language }) => language).sort(), ['de', 'en', 'pt-BR']);
});

test('captions of the owner are never replaced', async () => {
  const id = await add();
  const own = { content: 'WEBVTT\n\n00:01.000 --> 00:02.000\nBy hand\n' };
  const send = (language: string) =>
    app.request('POST', `/videos/${id}/captions`, { key, body: { language, ...own } });
  (await send('en')).assertOk(201);
  (await ask(id, { language: 'en' })).assertError('CONFLICT', 'language');
  (await send('de')).assertOk(201);
  const done = await made(id);
  assert.deepEqual(
    [done.at('data.status'), (await captions(id)).some(({ isAuto }) => isAuto)],
    ['FAILED', false],
  );
  assert.match(done.string('data.error'), /uploaded captions in de/);
});

for (const [language, error] of [
  ['nl', /No speech was detected/],
  ['it', /neither WebVTT nor/],
  ['fr', /engine failed/],
] as const) {
  test(`an engine failure is reported with a message: ${error.source}`, async () => {
    const id = await add();
    const done = await made(id, { language });
    assert.equal(done.at('data.status'), 'FAILED');
    assert.match(done.string('data.error'), error);
    assert.deepEqual(await captions(id), []);
  });
}

test('a video has captions in at most a hundred languages, uploaded and automatic ones together', async () => {
  const { db } = app.container;
  const id = await add();
  const rows = Array.from({ length: 100 }, (_, index) => {
    const language = `en-x-${index}`;
    return { id: newId('cap'), video_id: id, language, label: language, file: 'none.vtt' };
  });
  await db.insertInto('video_caption').values(rows).execute();
  const done = await made(id);
  assert.match(done.string('data.error'), /Limit of 100 caption languages/);
  assert.equal((await captions(id)).length, 100);
});

test('an engine that repeatedly kills its process is not started again', async () => {
  const id = await add();
  await workers.stop();
  (await ask(id)).assertOk(201);
  await jobWorker(app.container, 'video.transcribe').run({
    ...{ id: newId('rec'), payload: { videoId: id }, attempt: 1, isLast: false, lost: 10 },
    signal: new AbortController().signal,
    confirm: async () => {},
  });
  assert.equal((await app.request('GET', path(id), { key })).at('data.status'), 'FAILED');
  await app.container.sql`delete from job where name = 'video.transcribe'`;
  startWorkers();
});

test('the engine stops when the video is deleted', async () => {
  const id = await add();
  (await ask(id, { language: 'ja' })).assertOk(201);
  const status = async () => (await app.request('GET', path(id), { key })).at('data.status');
  await waitFor(async () => (await status()) === 'PROCESSING', { message: 'the engine' });
  (await app.request('DELETE', `/videos/${id}`, { key })).assertOk(200);
  assert.equal((await made(await add())).at('data.status'), 'READY', 'the next one does not wait for it');
});

test('videos that cannot be transcribed are rejected', async () => {
  (await ask(await insertReadyVideo(app.container.db, account.live))).assertError('CONFLICT');
  const id = await add();
  const none = {
    isAvailable: true,
    status: null,
    language: null,
    error: null,
    requestedAt: null,
    endedAt: null,
  };
  assert.deepEqual((await app.request('GET', path(id), { key })).assertOk(200).at('data'), none);
  (await ask(id, { language: 'no language' })).assertError('BAD_REQUEST', 'language');
  await app.container.db.updateTable('video').set({ status: 'PROCESSING' }).where('id', '=', id).execute();
  (await ask(id)).assertError('CONFLICT', 'status');
});
