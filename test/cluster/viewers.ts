import { setTimeout as sleep } from 'node:timers/promises';
import { isOk, type Sample, sample } from './requests.ts';

const POLL_MS = 400;
/** Segments and parts, but not those that are only announced. */
const MEDIA = /^(?:#EXT-X-PART:.*URI="([^"]+)".*|(\.\.\/\S+\.m4s))$/gm;

/** Time without new media that ended at a time, both by `performance.now()`. */
interface Gap {
  fromMs: number;
  toMs: number;
}

/** Player that polls the playlist of a stream and fetches its newest media. */
export interface Viewer {
  samples: Sample[];
  /** Returns the longest time without new media in a period. */
  silenceMs(period: { fromMs: number; toMs: number }): number;
  /** Returns the time of the last new media, by `performance.now()`. */
  seenMs(): number;
  stop(): Promise<void>;
}

/** @param playlist URL of a media playlist. */
export function startViewer(playlist: string): Viewer {
  const samples: Sample[] = [];
  const gaps: Gap[] = [];
  let lastMs = performance.now();
  let newest = '';
  let isStopped = false;
  const get = async (url: string | URL) => {
    const response = await sample(String(url), { headers: { 'user-agent': 'player' } });
    samples.push(response.sample);
    return response;
  };
  const play = async () => {
    while (!isStopped) {
      const [, part, segment] = [...(await get(playlist)).text.matchAll(MEDIA)].at(-1) ?? [];
      const file = part ?? segment;
      if (file !== undefined && file !== newest && isOk((await get(new URL(file, playlist))).sample)) {
        newest = file;
        gaps.push({ fromMs: lastMs, toMs: performance.now() });
        lastMs = performance.now();
      }
      await sleep(POLL_MS);
    }
  };
  const played = play();
  return {
    samples,
    seenMs: () => lastMs,
    silenceMs({ fromMs, toMs }) {
      const all = [...gaps, { fromMs: lastMs, toMs: performance.now() }];
      const within = all.filter((gap) => gap.toMs > fromMs && gap.fromMs < toMs);
      return Math.max(0, ...within.map((gap) => gap.toMs - gap.fromMs));
    },
    async stop() {
      isStopped = true;
      await played;
    },
  };
}
