/** One EXT-X-STREAM-INF of the public master. */
export interface MasterVariant {
  name: string;
  /** RFC 6381 strings, video first; empty while nothing is known. */
  codecs: string[];
  /** Peak and mean bits per second, with audio. */
  bandwidth: number;
  averageBandwidth: number;
  /** 0 by 0 for audio only or not known. */
  width: number;
  height: number;
  /** 0 while it is not known. */
  fps: number;
}

/**
 * RFC 8216 4.3.4, in the order of `plainFirst`. EXT-X-INDEPENDENT-SEGMENTS would hold for all media playlists (4.3.5.1), each of
 * which says it for itself while it is so.
 */
export function renderMaster(variants: MasterVariant[], uriSuffix = ''): string {
  const lines = ['#EXTM3U', '#EXT-X-VERSION:7'];
  for (const variant of plainFirst(variants)) {
    const attributes = [
      `BANDWIDTH=${variant.bandwidth}`,
      `AVERAGE-BANDWIDTH=${variant.averageBandwidth}`,
      ...(variant.codecs.length > 0 ? [`CODECS="${variant.codecs.join(',')}"`] : []),
      ...(variant.width > 0 ? [`RESOLUTION=${variant.width}x${variant.height}`] : []),
      ...(variant.fps > 0 ? [`FRAME-RATE=${variant.fps.toFixed(3)}`] : []),
    ];
    lines.push(`#EXT-X-STREAM-INF:${attributes.join(',')}`, `${variant.name}/index.m3u8${uriSuffix}`);
  }
  return `${lines.join('\n')}\n`;
}

/** What not everybody plays. */
const FURTHER = /^(hvc1|hev1|av01|vp09)/;

/** Sorts H.264 before the other codecs: a player that knows none of them behaves as if they were absent. */
function plainFirst(variants: readonly MasterVariant[]): MasterVariant[] {
  const isFurther = ({ codecs: [first = ''] }: MasterVariant) => FURTHER.test(first);
  const plain = variants.filter((variant) => !isFurther(variant));
  return [plain, variants.filter(isFurther)].flatMap(orderVariants);
}

/** A phone shows so many lines as well as more, and most networks carry them. */
const START_LINES = 720;

/**
 * Highest first, but before all the highest of at most 720 lines: players that try the first variant first, as Safari
 * does, begin with it (docs/decisions/playback-and-tokens.md#rendition-order). Those without a size keep
 * their places at the end.
 */
export function orderVariants<T extends { width: number; height: number }>(variants: readonly T[]): T[] {
  const lines = ({ width, height }: T) => Math.min(width, height);
  const descending = variants.toSorted((a, b) => lines(b) - lines(a));
  const pictures = descending.filter((variant) => lines(variant) > 0);
  const start = pictures.find((variant) => lines(variant) <= START_LINES) ?? pictures.at(-1);
  return descending.toSorted((a, b) => Number(b === start) - Number(a === start));
}

/** Puts a query after every address of a master that `renderMaster` wrote without one. */
export function suffixMaster(master: string, uriSuffix: string): string {
  if (uriSuffix === '') return master;
  return master.replace(/^([a-z0-9_-]+\/index\.m3u8)$/gm, (uri) => uri + uriSuffix);
}

/**
 * Of all media playlists, before the first segment as after it, for it must not change (RFC 8216 6.2.1): keyframes further
 * apart are an issue of the signal, so segments are no longer.
 */
export const TARGET_DURATION = 4;

/** What a player gets before the encoder has sent anything: only that there is a `src`. */
export function placeholderMaster(uriSuffix = ''): string {
  const variant: MasterVariant = {
    name: 'src',
    codecs: [],
    bandwidth: 5_000_000,
    averageBandwidth: 5_000_000,
    width: 0,
    height: 0,
    fps: 0,
  };
  return renderMaster([variant], uriSuffix);
}
