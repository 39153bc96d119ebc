import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, type TestContext, test } from 'node:test';
import type { TestBrowser } from '../test/harness/browser.ts';
import { startObs, whipObsUnavailableReason } from '../test/harness/obs.ts';
import type { Partner } from '../test/harness/partner.ts';
import type { RunningPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { CURRENT_FFMPEG, NO_CURRENT_FFMPEG } from '../test/live/current-ffmpeg.ts';
import { type Received, WHEP_CLIENT, type WhepAnswer } from '../test/live/whep-client.ts';
import { NO_JANUS } from '../test/rooms/janus.ts';
import { startJanusPlatform } from '../test/rooms/janus-platform.ts';

const PATIENT = { timeoutMs: 30_000, intervalMs: 100 };
/** Long enough to distinguish a signal that waits for its encoder from one that has ended. */
const GRACE_MS = 60_000;
const ENDING_MS = 10_000;
const RECORDED_SEC = 8;
const LACKS: Readonly<Record<'OBS' | 'ffmpeg', string | false>> = {
  OBS: NO_JANUS || (whipObsUnavailableReason() ?? false),
  ffmpeg: NO_JANUS || NO_CURRENT_FFMPEG,
};

/** Publishing encoder. */
interface Client {
  stop(): Promise<void>;
  startAgain(): Promise<void>;
  close(): Promise<void>;
}

let platform: RunningPlatform;
let browser: TestBrowser;
let partner: Partner;
let close = async () => {};
before(async () => {
  if (NO_JANUS !== false) return;
  const environment = { SIGNAL_GRACE_MS: String(GRACE_MS) };
  ({ platform, browser, partner, close } = await startJanusPlatform('21500-21599', environment));
});
after(() => close());

async function obs(server: string, bearer_token: string): Promise<Client> {
  const running = await startObs({ type: 'whip_custom', server, bearer_token });
  return {
    stop: () => running.press('StopStream'),
    startAgain: () => running.press('StartStream'),
    close: () => running.close(),
  };
}

/** It ends by the protocol when it is asked to stop. */
async function ffmpeg(server: string, streamKey: string): Promise<Client> {
  const picture = ['-re', '-f', 'lavfi', '-i', 'testsrc2=size=640x360:rate=30'];
  const sound = ['-re', '-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000'];
  const coded =
    '-c:v libx264 -preset ultrafast -tune zerolatency -pix_fmt yuv420p -bf 0 -g 60 -b:v 1200k -c:a libopus -ac 2';
  const target = ['-f', 'whip', '-authorization', streamKey, server];
  const begin = () =>
    spawn(CURRENT_FFMPEG, ['-v', 'error', ...picture, ...sound, ...coded.split(' '), ...target], {
      stdio: 'ignore',
    });
  let child = begin();
  const end = async (signal: 'SIGINT' | 'SIGKILL') => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  };
  return {
    stop: () => end('SIGINT'),
    async startAgain() {
      child = begin();
    },
    close: () => end('SIGKILL'),
  };
}

const of = async (id: string) => Object(await partner.stream(id)) as Record<string, unknown>;

const signalIs = (id: string, expected: boolean, timeoutMs = PATIENT.timeoutMs) =>
  waitFor(async () => (await of(id)).hasSignal === expected, { timeoutMs, message: `hasSignal ${expected}` });

/** Opens the watch page. @returns a function that waits for a number of additional frames. */
async function watchByHls(t: TestContext, id: string): Promise<(count: number) => Promise<void>> {
  const { page, close: leave } = await browser.open(`${platform.url}/watch/${id}`);
  t.after(leave);
  const frames = () =>
    page.evaluate<number>('document.querySelector("video")?.getVideoPlaybackQuality().totalVideoFrames ?? 0');
  const more = async (count: number) => {
    const from = await frames();
    await waitFor(async () => (await frames()) > from + count, { ...PATIENT, message: 'pictures by HLS' });
  };
  await more(60);
  assert.equal(await page.evaluate('document.querySelector("video").videoWidth'), 640);
  return more;
}

async function watchByWhep(t: TestContext, id: string): Promise<void> {
  const opened = await browser.open(`${platform.url}/api/v1/health`, { initScript: WHEP_CLIENT });
  t.after(opened.close);
  const { page } = opened;
  const { status } = await page.evaluate<WhepAnswer>(`whep('${platform.url}/whep/${id}')`);
  assert.equal(status, 201);
  const shows = async () => {
    const { frames, energy } = await page.evaluate<Received>('received()');
    return frames > 60 && energy > 0;
  };
  await waitFor(shows, { ...PATIENT, message: 'pictures and sound by WHEP' });
}

async function recordedSec(id: string): Promise<number> {
  const sessions = async () =>
    Object((await partner.call('GET', `/streams/${id}/sessions`)).data) as { recordingVideoId?: string }[];
  const videoId = await waitFor(async () => (await sessions())[0]?.recordingVideoId, PATIENT);
  return (await partner.videoWhen(videoId, ({ status }) => status === 'READY', 60_000)).durationSec ?? 0;
}

for (const [name, start] of Object.entries({ OBS: obs, ffmpeg })) {
  test(`${name} publishes by WHIP: plays as HLS and by WHEP, is recorded, stops and reconnects`, {
    skip: name === 'OBS' ? LACKS.OBS : LACKS.ffmpeg,
  }, async (t) => {
    const { id, streamKey } = await partner.createStream({ record: true });
    const whipUrl = await waitFor(
      async () => Object((await of(id)).ingest).whipUrl as string | null,
      PATIENT,
    );
    const client = await start(whipUrl, streamKey);
    t.after(() => client.close());
    await signalIs(id, true);
    await partner.start(id);
    const startedMs = performance.now();
    const more = await watchByHls(t, id);
    await watchByWhep(t, id);
    const health = async () => Object((await of(id)).health) as { issues: string[]; height: number };
    let issues: readonly string[] = [];
    const isWell = async () => {
      ({ issues } = await health());
      return issues.length === 0;
    };
    const message = () => `a signal that nothing is wrong with, and not ${issues.join()}`;
    await waitFor(isWell, { ...PATIENT, timeoutMs: 10_000, message });
    assert.equal((await health()).height, 360);

    await waitFor(() => performance.now() - startedMs > RECORDED_SEC * 1000, PATIENT);
    const { startedAt } = await partner.stream(id);
    await client.stop();
    await signalIs(id, false, ENDING_MS);
    assert.equal((await of(id)).status, 'LIVE_NO_SIGNAL');
    await client.startAgain();
    await signalIs(id, true);
    await more(30);
    assert.equal((await partner.stream(id)).startedAt, startedAt, 'the same broadcast');

    await partner.stop(id);
    const sec = await recordedSec(id);
    assert.ok(sec > RECORDED_SEC, `${sec} s are recorded`);
  });
}
