import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AAC_48K_STEREO,
  AVC_360P30,
  AVC_1080P60,
  audioFrame,
  audioHeader,
  parseFlv,
  videoFrame,
  videoHeader,
} from '../../../test/rtmp/media.ts';
import { FlvTagType, flvTag, flvTagBytes } from '../protocols/flv/tags.ts';
import { Broadcast, type FlvSink } from './broadcast.ts';
import { FrameRateMeter } from './frame-rate.ts';
import { GopCache } from './gop-cache.ts';
import { MediaStats } from './media-stats.ts';

/** Sink whose remote side reads nothing until released. */
class TestSink implements FlvSink {
  chunks: Buffer[] = [];
  queued = 0;
  ended = false;
  stuck = false;
  /** Retains written chunks, to inspect their memory. */
  keepsReferences = false;
  maxQueued = 0;

  write(bytes: Buffer): void {
    this.chunks.push(this.stuck || this.keepsReferences ? bytes : Buffer.from(bytes));
    if (this.stuck) this.queued += bytes.length;
    this.maxQueued = Math.max(this.maxQueued, this.queued);
  }
  hold(): void {}

  flush(): void {}

  queuedBytes(): number {
    return this.queued;
  }
  end(): void {
    this.ended = true;
  }
  tags() {
    return this.chunks.length === 0 ? [] : parseFlv(Buffer.concat(this.chunks)).tags;
  }
  times(): number[] {
    return this.tags().map((tag) => tag.timestamp);
  }
}

const feedVideo = (broadcast: Broadcast, at: number, keyframe: boolean, bytes?: number): void =>
  broadcast.frame(FlvTagType.video, at, videoFrame(keyframe, bytes), keyframe);

const feedAudio = (broadcast: Broadcast, at: number): void =>
  broadcast.frame(FlvTagType.audio, at, audioFrame(), false);

function withHeaders(broadcast: Broadcast): Broadcast {
  broadcast.setHeader(FlvTagType.video, flvTag(FlvTagType.video, 1, videoHeader(AVC_360P30)));
  broadcast.setHeader(FlvTagType.audio, flvTag(FlvTagType.audio, 1, audioHeader(AAC_48K_STEREO)));
  return broadcast;
}

test('a new reader begins with the headers and the GOP', () => {
  const broadcast = withHeaders(new Broadcast({ readerQueueBytes: 1e6 }));
  for (const [at, key] of [
    [1000, true],
    [1040, false],
    [2000, true],
    [2040, false],
  ] as const)
    feedVideo(broadcast, at, key);
  feedAudio(broadcast, 2050);
  const sink = new TestSink();
  broadcast.attach(sink);
  assert.deepEqual(sink.times(), [1, 1, 2000, 2040, 2050]);
  feedVideo(broadcast, 2080, false);
  assert.deepEqual(sink.times().at(-1), 2080);
});

test('a reader that joins in a GOP too large to cache waits for the next keyframe', () => {
  const broadcast = withHeaders(new Broadcast({ readerQueueBytes: 1e6, gop: { bytes: 1000, tags: 100 } }));
  feedVideo(broadcast, 1000, true, 600);
  feedVideo(broadcast, 1040, false, 600);
  const sink = new TestSink();
  broadcast.attach(sink);
  feedVideo(broadcast, 1080, false);
  feedAudio(broadcast, 1090);
  feedVideo(broadcast, 2000, true);
  feedVideo(broadcast, 2040, false);
  assert.deepEqual(sink.times(), [1, 1, 2000, 2040]);
});

test('a slow reader holds bounded memory, and resumes at a keyframe once it has caught up', () => {
  const limit = 100_000;
  const broadcast = withHeaders(new Broadcast({ readerQueueBytes: limit }));
  const slow = new TestSink();
  const quick = new TestSink();
  broadcast.attach(slow);
  broadcast.attach(quick);
  slow.stuck = true;
  for (let i = 0; i < 1000; i++) feedVideo(broadcast, i * 40, i % 25 === 0, 5000);
  assert.ok(slow.maxQueued < limit + 6000, `queued ${slow.maxQueued}`);
  assert.equal(quick.times().length, 1002, 'the other reader lost nothing');
  const before = slow.times().length;
  slow.queued = 0;
  slow.stuck = false;
  feedVideo(broadcast, 40_000 + 40, false);
  assert.equal(slow.times().length, before, 'not in the middle of a group');
  feedVideo(broadcast, 41_000, true);
  feedVideo(broadcast, 41_040, false);
  assert.deepEqual(slow.times().slice(before), [41_000, 41_040]);
});

