import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { launchBrowser, type TestBrowser, type WatchedPage } from '../test/harness/browser.ts';
import { createPartner } from '../test/harness/partner.ts';
import { type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { childrenOf, singleItem } from '../test/harness/processes.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { waitForPlayback as moves, PLAYBACK_MONITOR } from '../test/live/playback-monitor.ts';
import { keepPublishing, type ReconnectingPublisher } from '../test/rtmp/reconnecting-publisher.ts';

let dir: string;
let browser: TestBrowser;
let platform: RunningPlatform;
let watching: WatchedPage;
let encoder: ReconnectingPublisher;
let streamId: string;

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'marquee-live-faults-'));
  browser = await launchBrowser();
  await start();
  const stream = await createPartner(platform).createStream({ latencyMode: 'LOW' });
  streamId = stream.id;
  await createPartner(platform).start(streamId);
  const address = { port: platform.rtmpPort, key: stream.streamKey };
  encoder = keepPublishing(address, { width: 640, height: 480, fps: 15 });
  watching = await browser.open(`${platform.url}/watch/${streamId}`, { initScript: PLAYBACK_MONITOR });
  await plays(20);
});
after(async () => {
  await watching?.close();
  await encoder?.stop();
  await browser?.close();
  await platform?.stop();
  await rm(dir, { recursive: true, force: true });
});

/** Starts the platform on the data and ports of the previous one, if there was one. */
async function start(): Promise<void> {
  const ports = platform === undefined ? {} : { port: platform.port, rtmpPort: platform.rtmpPort };
  const environment = { SIGNAL_GRACE_MS: '30000' };
  platform = await startPlatform({ environment, dataDir: join(dir, 'data'), ...ports });
}

const plays = (more: number) => moves(watching.page, more);

test('a player waiting for the next part continues after the packager, the media process or the program is killed', async (t) => {
  await t.test('the packager', async () => {
    const media = singleItem(childrenOf(platform.process.pid ?? -1, '/media.'));
    process.kill(singleItem(childrenOf(media, 'pipe:4')), 'SIGKILL');
    await plays(50);
  });
  await t.test('the media process', async () => {
    process.kill(singleItem(childrenOf(platform.process.pid ?? -1, '/media.')), 'SIGKILL');
    await plays(50);
  });
  await t.test('the program', async () => {
    platform.process.kill('SIGKILL');
    await waitFor(() => platform.process.signalCode !== null);
    await start();
    await plays(50);
  });
  const status = await createPartner(platform).stream(streamId);
  assert.equal(status.isLive, true);
  assert.ok(await watching.page.evaluate<boolean>('moved >= 170'), 'it is the page that was opened first');
});

/** Takes a quality by its lines, as the menu does. */
const choose = (lines: number) =>
  watching.page.evaluate(`(() => {
    const { videoRenditions } = document.querySelector('video');
    videoRenditions.selectedIndex = [...videoRenditions].findIndex(({ height }) => height === ${lines});
  })()`);

async function shows(lines: number): Promise<void> {
  const height = () => watching.page.evaluate<number>('document.querySelector("video").videoHeight');
  let now = 0;
  const isShown = async () => {
    now = await height();
    return now === lines;
  };
  await waitFor(isShown, { timeoutMs: 60_000, message: () => `a picture of ${lines} lines, not ${now}` });
}

/** Returns the process ID of the ffmpeg for the lower rendition, even if it runs in a sandbox. */
function scaler(): number {
  let pid = singleItem(childrenOf(platform.process.pid ?? -1, '/media.'));
  for (let below = childrenOf(pid, 'pipe:4'); below.length > 0; below = childrenOf(pid, 'pipe:4'))
    pid = singleItem(below);
  return pid;
}

test('a viewer of a stalled lower rendition sees the source until it recovers, without a reload', async () => {
  await watching.page.evaluate('window.isSamePage = true');
  await choose(360);
  await shows(360);
  process.kill(scaler(), 'SIGSTOP');
  await shows(480);
  await plays(20);
  await shows(360);
  await plays(50);
  assert.equal(await watching.page.evaluate('window.isSamePage'), true);
});
