import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../kernel/clock.ts';
import { VISIBILITIES } from '../../../kernel/visibility.ts';
import { createSecrets } from '../../../platform/secrets.ts';
import { createStreamLinks, createVideoLinks } from './links.ts';
import { createPlaybackTokens } from './tokens.ts';

const SITE = 'https://video.example.com';
const tokens = createPlaybackTokens({ secrets: createSecrets(Buffer.alloc(32, 1)), clock: systemClock });
const master = `${SITE}/v/vid_1/master.m3u8`;

for (const visibility of VISIBILITIES) {
  const video = {
    id: 'vid_1',
    visibility,
    isPlayable: true,
    thumbnailFile: null,
    imageFolder: 'r0a1',
    hasPreview: true,
    hasStoryboard: true,
  };

  test(`the URL of a ${visibility} video is signed only when needed, and never in events`, () => {
    const address = createVideoLinks(SITE, tokens).playbackUrl(video) ?? '';
    const token = new URL(address).searchParams.get('token');
    if (visibility === 'PUBLIC' || visibility === 'UNLISTED') assert.equal(address, master);
    else assert.equal(tokens.read(token ?? '', 'vid_1'), 'playback');
    assert.equal(createVideoLinks(SITE, null).playbackUrl(video), master);
    const storyboard = createVideoLinks(SITE, null).storyboardUrl(video);
    assert.equal(storyboard, `${SITE}/v/vid_1/r0a1/img/storyboard.vtt`);
    assert.equal(createVideoLinks(SITE, null).storyboardUrl({ ...video, hasStoryboard: false }), null);
  });

  test(`the thumbnail of a ${visibility} stream is visible to its owner only until it is live`, () => {
    const links = createStreamLinks(SITE, tokens);
    const read = (isLive: boolean) => {
      const address = new URL(links.thumbnailUrl({ id: 'str_1', visibility, isLive }));
      assert.equal(address.pathname, '/live/str_1/thumbnail.jpg');
      return tokens.read(address.searchParams.get('token') ?? '', 'str_1');
    };
    assert.equal(read(false), 'preview');
    const isOpen = visibility === 'PUBLIC' || visibility === 'UNLISTED';
    assert.equal(read(true), isOpen ? null : 'playback');
  });
}