test('a reader that was skipped gets the headers changed in the interim', () => {
  const broadcast = withHeaders(new Broadcast({ readerQueueBytes: 1000 }));
  const sink = new TestSink();
  broadcast.attach(sink);
  feedVideo(broadcast, 100, true);
  sink.queued = 2000;
  feedVideo(broadcast, 200, false);
  broadcast.setHeader(FlvTagType.video, flvTag(FlvTagType.video, 300, videoHeader(AVC_1080P60)));
  sink.queued = 0;
  feedVideo(broadcast, 400, true);
  assert.deepEqual(sink.times(), [1, 1, 100, 300, 1, 400]);
});

test('a stream without video needs no keyframe', () => {
  const broadcast = new Broadcast({ readerQueueBytes: 1000 });
  broadcast.setHeader(FlvTagType.audio, flvTag(FlvTagType.audio, 0, audioHeader(AAC_48K_STEREO)));
  const sink = new TestSink();
  broadcast.attach(sink);
  feedAudio(broadcast, 20);
  assert.deepEqual(sink.times(), [0, 20]);
  assert.equal(parseFlv(Buffer.concat(sink.chunks)).flags, 4, 'the file header announces sound only');
});

test('the end ends every reader, also one that joins after it', () => {
  const broadcast = withHeaders(new Broadcast({ readerQueueBytes: 1000 }));
  const [reader, gone, late] = [new TestSink(), new TestSink(), new TestSink()];
  broadcast.attach(reader);
  broadcast.attach(gone)();
  broadcast.end();
  broadcast.attach(late);
  assert.deepEqual([reader.ended, gone.ended, late.ended], [true, false, true]);
});

test('the group cache is bounded in tags too, and takes nothing before a keyframe', () => {
  const cache = new GopCache({ bytes: 1e6, tags: 3 });
  const add = (at: number, keyframe: boolean) =>
    cache.add(FlvTagType.video, at, videoFrame(keyframe), keyframe, () => true);
  add(0, false);
  assert.ok(cache.empty);
  add(40, true);
  add(80, false);
  add(120, false);
  assert.equal(cache.bytes.length, 3 * flvTagBytes(videoFrame(true)));
  assert.equal(parseFlv(Buffer.concat([Buffer.from('FLV'), Buffer.alloc(10), cache.bytes])).tags.length, 3);
  add(160, false);
  assert.ok(cache.empty);
  assert.equal(cache.bytes.length, 0);
});

test('memory of a group is used again only when no reader holds any of it', () => {
  const broadcast = withHeaders(new Broadcast({ readerQueueBytes: 1e6 }));
  const sink = new TestSink();
  broadcast.attach(sink);
  sink.stuck = true;
  sink.keepsReferences = true;
  feedVideo(broadcast, 1000, true, 300_000);
  const held = sink.chunks.at(-1);
  const copy = Buffer.from(held ?? '');
  feedVideo(broadcast, 2000, true, 300_000);
  assert.ok(held?.equals(copy), 'what is queued stays');
  const next = sink.chunks.at(-1);
  sink.queued = 0;
  feedVideo(broadcast, 3000, true, 300_000);
  assert.equal(sink.chunks.at(-1)?.buffer, next?.buffer, 'what is taken is used again');
  assert.notEqual(held?.buffer, next?.buffer);
});

test('memory for keyframes that follow a large group is as small as they are', () => {
  const cache = new GopCache();
  const add = (bytes: number) => cache.add(FlvTagType.video, 0, videoFrame(true, bytes), true, () => false);
  add(1_000_000);
  add(100);
  assert.ok(add(100).buffer.byteLength < 100_000, `${add(100).buffer.byteLength} bytes for one tag`);
});

test('frame rates are measured from integer millisecond timestamps', () => {
  for (const fps of [15, 23.976, 25, 29.97, 30, 50, 60, 120]) {
    const meter = new FrameRateMeter();
    let result: number | null = null;
    for (let i = 0; i <= 3 * fps; i++) result ??= meter.frame(Math.round(7 + (i * 1000) / fps));
    assert.equal(result, fps);
  }
});

test('rates are those of the previous complete seconds', () => {
  const stats = new MediaStats(0);
  assert.deepEqual(stats.rates(0), { bitrateKbps: 0, fps: 0 });
  for (let at = 0; at < 3000; at += 100) {
    stats.add(at, 1000);
    stats.frame(at);
  }
  assert.deepEqual(stats.rates(3050), { bitrateKbps: 80, fps: 10 });
  assert.deepEqual(stats.rates(60_000), { bitrateKbps: 0, fps: 0 });
});
