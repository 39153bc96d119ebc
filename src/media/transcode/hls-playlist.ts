export interface PrivateSegment {
  /** Index in `s_000012.m4s`. */
  index: number;
  file: string;
  durationSec: number;
}

export interface PrivatePlaylist {
  initFile: string | null;
  segments: PrivateSegment[];
}

/** Reads what ffmpeg's hls muxer writes; a line that is not understood is passed over. */
export function parsePrivatePlaylist(text: string): PrivatePlaylist {
  const segments: PrivateSegment[] = [];
  let initFile: string | null = null;
  let durationSec: number | null = null;
  for (const line of text.split('\n')) {
    if (line.startsWith('#EXT-X-MAP:')) {
      initFile = /URI="([a-z0-9_]+\.mp4)"/.exec(line)?.[1] ?? null;
    } else if (line.startsWith('#EXTINF:')) {
      durationSec = Number.parseFloat(line.slice(8));
    } else if (durationSec !== null) {
      const index = /^s_(\d+)\.m4s$/.exec(line.trim())?.[1];
      if (index === undefined || !Number.isFinite(durationSec)) continue;
      segments.push({ index: Number(index), file: line.trim(), durationSec });
      durationSec = null;
    }
  }
  return { initFile, segments };
}
