import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { makeClip } from '../harness/clip.ts';
import {
  assertAccessibleInBothSchemes,
  type MediaPlatform,
  startMediaPlatform,
} from '../harness/dashboard.ts';
import { waitFor } from '../harness/wait-for.ts';

const TITLE = `${'ليلة الجمعة '.repeat(7)}${'星期五晚上'.repeat(12)} ${'🎬🎉'.repeat(6)} A night at the opera`;
const SLOW = { timeout: 120_000 };
/** Slow enough for a reload during the upload. */
const SLOW_BYTES_PER_SEC = 100_000;

const run = promisify(execFile);
/** Speech engine that returns the same transcript for everything. */
const ENGINE = `
sleep 1
echo '{"result":{"language":"de"},"transcription":[{"offsets":{"from":0,"to":2500},"text":"Guten Abend"}]}'
`;

let media: MediaPlatform;
let folder: string;
let clip: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'marquee-videos-'));
  clip = join(folder, 'Opening night.mp4');
  const [single, engine] = [join(folder, 'single.mp4'), join(folder, 'engine.sh')];
  await writeFile(engine, ENGINE);
  [media] = await Promise.all([
    startMediaPlatform({ ROLES: 'api,worker', TRANSCRIBE_COMMAND: `sh "${engine}" {input}` }),
    makeClip(single, { seconds: 4, width: 640, height: 360, bitrateKbps: 1500 }),
  ]);
  // The second video track is dropped.
  const tracks = ['-map', '0:v', '-map', '0:a', '-map', '0:v', '-c', 'copy'];
  await run('ffmpeg', ['-v', 'error', '-i', single, ...tracks, clip]);
});
after(async () => {
  await media?.close();
  await rm(folder, { recursive: true, force: true });
});

/** @returns sets how many bytes a second the page may send. */
async function throttle(page: Page): Promise<(bytesPerSec: number) => Promise<void>> {
  const session = await page.context().newCDPSession(page);
  return async (uploadThroughput) => {
    const conditions = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput };
    await session.send('Network.emulateNetworkConditions', conditions);
  };
}

async function chooseFile(page: Page, button: RegExp, path: string): Promise<void> {
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('button', { name: button }).first().click(),
  ]);
  await chooser.setFiles(path);
}

/** Percent of the upload that is shown. */
async function percentOf(page: Page): Promise<number> {
  const bar = page.getByRole('progressbar', { name: 'Upload of Opening night.mp4' });
  return Number(await bar.getAttribute('aria-valuenow', SLOW));
}

/** Requests captions, and waits until they are shown. */
async function transcribes(page: Page): Promise<void> {
  const captions = page.getByRole('region', { name: 'Captions' });
  await captions.getByText('No captions yet.').waitFor(SLOW);
  await captions.getByRole('button', { name: 'Generate captions' }).click();
  await captions.getByText(/^(Caption generation is queued|Generating captions)/).waitFor(SLOW);
  await captions.getByText('Captions generated: German.').waitFor(SLOW);
  await captions.getByRole('listitem').getByText('Deutsch (auto)').waitFor(SLOW);
}

/** The files that a browser saves can be played. */
async function downloads(page: Page): Promise<void> {
  const panel = page.getByRole('region', { name: 'Download' });
  for (const button of ['Original', '360p']) {
    const [saved] = await Promise.all([
      page.waitForEvent('download', SLOW),
      panel.getByRole('button', { name: button, exact: true }).click(),
    ]);
    assert.match(saved.suggestedFilename(), /^.{20,124}\.mp4$/u);
    const path = join(folder, `${button}.mp4`);
    await saved.saveAs(path);
    const shown = ['-show_entries', 'stream=codec_name', '-of', 'csv=p=0'];
    const { stdout, stderr } = await run('ffprobe', ['-v', 'error', '-count_frames', ...shown, path]);
    assert.deepEqual([stdout.trim().split('\n').slice(0, 2), stderr], [['h264', 'aac'], '']);
  }
}

