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

/** RFC 8216 4.3.4. Variants are listed as given: best first, which is where Safari starts. */
export function renderMaster(variants: MasterVariant[], uriSuffix = ''): string {
  const lines = ['#EXTM3U', '#EXT-X-VERSION:7', '#EXT-X-INDEPENDENT-SEGMENTS'];
  for (const variant of variants) {
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

/** Puts a query after every address of a master that `renderMaster` wrote without one. */
export function suffixMaster(master: string, uriSuffix: string): string {
  if (uriSuffix === '') return master;
  return master.replace(/^([a-z0-9_-]+\/index\.m3u8)$/gm, (uri) => uri + uriSuffix);
}

/** What a player gets before the encoder has sent anything: only that there is a `src`. */
export function waitingMaster(uriSuffix = ''): string {
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
