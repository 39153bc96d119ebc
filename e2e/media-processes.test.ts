import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { waitFor } from '../test/harness/wait-for.ts';
import { startTwoProcesses, type TestBroadcast, type TwoProcesses } from '../test/live/media-processes.ts';
import { nextPart, segmentsOf } from '../test/live/two-nodes.ts';
import { RtmpClient } from '../test/rtmp/client.ts';

/** INGEST_MAX_PER_ADDRESS. */
const MAX_CONNECTIONS = 8;
let processes: TwoProcesses;
let broadcasts: TestBroadcast[] = [];
before(async () => {
  processes = await startTwoProcesses({ INGEST_MAX_PER_ADDRESS: String(MAX_CONNECTIONS) });
});
after(() => processes?.close());

const plays = (id: string, segments = 1) =>
  waitFor(async () => segmentsOf(await processes.playlist(id)).length >= segments, {
    timeoutMs: 15_000,
    intervalMs: 100,
    message: 'segments',
  });

/** Returns the number of the segment that follows. */
const nextNumber = async (id: string) => nextPart(await processes.playlist(id)).msn;

const indexOf = async ({ id }: TestBroadcast) => (await processes.processesOf(id)).at(-1) ?? -1;

test('RTMP encoders are spread over two processes, and all broadcasts play', async () => {
  broadcasts = await Promise.all(Array.from({ length: 4 }, () => processes.broadcast()));
  const indexes = await Promise.all(broadcasts.map(indexOf));
  // Two each, unless a process was too busy to answer (socket-distributor.test.ts).
  assert.deepEqual(new Set(indexes), new Set([0, 1]));
  for (const { id } of broadcasts) {
    await plays(id);
    const [file = ''] = segmentsOf(await processes.playlist(id));
    const segment = await fetch(`${processes.platform.url}/live/${id}/${file}`);
    assert.match(Buffer.from(await segment.arrayBuffer()).toString('latin1'), /moof/);
  }
});

test('an RTMPS encoder publishes, and the metrics are those of both processes', async () => {
  const secure = await processes.broadcast('rtmps');
  broadcasts = [...broadcasts, secure];
  await plays(secure.id);
  await waitFor(
    async () => {
      const response = await fetch(`http://127.0.0.1:${processes.metricsPort}/metrics`);
      return (await response.text()).includes('\nmarquee_ingest_publishers 5\n');
    },
    { timeoutMs: 10_000, intervalMs: 200, message: 'five publishers' },
  );
});

test('a process knows the address of an encoder', async () => {
  const client = await RtmpClient.connected(processes.platform.rtmpPort);
  assert.equal(await client.publish('no such key'), 'NetStream.Publish.BadName');
  client.destroy();
  await waitFor(() => /"ip":"127\.0\.0\.1".*ingest: publish rejected/.test(processes.platform.output()));
});

test('connections of one address are limited over all processes', async () => {
  const rest = await Promise.all(
    Array.from({ length: MAX_CONNECTIONS - broadcasts.length }, () =>
      RtmpClient.connected(processes.platform.rtmpPort),
    ),
  );
  const refused = await RtmpClient.open(processes.platform.rtmpPort);
  await refused.closedSoon();
  for (const client of rest) client.destroy();
  const next = await waitFor(() => RtmpClient.connected(processes.platform.rtmpPort));
  next.destroy();
});

test('a stopped process gets no encoders, and the broadcasts of the other one have no gap when it is killed', async () => {
  const [, pid = -1] = processes.pids();
  const indexes = await Promise.all(broadcasts.map(indexOf));
  const staying = broadcasts.filter((_, index) => indexes[index] === 0);
  const moving = broadcasts.filter((_, index) => indexes[index] === 1);
  const [first, ...others] = moving;
  assert.ok(first !== undefined);
  const before = await Promise.all(broadcasts.map(async ({ id }) => [id, await nextNumber(id)] as const));
  process.kill(pid, 'SIGSTOP');
  // It hangs up, as encoders do when their connection no longer takes data.
  first.encoder.kill('SIGKILL');
  first.encoder = processes.publish(first.key);
  await waitFor(async () => (await processes.processesOf(first.id)).includes(0), { timeoutMs: 15_000 });
  process.kill(pid, 'SIGKILL');
  for (const broadcast of others) {
    await broadcast.encoder.exited;
    broadcast.encoder = processes.publish(broadcast.key);
  }
  for (const [id, number] of before) {
    const continues = async () => (await nextNumber(id)) > number + 1;
    await waitFor(continues, { timeoutMs: 20_000, intervalMs: 100, message: `segments of ${id}` });
  }
  for (const { id } of staying) {
    const playlist = await processes.playlist(id);
    assert.ok(!playlist.includes('#EXT-X-DISCONTINUITY\n'), playlist);
  }
});
