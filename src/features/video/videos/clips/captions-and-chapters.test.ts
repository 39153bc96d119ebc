import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../../test/harness/app.ts';
import type { TestAccount } from '../../../../../test/harness/factories.ts';
import { jobWorker } from '../../../../../test/harness/modules.ts';
import { insertReadyVideo, videoEvents } from '../../../../../test/harness/videos.ts';
import { make, pictures } from '../../../../../test/transcode/sources.ts';
import { newId } from '../../../../kernel/ids.ts';

let app: TestApp;
let key: string;
let account: TestAccount;
before(async () => {
  app = await startTestApp();
  ({ key, account } = await app.createKey());
});
after(() => app.close());

const CHAPTERS = [
  { startSec: 0, title: 'Opening' },
  { startSec: 1, title: 'Middle' },
  { startSec: 2.5, title: 'Late' },
  { startSec: 3.5, title: 'End' },
];
const TEXT = `WEBVTT

00:00.000 --> 00:01.000
Before

00:01.000 --> 00:02.000
Over the beginning

00:02.500 --> 00:03.500
Over the end

00:03.500 --> 00:04.000
After
`;

test('a clip has the captions and chapters of its range of the video', async () => {
  const { store, db, config, sql } = app.container;
  await mkdir(config.DATA_DIR, { recursive: true });
  const film = await make(config.DATA_DIR, ...pictures('64x36', 10, 4), '-c:v', 'mpeg4', 'film.mp4');
  const original_key = `w/${account.live}/v/film/original/${newId('upl')}`;
  await store.putFile(original_key, film, 'video/mp4');
  const chapters = JSON.stringify(CHAPTERS);
  const id = await insertReadyVideo(db, account.live, { original_key, duration_sec: 4, chapters });
  for (const [language, content] of [
    ['en', TEXT],
    ['de', TEXT],
    ['fr', 'WEBVTT\n\n00:00.000 --> 00:01.000\nAvant\n'],
  ]) {
    const body = { language, content };
    (await app.request('POST', `/videos/${id}/captions`, { key, body })).assertOk(201);
  }
  const piece = { startSec: 1.5, endSec: 3, title: 'A piece' };
  const clip = (await app.request('POST', `/videos/${id}/clips`, { key, body: piece })).assertOk(201);
  const clipId = clip.string('data.id');
  const own = { language: 'de', content: 'WEBVTT\n\n00:00.000 --> 00:01.000\nEigenes\n' };
  (await app.request('POST', `/videos/${clipId}/captions`, { key, body: own })).assertOk(201);

  const [job] = await sql`select payload from job where name = 'video.clip' and singleton_key = ${clipId}`;
  await jobWorker(app.container, 'video.clip').run({
    ...{ id: newId('rec'), payload: job?.payload, attempt: 1, isLast: true, lost: 0 },
    signal: new AbortController().signal,
    confirm: async () => {},
  });

  const video = (await app.request('GET', `/videos/${clipId}`, { key })).assertOk(200);
  assert.deepEqual(video.at('data.chapters'), [
    { startSec: 0, title: 'Middle' },
    { startSec: 1, title: 'Late' },
  ]);
  const captions = video.list('data.captions').map((one): { language: string; url: string } => Object(one));
  assert.deepEqual(captions.map(({ language }) => language).sort(), ['de', 'en']);
  const texts = new Map<string, string>();
  for (const { language, url } of captions) {
    const file = url.split('/').at(-1);
    const text = await store.read(`w/${account.live}/v/${clipId}/captions/${file}`);
    texts.set(language, String(text));
  }
  assert.match(texts.get('de') ?? '', /Eigenes/);
  assert.equal(
    texts.get('en'),
    'WEBVTT\n\n00:00:00.000 --> 00:00:00.500\nOver the beginning\n\n00:00:01.000 --> 00:00:01.500\nOver the end\n',
  );
  const told = (await videoEvents(db, clipId)).filter(({ type }) => type === 'video.caption.ready');
  assert.deepEqual(
    told.map(({ data }) => data.language),
    ['de', 'en'],
  );
});
