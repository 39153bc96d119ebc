import type { PushUrl } from '../../kernel/push-url.ts';
import type { PushPlatform } from '../contract/index.ts';
import type { FeedCodecs } from './feed.ts';

/**
 * Codecs that platforms document in addition to H.264 with AAC or MP3 (docs/decisions/restreams.md#codecs).
 */
const TAKES: Readonly<Record<PushPlatform, readonly string[] | null>> = {
  YOUTUBE: ['hvc1', 'av01', 'vp09'],
  TWITCH: [],
  FACEBOOK: [],
  KICK: [],
  X: [],
  // Unknown: an unsupported codec is rejected by the destination.
  CUSTOM: null,
};
const EVERYWHERE = ['avc1', 'mp4a', 'mp3'];
/** MPEG-TS carries these. */
const IN_TS = ['avc1', 'hvc1', 'mp4a', 'mp3', '.mp3'];

/**
 * Returns the message why this broadcast cannot be sent to the target without re-encoding; null when it can.
 */
export function unsupportedCodecReason(
  platform: PushPlatform,
  { scheme }: PushUrl,
  { video, audio }: FeedCodecs,
): string | null {
  const taken = scheme === 'srt' ? IN_TS : TAKES[platform];
  if (taken === null) return null;
  for (const codec of [video, audio]) {
    if (codec === null || EVERYWHERE.includes(codec) || taken.includes(codec)) continue;
    const who = platform === 'CUSTOM' ? 'An SRT destination' : `The platform ${platform}`;
    return `${who} does not support ${codec}, which the encoder sends. Encode as H.264 with AAC.`;
  }
  return null;
}
