import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { VISIBILITIES } from '../../../kernel/visibility.ts';
import { VALUES, type VideoStatus } from '../../../platform/db/tables.generated.ts';
import * as rules from './rules.ts';

const now = new Date('2026-11-20T09:00:00Z');
const earlier = new Date('2026-11-19T09:00:00Z');

describe('states', () => {
  /** Results of each step from UPLOADING, QUEUED, PROCESSING, READY and FAILED. */
  const table: [step: rules.VideoStep, to: (VideoStatus | null)[]][] = [
    ['received', ['QUEUED', null, null, null, null]],
    ['picked', [null, 'PROCESSING', null, null, null]],
    ['completed', [null, null, 'READY', null, null]],
    ['failed', ['FAILED', 'FAILED', 'FAILED', null, null]],
    ['retry', [null, null, null, null, 'QUEUED']],
    ['awaited', [null, null, null, null, 'UPLOADING']],
  ];
  for (const [step, to] of table) {
    test(step, () => {
      const found = VALUES.video.status.map((status) => rules.nextStatus(status, step));
      assert.deepEqual(found, to);
    });
  }
});

describe('attempts', () => {
  test('each processing has the next number, and is announced once', () => {
    const first = rules.pickAttempt({ revision: 0, attempt: 0 });
    assert.deepEqual(first, { attempt: 1, isNews: true });
    const second = rules.retryAttempt({ revision: 0, attempt: first.attempt });
    assert.deepEqual(second, { revision: 1, attempt: 2 });
    assert.deepEqual(rules.pickAttempt(second), { attempt: 2, isNews: false });
    const third = rules.retryAttempt(second);
    assert.deepEqual(third, { revision: 2, attempt: 3 });
    assert.deepEqual(rules.pickAttempt(third), { attempt: 3, isNews: false });
  });
});

describe('publication', () => {
  const change = (
    status: VideoStatus,
    visibility: (typeof VISIBILITIES)[number],
    to: (typeof VISIBILITIES)[number],
    publishedAt: Date | null,
  ) => rules.changeVisibility({ status, visibility, publishedAt }, to, now);

  test('only a ready video is published or unpublished', () => {
    for (const status of VALUES.video.status.filter((one) => one !== 'READY')) {
      for (const from of VISIBILITIES) {
        for (const to of VISIBILITIES) {
          assert.deepEqual(change(status, from, to, null), { publishedAt: null, event: null });
        }
      }
    }
  });

  test('leaving PRIVATE for the first time publishes the video', () => {
    for (const to of VISIBILITIES.filter((one) => one !== 'PRIVATE')) {
      assert.deepEqual(change('READY', 'PRIVATE', to, null), { publishedAt: now, event: 'video.published' });
      assert.deepEqual(change('READY', 'PRIVATE', to, earlier), { publishedAt: earlier, event: null });
      const back = change('READY', to, 'PRIVATE', earlier);
      assert.deepEqual(back, { publishedAt: earlier, event: 'video.unpublished' });
      assert.deepEqual(change('READY', to, to, earlier), { publishedAt: earlier, event: null });
    }
    assert.deepEqual(change('READY', 'PUBLIC', 'TIER', earlier), { publishedAt: earlier, event: null });
    assert.deepEqual(change('READY', 'PRIVATE', 'PRIVATE', null), { publishedAt: null, event: null });
  });

  test('a video that becomes ready while it is visible is published then', () => {
    const at = rules.publishedAtReady;
    assert.equal(at({ visibility: 'PUBLIC', publishedAt: null }, now), now);
    assert.equal(at({ visibility: 'TIER', publishedAt: earlier }, now), earlier);
    assert.equal(at({ visibility: 'PRIVATE', publishedAt: null }, now), null);
  });
});

test('a view requires 10 seconds, or a quarter of a shorter video', () => {
  const cases: [position: number, duration: number | null, counted: boolean][] = [
    [10, 3600, true],
    [9.99, 3600, false],
    [5, 20, true],
    [4.99, 20, false],
    [10, 40, true],
    [9.99, 40, false],
    [0, 3600, false],
    [10, null, true],
    [9, null, false],
  ];
  for (const [position, duration, counted] of cases) {
    assert.equal(rules.isView(position, duration), counted, `${position} of ${duration}`);
  }
});

test('aspect ratios', () => {
  const cases: [width: number | null, height: number | null, ratio: string | null][] = [
    [1920, 1080, '16:9'],
    [1080, 1920, '9:16'],
    [640, 480, '4:3'],
    [1080, 1080, '1:1'],
    [854, 480, '427:240'],
    [null, 1080, null],
    [1920, null, null],
    [0, 1080, null],
  ];
  for (const [width, height, ratio] of cases) assert.equal(rules.aspectRatio(width, height), ratio);
});
