import type { SourceInfo } from '../../src/media/contract/index.ts';

/** Returns a source of ten seconds of 1080p30 with stereo, whose top rung is encoded. */
export function fakeSource(): SourceInfo {
  return {
    durationSec: 10,
    zeroSec: 0,
    sizeBytes: 1000,
    bitrate: 800,
    video: {
      streamIndex: 0,
      codec: 'h264',
      codecs: 'avc1.640028',
      profile: 'High',
      pixelFormat: 'yuv420p',
      width: 1920,
      height: 1080,
      rotation: 0,
      frameRate: 30,
      isVariableFrameRate: false,
      range: 'SDR',
      isInterlaced: false,
      bitrate: 800,
    },
    audio: [],
    ...{ captions: [], chapters: [], notes: [] },
    canSplit: true,
    copyRefusal: 'the keyframes are too far apart',
  };
}
