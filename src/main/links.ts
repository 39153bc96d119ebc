import type { PlaybackTokens, StreamLinks } from '../features/streams/index.ts';
import type { Clock } from '../kernel/clock.ts';
import { isOpen } from '../kernel/visibility.ts';
import type { Config } from '../platform/config.ts';
import type { Secrets } from '../platform/secrets.ts';

const HOUR_SEC = 3600;
const TTL_HOURS = { preview: 1, playback: 12 } as const;
type View = keyof typeof TTL_HOURS;

/** `<view>.<expiry>.<signature>`; the expiry is a whole hour, so that an address stays the same for a while. */
export function createPlaybackTokens(secrets: Secrets, clock: Clock) {
  const payload = (view: View, expiry: string, streamId: string) => `${view}.${expiry}.${streamId}`;
  return {
    mint(view: View, streamId: string): string {
      const hour = Math.floor(clock.ms() / 1000 / HOUR_SEC) + 1 + TTL_HOURS[view];
      const expiry = hour.toString(36);
      return `${view}.${expiry}.${secrets.sign('live', payload(view, expiry, streamId))}`;
    },
    read(token: string, streamId: string): View | null {
      const [view, expiry = '', signature = '', ...rest] = token.split('.');
      if ((view !== 'preview' && view !== 'playback') || rest.length > 0) return null;
      if (!/^[0-9a-z]{1,8}$/.test(expiry)) return null;
      if (Number.parseInt(expiry, 36) * HOUR_SEC * 1000 <= clock.ms()) return null;
      return secrets.verify('live', payload(view, expiry, streamId), signature) ? view : null;
    },
  } satisfies PlaybackTokens & { mint(view: View, streamId: string): string };
}

/** Where a stream is published, played, previewed and embedded. */
export function createStreamLinks(
  config: Pick<Config, 'PUBLIC_URL' | 'RTMP_URL'>,
  tokens: ReturnType<typeof createPlaybackTokens>,
): StreamLinks {
  const master = (id: string) => `${config.PUBLIC_URL}/live/${id}/master.m3u8`;
  return {
    rtmpUrl: config.RTMP_URL,
    playbackUrl: ({ id, visibility }) =>
      isOpen(visibility) ? master(id) : `${master(id)}?token=${tokens.mint('playback', id)}`,
    previewUrl: (id) => `${master(id)}?token=${tokens.mint('preview', id)}`,
    embedUrl: (id) => `${config.PUBLIC_URL}/embed/${id}`,
  };
}
