import type Hls from 'hls.js';
import { Events, type FragChangedData, type Level } from 'hls.js';
import type { RenditionList } from './renditions.ts';

interface Size {
  width: number;
  height: number;
  bitrate: number;
}

/** Broadcast, whose encoder may change its resolution. */
interface BroadcastUpdates {
  /** Its master playlist. */
  src: string;
  /** Called when there are renditions that hls.js does not know: it reads the master playlist only once. */
  onOthers(): void;
}

/**
 * Offers the renditions with the current codecs: hls.js keeps the codecs it started with unless they fail.
 *
 * @param changing null for a video.
 * @returns a function that stops the updates.
 */
export function renderQualityMenu(
  hls: Hls,
  renditions: RenditionList,
  changing: BroadcastUpdates | null,
): () => void {
  let offered: readonly { level: Level; size: Size }[] = [];
  /** Sizes by the master playlist since the encoder changed its resolution. */
  let sizes: ReadonlyMap<string, Size> | null = null;
  const offer = (playing: Level | undefined) => {
    const found = hls.levels.flatMap((level) => {
      const size = sizes === null ? level : sizes.get(nameOf(level));
      return level.codecSet !== playing?.codecSet || size === undefined ? [] : [{ level, size }];
    });
    const isKnown =
      found.length === offered.length &&
      found.every(({ level, size }, at) => level === offered[at]?.level && size === offered[at]?.size);
    if (playing === undefined || isKnown) return;
    offered = found;
    renditions.replace(
      found.map(({ size: { width, height, bitrate } }, index) => ({
        id: String(index),
        width,
        height,
        bitrate,
      })),
    );
  };
  const offerNow = () => offer(hls.levels[hls.currentLevel] ?? hls.levels[hls.startLevel]);
  renditions.onSelect = (index) => {
    const chosen = offered[index]?.level;
    const level = chosen === undefined ? -1 : hls.levels.indexOf(chosen);
    if (level !== hls.manualLevel) hls.nextLevel = level;
  };
  hls.on(Events.MANIFEST_PARSED, () => {
    leaveSurroundOut(hls);
    offer(hls.levels[hls.startLevel]);
  });
  hls.on(Events.LEVEL_SWITCHED, (_event, { level }) => offer(hls.levels[level]));
  hls.on(Events.LEVELS_UPDATED, offerNow);
  const known = () => sizes?.get(SOURCE) ?? hls.levels.find((level) => nameOf(level) === SOURCE);
  const unfollow =
    changing === null
      ? () => {}
      : followSize(hls, changing.src, known, (found) => {
          sizes = found;
          offerNow();
          const names = hls.levels.map(nameOf);
          if ([...found.keys()].some((name) => !names.includes(name))) changing.onOthers();
        });
  return () => {
    unfollow();
    renditions.onSelect = () => {};
  };
}

/** Name of the passthrough rendition, which every broadcast has. */
const SOURCE = 'src';

function nameOf({ uri }: Level): string {
  return /([^/]+)\/index\.m3u8/.exec(uri)?.[1] ?? '';
}

/**
 * Reloads the master playlist when the viewer reaches a discontinuity, where the encoder's signal may change.
 *
 * @returns a function that stops this.
 */
function followSize(
  hls: Hls,
  src: string,
  known: () => Pick<Size, 'width' | 'height'> | undefined,
  onChanged: (found: ReadonlyMap<string, Size>) => void,
): () => void {
  /** Number of the current discontinuity; null before the first frame. */
  let part: number | null = null;
  const look = async () => {
    const asked = part;
    const found = await readMaster(src).catch(() => new Map<string, Size>());
    const [size, former] = [found.get(SOURCE), known()];
    if (size === undefined || asked !== part) return;
    if (size.width !== former?.width || size.height !== former.height) onChanged(found);
  };
  const onFragment = (_event: Events.FRAG_CHANGED, { frag: { cc } }: FragChangedData) => {
    if (cc === part) return;
    // A page opened before the encoder sent anything knows no resolution.
    const isKnown = part === null && (known()?.height ?? 0) > 0;
    part = cc;
    if (!isKnown) void look();
  };
  hls.on(Events.FRAG_CHANGED, onFragment);
  return () => {
    part = Number.NaN;
    hls.off(Events.FRAG_CHANGED, onFragment);
  };
}

async function readMaster(src: string): Promise<Map<string, Size>> {
  const answer = await fetch(src, { cache: 'no-store' });
  return answer.ok ? sizesOf(await answer.text()) : new Map();
}

/** The qualities of a broadcast's master playlist, by the folders of their playlists. */
export function sizesOf(master: string): Map<string, Size> {
  const found = master.matchAll(/^#EXT-X-STREAM-INF:(.*)\r?\n([^/\s]+)\/index\.m3u8/gm);
  return new Map(
    [...found].map(([, attributes = '', name = '']) => {
      const [, width, height] = /RESOLUTION=(\d+)x(\d+)/.exec(attributes) ?? [];
      const [, bitrate] = /(?:^|,)BANDWIDTH=(\d+)/.exec(attributes) ?? [];
      return [
        name,
        { width: Number(width ?? 0), height: Number(height ?? 0), bitrate: Number(bitrate ?? 0) },
      ];
    }),
  );
}

/** Name of the master playlist's audio group that needs more than two speakers. */
const SURROUND = 'surround';

/**
 * Removes surround variants. They would be separate renditions of the same video chosen by bandwidth,
 * although most browsers mix them down to two channels.
 */
function leaveSurroundOut(hls: Hls): void {
  const isSurround = ({ audioGroups }: Level) => audioGroups?.every((group) => group === SURROUND) === true;
  if (hls.levels.every(isSurround)) return;
  const first = hls.levels[hls.firstLevel];
  for (let index = hls.levels.length - 1; index >= 0; index -= 1) {
    const level = hls.levels[index];
    if (level !== undefined && isSurround(level)) hls.removeLevel(index);
  }
  // hls.js stores the first level as an index into the list.
  if (first !== undefined) hls.firstLevel = Math.max(0, hls.levels.indexOf(first));
}