test('an upload resumes after a reload, is described, published, and watched', async (t) => {
  assert.ok(TITLE.length <= 200 && TITLE.length > 180);
  await media.visit('/videos', async (page) => {
    const guards: string[] = [];
    page.on('dialog', (dialog) => {
      guards.push(dialog.type());
      void dialog.accept();
    });
    await page.getByRole('heading', { name: 'No videos yet' }).waitFor(SLOW);
    const slowDown = await throttle(page);
    await slowDown(SLOW_BYTES_PER_SEC);
    await chooseFile(page, /^Upload videos/, clip);
    await waitFor(async () => (await percentOf(page)) > 5, { timeoutMs: 30_000, message: 'progress' });
    await page.getByText(/per second/).waitFor(SLOW);
    await page.getByRole('button', { name: 'Pause Opening night.mp4' }).click();
    await page.getByText('Paused', { exact: true }).waitFor(SLOW);

    await page.reload();
    assert.deepEqual(guards, ['beforeunload'], 'leaving is asked about');
    const unfinished = page.getByRole('region', { name: 'Incomplete uploads' });
    await unfinished.getByRole('link', { name: 'Opening night.mp4' }).waitFor(SLOW);
    await assertAccessibleInBothSchemes(page, 'the list with an unfinished upload');
    await slowDown(-1);
    const before = await media.call('GET', '/upload');
    await chooseFile(page, /^Upload videos/, clip);
    await page.getByText('Uploaded; the video is being processed').waitFor(SLOW);
    const after = await media.call('GET', '/upload');
    assert.deepEqual([Object.keys(before).length, Object.keys(after).length], [1, 1], 'one session in all');
    assert.equal(Object(after[0]).status, 'COMPLETED');

    await page.getByRole('link', { name: 'Open the video' }).click();
    await page.getByRole('heading', { level: 1, name: 'Opening night' }).waitFor(SLOW);
    await page.getByLabel('Title').fill(TITLE);
    await page.getByRole('combobox', { name: 'Tags' }).fill('opera');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Save details' }).click();
    await page.getByRole('heading', { level: 1, name: TITLE }).waitFor(SLOW);
    await page.getByText('All renditions are ready.').waitFor(SLOW);
    await page.getByRole('table', { name: 'Renditions' }).getByText('360p').waitFor(SLOW);
    await page.frameLocator('iframe').locator('marquee-player').waitFor(SLOW);
    await page.getByText(/^Video\. Track 3 was omitted/).waitFor(SLOW);
    await transcribes(page);
    await downloads(page);

    const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    assert.equal((await fetch(`${media.platform.url}/watch/${id}`)).status, 404, 'a draft is private');
    await page.getByRole('button', { name: 'Publish now' }).click();
    await page.getByText('Anyone with access can watch at the link below.').waitFor(SLOW);
    await assertAccessibleInBothSchemes(page, 'the page of a video');

    const clips = page.getByRole('region', { name: 'Clip' });
    await clips.getByLabel('Start (seconds)').fill('1.5');
    await clips.getByLabel('End (seconds)').fill('3');
    await clips.getByLabel('Clip title').fill('The overture');
    await clips.getByRole('button', { name: 'Create clip' }).click();
    await clips.getByRole('link', { name: 'Open clip' }).waitFor(SLOW);

    const { uploadId: former } = await media.call('GET', `/videos/${id}`);
    const replacing = page.getByRole('region', { name: 'Replace the file' });
    const choose = async (file: { name: string; buffer: Buffer }) => {
      const [chooser] = await Promise.all([
        page.waitForEvent('filechooser'),
        replacing.getByRole('button', { name: 'Choose a file' }).click(),
      ]);
      await chooser.setFiles({ ...file, mimeType: 'video/mp4' });
    };
    await choose({ name: 'notes.mp4', buffer: Buffer.from('these are no pictures') });
    await replacing.getByText('The new file could not be processed. The video is unchanged.').waitFor(SLOW);
    await replacing.getByText('UNSUPPORTED_FORMAT').waitFor();
    await replacing.getByRole('textbox', { name: /^Or its URL/ }).fill('https://127.0.0.1/film.mp4');
    await replacing.getByRole('button', { name: 'Import' }).click();
    await replacing.getByText(/^Cannot fetch from this URL/).waitFor(SLOW);
    await replacing.getByRole('textbox', { name: /^Or its URL/ }).fill('');
    await choose({ name: 'better.mp4', buffer: await readFile(clip) });
    await replacing.getByRole('button', { name: 'Cancel the replacement' }).waitFor(SLOW);
    const uploaded = async () => {
      const video = await media.call('GET', `/videos/${id}`);
      return video.replacement === null && video.uploadId !== former;
    };
    await waitFor(uploaded, { timeoutMs: 60_000, message: 'the other file' });
    await replacing.getByRole('button', { name: 'Choose a file' }).waitFor(SLOW);

    const viewer = await media.watch(
      await page.getByRole('textbox', { name: 'Share link' }).inputValue().then(pathOf),
    );
    t.after(() => viewer.close());
    await viewer.page.getByRole('heading', { name: TITLE }).waitFor(SLOW);
    await viewer.page.locator('video').waitFor({ state: 'attached', ...SLOW });
    await viewer.page.evaluate('document.querySelector("video").play()');
    const second = 'document.querySelector("video").currentTime > 0.2';
    await waitFor(() => viewer.page.evaluate<boolean>(second), { timeoutMs: 30_000, message: 'a picture' });
  });
});

function pathOf(url: string): string {
  return new URL(url).pathname;
}

test('several videos are hidden and deleted together, and a broken file shows a remedy', async () => {
  const make = (title: string) => media.call('POST', '/videos', { title, visibility: 'PUBLIC' });
  await Promise.all([make('First draft'), make('Second draft')]);
  await media.visit('/videos?q=draft', async (page) => {
    await page.getByRole('checkbox', { name: 'Select First draft' }).waitFor(SLOW);
    assert.equal(await page.getByRole('link', { name: TITLE }).count(), 0, 'the search is in the address');
    await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
    await page.getByText('2 selected').waitFor();
    await page.getByRole('button', { name: 'Make private' }).click();
    await page.getByText('Nothing selected').waitFor(SLOW);
    const { id } = Object(Object.values(await media.call('GET', '/videos?q=First'))[0]);
    assert.equal((await media.call('GET', `/videos/${id}`)).visibility, 'PRIVATE');

    await page.getByRole('checkbox', { name: 'Select First draft' }).check();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete 1 video?' });
    await dialog.getByText('within 30 days').waitFor();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    const list = page.getByRole('table', { name: 'Videos' });
    await list.getByRole('link', { name: 'First draft' }).waitFor({ state: 'detached', ...SLOW });

    const broken = { name: 'notes.mp4', mimeType: 'video/mp4', buffer: Buffer.from('these are no pictures') };
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      page.getByRole('button', { name: 'Upload videos' }).first().click(),
    ]);
    await chooser.setFiles(broken);
    await page.getByRole('link', { name: 'Open the video' }).click(SLOW);
    await page.getByText('Unsupported file format').waitFor(SLOW);
    await page.getByText('UNSUPPORTED_FORMAT').waitFor();
  });
});
