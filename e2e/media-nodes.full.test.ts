import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { childrenOf, singleItem } from '../test/harness/processes.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { firstOf, nextPart, segmentsOf, startTwoNodes, type TwoNodes } from '../test/live/two-nodes.ts';

const PARTS = 'marquee_live_node_requests_total{kind="part",outcome="answered"}';
const SERVED = 'marquee_live_node_served_total';
let nodes: TwoNodes;
let fetched = 0;
before(async () => {
  nodes = await startTwoNodes();
});
after(() => nodes?.close());

const isShown = (playlist: string, part: string) =>
  playlist.split('\n').some((line) => line.startsWith('#EXT-X-PART:') && line.includes(part));

test('a hundred players of another node cost the media node one fetch per part', async () => {
  const { get, metric } = nodes;
  await waitFor(async () => (await get('src/index.m3u8')).text.includes('#EXT-X-PART'), {
    timeoutMs: 15_000,
  });
  const before = await metric('api', PARTS);
  const players = Array.from({ length: 100 });
  const parts = new Set<string>();
  let { text: playlist } = await get('src/index.m3u8');
  while (parts.size < 4) {
    const { msn, part, file } = nextPart(playlist);
    const reload = `src/index.m3u8?_HLS_msn=${msn}&_HLS_part=${part}`;
    const answers = await Promise.all(players.map(() => get(reload)));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    playlist = answers[0]?.text ?? '';
    // A segment may end before the part that was hinted at.
    if (file === null || !isShown(playlist, file)) continue;
    const media = await Promise.all(players.map(() => get(file)));
    assert.deepEqual([...new Set(media.map(({ status }) => status))], [200], file);
    assert.equal(new Set(media.map(({ bytes }) => bytes.toString('base64'))).size, 1);
    assert.match(media[0]?.bytes.toString('latin1') ?? '', /moof/);
    parts.add(file);
  }
  fetched = parts.size;
  assert.equal((await metric('api', PARTS)) - before, fetched);
});

test('whole segments and the thumbnail also come from the other node, which counts their requests', async () => {
  const { get, metric } = nodes;
  const [file = ''] = segmentsOf((await get('src/index.m3u8')).text);
  const [segment, init] = [await get(file), await get(file.replace(/s_\d+\.m4s/, 'init.mp4'))];
  assert.deepEqual([segment.status, init.status], [200, 200]);
  assert.match(init.bytes.toString('latin1'), /ftyp/);
  await waitFor(async () => (await get('thumbnail.jpg')).status === 200, {
    timeoutMs: 15_000,
    intervalMs: 100,
  });
  // The node reports its counts every five seconds.
  const served = (kind: string) => metric('media', `${SERVED}{kind="${kind}"}`);
  await waitFor(async () => (await served('part')) === fetched && (await served('segment')) >= 2, {
    timeoutMs: 6000,
    intervalMs: 200,
    message: 'the counts of the media node',
  });
  assert.ok((await served('changes')) < 5, 'however many wait for the next playlist');
});

test('players wait while the media process is down, and continue when it is back', async () => {
  const { get, media } = nodes;
  const statuses: number[] = [];
  let isOver = false;
  let { text: last } = await get('src/index.m3u8');
  const play = async () => {
    let playlist = last;
    while (!isOver) {
      const { msn, part, file } = nextPart(playlist);
      const reload = await get(`src/index.m3u8?_HLS_msn=${msn}&_HLS_part=${part}`);
      statuses.push(reload.status);
      if (file !== null) statuses.push((await get(file)).status);
      if (reload.status === 200) playlist = reload.text;
      last = playlist;
    }
  };
  const players = Array.from({ length: 10 }, play);
  const before = nextPart(last).msn;
  const unasked = segmentsOf(last).at(-1) ?? '';
  process.kill(singleItem(childrenOf(media.process.pid ?? -1, '/media.')), 'SIGKILL');
  const waiting = get(unasked);
  await nodes.encoder.exited;
  let isConnected = false;
  const connect = () => {
    nodes.publish();
    isConnected = true;
    void nodes.encoder.exited.then(() => {
      isConnected = false;
    });
  };
  await waitFor(
    () => {
      if (!isConnected) connect();
      return last.includes('#EXT-X-DISCONTINUITY\n') && nextPart(last).msn > before + 1;
    },
    { timeoutMs: 30_000, intervalMs: 500, message: () => `playback that goes on:\n${last}` },
  );
  isOver = true;
  await Promise.all(players);
  // The request waits for the node as long as players do; on a busy machine it must be repeated.
  statuses.push((await waiting).status);
  assert.equal((await get(unasked)).status, 200, 'a segment that nobody had asked for');
  assert.deepEqual([...new Set(statuses.filter((status) => status >= 500))], []);
});

test('a clip of the live window is cut on another node', async () => {
  const { get, partner, streamId } = nodes;
  const { startedAt } = await partner.stream(streamId);
  let dates: string[] = [];
  await waitFor(
    async () => {
      const { text } = await get('src/index.m3u8');
      // Nothing was recorded while the media process was down.
      const run = text.slice(text.lastIndexOf('#EXT-X-DISCONTINUITY\n'));
      dates = run.match(/(?<=PROGRAM-DATE-TIME:)\S+/g) ?? [];
      return dates.length > 3;
    },
    { timeoutMs: 15_000, intervalMs: 200, message: 'some segments of the same run' },
  );
  // The second run: none of it is stored on another node.
  const startSec = Math.max(0, Date.parse(dates[1] ?? '') - Date.parse(startedAt ?? '')) / 1000;
  const body = { startSec, endSec: startSec + 1.5, title: 'Clip' };
  const { data } = await partner.call('POST', `/streams/${streamId}/clips`, body);
  assert.ok(typeof data === 'object' && data !== null && 'id' in data);
  const clip = await partner.videoWhen(String(data.id), ({ status }) => status !== 'UPLOADING', 20_000);
  assert.notEqual(clip.status, 'FAILED', JSON.stringify(clip.error));
});

test('an api process that is killed and started again shows the same', async () => {
  const { get } = nodes;
  const { msn } = nextPart((await get('src/index.m3u8')).text);
  await nodes.restartApi();
  const answer = await get(`src/index.m3u8?_HLS_msn=${msn}&_HLS_part=0`);
  assert.equal(answer.status, 200);
  assert.ok(nextPart(answer.text).msn >= msn);
  assert.equal((await get(segmentsOf(answer.text)[0] ?? '')).status, 200);
});

test('sequence numbers continue when an encoder connects to another media node', async () => {
  const { get } = nodes;
  const before = nextPart((await get('src/index.m3u8')).text).msn;
  const other = await nodes.startMedia();
  try {
    const replaced = nodes.encoder;
    nodes.publish(other);
    await waitFor(
      async () => {
        const { text } = await get('src/index.m3u8');
        const first = firstOf(text);
        return first > before && first < before + 50 && text.includes('#EXTINF');
      },
      { timeoutMs: 15_000, intervalMs: 100, message: 'its playlist' },
    );
    await replaced.exited;
  } finally {
    await nodes.encoder.stop();
    await other.stop();
  }
});
