import type { VideoSnapshot } from '../../src/features/audience/playback/index.ts';

/** Returns the playback snapshot of a playable video. */
export function playableSnapshot(changes: Partial<VideoSnapshot> = {}): VideoSnapshot {
  return {
    id: 'vid_01jexample0000000000000000',
    workspaceId: 'wsp_1',
    accountId: 'acc_1',
    title: 'Evening concert',
    description: null,
    visibility: 'PUBLIC',
    tierIds: [],
    priceCents: null,
    hasFailed: false,
    originalKey: null,
    durationSec: 60,
    width: 640,
    height: 360,
    rungs: [
      {
        path: 'r1a1/360p',
        codecs: 'avc1.42c01e',
        averageBitrate: 500_000,
        peakBitrate: 600_000,
        width: 640,
        height: 360,
        frameRate: 25,
        videoRange: 'SDR',
        iframeBitrate: null,
      },
    ],
    audio: [],
    captions: [],
    chapters: [],
    imageFolder: null,
    former: { paths: [], imageFolders: [], captions: [] },
    hasStoryboard: false,
    thumbnailFile: null,
    viewCount: 0,
    publishedAt: null,
    createdAt: new Date('2026-11-20T18:00:00Z'),
    mode: 'live',
    creator: { username: 'harbourjazz', name: 'Harbour Jazz Club' },
    embedHosts: null,
    ...changes,
  };
}
