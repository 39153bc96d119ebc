/** EXT-X-STREAM-INF entry of the public master. */
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
 * Renders a master playlist (RFC 8216 4.3.4) in the order of `plainFirst`. EXT-X-INDEPENDENT-SEGMENTS would
 * apply to all media playlists (4.3.5.1), so each of them has its own tag while it applies.
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

/** Codecs that not every browser plays. */
const ADDITIONAL_CODECS = /^(hvc1|hev1|av01|vp09)/;

/** Sorts H.264 before the other codecs: a player that knows none of them behaves as if they were absent. */
function plainFirst(variants: readonly MasterVariant[]): MasterVariant[] {
  const isFurther = ({ codecs: [first = ''] }: MasterVariant) => ADDITIONAL_CODECS.test(first);
  const plain = variants.filter((variant) => !isFurther(variant));
  return [plain, variants.filter(isFurther)].flatMap(orderVariants);
}

/** Lines of the initial variant: sufficient on a phone, and within the bandwidth of most networks. */
const START_LINES = 720;

/**
 * Sorts the highest first, but the highest of at most 720 lines before all: players that try the first
 * variant first, as Safari does, start with it (docs/decisions/playback-and-tokens.md#rendition-order).
 * Variants without a size stay at the end.
 */
export function orderVariants<T extends { width: number; height: number }>(variants: readonly T[]): T[] {
  const lines = ({ width, height }: T) => Math.min(width, height);
  const descending = variants.toSorted((a, b) => lines(b) - lines(a));
  const pictures = descending.filter((variant) => lines(variant) > 0);
  const start = pictures.find((variant) => lines(variant) <= START_LINES) ?? pictures.at(-1);
  return descending.toSorted((a, b) => Number(b === start) - Number(a === start));
}

/** Appends a query to every URL of a master that `renderMaster` wrote without one. */
export function suffixMaster(master: string, uriSuffix: string): string {
  if (uriSuffix === '') return master;
  return master.replace(/^([a-z0-9_-]+\/index\.m3u8)$/gm, (uri) => uri + uriSuffix);
}

/**
 * Target duration of all media playlists. Constant from the start, because it must not change (RFC 8216
 * 6.2.1): longer keyframe intervals are an issue of the signal, so segments are no longer.
 */
export const TARGET_DURATION = 4;

/** Renders the master playlist for the time before the encoder has sent anything: a single `src` variant. */
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
