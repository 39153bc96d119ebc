import { test } from 'node:test';
import { CURRENT_FFMPEG, NO_CURRENT_FFMPEG } from '../../../test/live/current-ffmpeg.ts';
import { assertOptionsExist } from '../../../test/transcode/encoder-options.ts';

for (const kind of ['vaapi', 'nvenc'] as const) {
  test(`every option passed to ${kind} exists in the newest ffmpeg`, { skip: NO_CURRENT_FFMPEG }, () =>
    assertOptionsExist(CURRENT_FFMPEG, kind, ['H264', 'HEVC', 'AV1']),
  );
}
