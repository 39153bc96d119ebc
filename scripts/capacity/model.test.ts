import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  databaseBytesPerDay,
  drawBusiest,
  limitsOf,
  mediaBytesOf,
  percentile,
  ratesOf,
  trafficOf,
  useOf,
  zipfViewers,
} from './model.ts';
import type { Cost, Costs, Profile } from './schemas.ts';

const cost = (programMs: number, databaseMs = 0, rest: Partial<Cost> = {}): Cost => ({
  ...{ programMs, databaseMs, commits: 0, walBytes: 0, storedBytes: 0, memoryMb: 0 },
  ...rest,
});
const costs: Costs = {
  machine: 'an example',
  measuredOn: '2026-11-29',
  idle: { programCores: 0, databaseCores: 0.5, commitsPerSec: 10, walBytesPerSec: 100 },
  processMb: { api: 256, media: 128, worker: 256 },
  work: {
    read: cost(0.1, 0.01),
    write: cost(1, 2, { commits: 1, walBytes: 1000, storedBytes: 500 }),
    livePlaylist: cost(0.1),
    segment: cost(0.5),
    broadcast: cost(20, 0, { memoryMb: 10 }),
    broadcastWithRungs: cost(500, 0, { memoryMb: 200 }),
    restream: cost(10, 0, { memoryMb: 50 }),
    viewerFacts: cost(0.4, 0.2, { commits: 0.1 }),
    videoMinute: cost(60_000),
    delivery: cost(0.2, 0.1),
  },
};
const nodes = { nodes: 3, cores: 10, memoryGb: 16, networkGbit: 10, processes: 2 };
const profile: Profile = {
  day: [0.5, ...Array<number>(23).fill(1)],
  peak: {
    ...{ broadcasts: 100, broadcastsWithRungs: 4, restreams: 52, viewers: 3000 },
    ...{ readsPerSec: 1000, writesPerSec: 100, deliveriesPerSec: 200, uploadedMinutesPerHour: 60 },
  },
  viewers: { zipfExponent: 1, cdnShare: 0.9, segmentSec: 2 },
  ...{ bitsPerSec: 6e6, recordedShare: 0.5, receiverLatencyMs: 100 },
  layout: {
    ...{ api: nodes, media: nodes, worker: nodes, pool: 10, deliverySlots: 64 },
    database: { cores: 10, commitsPerSec: 20_000, maxConnections: 200, storageTb: 1, retentionDays: 100 },
  },
};
const near = (actual: number, expected: number) => assert.ok(Math.abs(actual - expected) < 1e-9, `${actual}`);

test('the rates of an hour are its share of the peak', () => {
  const rates = ratesOf(profile, 0);
  assert.deepEqual([rates.read, rates.write, rates.broadcast], [500, 50, 50]);
  // 1,500 viewers, a tenth of them without the CDN, a segment each 2 s; facts each 15 s.
  near(rates.segment, 75);
  near(rates.viewerFacts, 100);
  near(rates.videoMinute, 30 / 3600);
});

test('the use is the sum of rates and costs, by role', () => {
  const { cores, ...rest } = useOf(costs, ratesOf(profile, 1), 9);
  // 1,000 reads x 0.1 ms + 100 writes x 1 ms + 150 playlists x 0.1 ms + 150 segments x 0.5 ms + 200 facts x 0.4 ms
  near(cores.api, 0.1 + 0.1 + 0.015 + 0.075 + 0.08);
  // 100 x 20 ms + 4 x 500 ms + 52 x 10 ms
  near(cores.media, 2 + 2 + 0.52);
  // A minute of video per minute, and 200 deliveries x 0.2 ms
  near(cores.worker, 1 + 0.04);
  // Nine idle nodes, reads, writes, facts, deliveries
  near(cores.database, 4.5 + 0.01 + 0.2 + 0.04 + 0.02);
  near(rest.commitsPerSec, 90 + 100 + 20);
  near(rest.walBytesPerSec, 900 + 100_000);
  near(rest.databaseBytesPerSec, 50_000);
});

test('the database grows by the sum of the hours', () => {
  // 100 writes/s of 500 bytes for 23.5 hours
  near(databaseBytesPerDay(profile, costs) / 1e9, 4.23);
});

test('traffic and stored media follow from the bit rate', () => {
  const rates = ratesOf(profile, 1);
  const { apiOutBits, mediaInBits } = trafficOf(profile, rates);
  near(apiOutBits / 1e9, 1.8);
  near(mediaInBits / 1e9, 0.624);
  // 52 recorded hours, and two copies of one uploaded hour
  near(mediaBytesOf(profile, rates) / 1e9, 54 * 2.7);
});

test("viewers follow Zipf's law", () => {
  assert.deepEqual(zipfViewers(1100, 3, 1), [600, 300, 200]);
});

test('a draw places every broadcast on a remaining node', () => {
  const inputs = { profile, costs, layout: profile.layout };
  const [all] = drawBusiest(inputs, ratesOf(profile, 1), { draws: 1, random: () => 0 });
  near(all?.cores ?? 0, 4.52);
  near(all?.memoryMb ?? 0, 100 * 10 + 4 * 200 + 52 * 50);
  let turn = 0;
  const [even] = drawBusiest(inputs, ratesOf(profile, 1), { draws: 1, random: () => (turn++ % 2) / 2 });
  near(even?.cores ?? 0, 2.26);
});

test('the first limit is the one with the largest share in use', () => {
  const rates = ratesOf(profile, 1);
  const busiest = { cores: 3, networkBits: 1e9, memoryMb: 2048 };
  const limits = limitsOf({ profile, costs, layout: profile.layout, rates, busiest });
  // 3 roles x 3 nodes x 2 processes x a pool of 10 = 180 of 200
  assert.deepEqual(
    limits.slice(0, 2).map(({ name, used, available }) => [name, Math.round(used * 100) / 100, available]),
    [
      ['connections of PostgreSQL', 180, 200],
      ['processors of PostgreSQL', 4.77, 6],
    ],
  );
  assert.equal(limits[1]?.remedy, 'Split the platform into cells, each with its own PostgreSQL.');
  // 200 deliveries/s of 100 ms on two remaining nodes, each with two processes of 64 slots
  const inFlight = limits.find(({ unit }) => unit === 'deliveries');
  assert.deepEqual([inFlight?.used, inFlight?.available], [10, 128]);
});

test('a percentile is a value that the share of values does not exceed', () => {
  assert.equal(percentile([5, 1, 4, 2, 3], 0.99), 5);
  assert.equal(percentile([5, 1, 4, 2, 3], 0.5), 3);
});
