import Hls, { type ErrorData, ErrorDetails, ErrorTypes, Events, type HlsConfig } from 'hls.js';
import type { Engine, EngineEvent } from './playback.ts';
import { watchProgress } from './progress.ts';
import type { RenditionList } from './renditions.ts';

const common: Partial<HlsConfig> = {
  // Our segments are fMP4, which needs no transmuxing worth a worker.
  enableWorker: false,
  backBufferLength: 60,
  capLevelToPlayerSize: true,
};
const broadcastConfig: Partial<HlsConfig> = {
  ...common,
  // How far behind it stays, the playlist says: liveSyncDurationCount here would overrule it.
  // Catches up by playing 5 % faster, which nobody hears.
  maxLiveSyncPlaybackRate: 1.05,
  liveDurationInfinity: true,
};
/** Who is so much further behind than a playlist of parts says does not catch up by playing faster, but goes there. */
const FAR_BEHIND_SEC = 5;
const FAR_BEHIND_SEGMENTS = 10;

/** What playing a video takes beside its address. */
export interface VideoOptions {
  /** Second at which to begin, asked when loading does. */
  startSec(): number;
  /** Load the first seconds before anybody has asked to play. */
  isEager: boolean;
  renditions: RenditionList;
}

const MISSING: ReadonlySet<number> = new Set([401, 403, 404, 410]);
const PLAYLIST_ERRORS: ReadonlySet<string> = new Set([
  ErrorDetails.MANIFEST_LOAD_ERROR,
  ErrorDetails.LEVEL_LOAD_ERROR,
  ErrorDetails.AUDIO_TRACK_LOAD_ERROR,
]);
const UNSUPPORTED: ReadonlySet<string> = new Set([
  ErrorDetails.MANIFEST_INCOMPATIBLE_CODECS_ERROR,
  ErrorDetails.BUFFER_INCOMPATIBLE_CODECS_ERROR,
  ErrorDetails.BUFFER_ADD_CODEC_ERROR,
]);
/** A second decoder failure so soon means that the first remedy did not help. */
const RECOVERY_MS = 5000;

export function canUseHls(): boolean {
  return Hls.isSupported();
}

/** Plays through Media Source Extensions; a broadcast, where no options of a video are given. */
export function attachHls(
  video: HTMLVideoElement,
  src: string,
  report: (event: EngineEvent) => void,
  options: VideoOptions | null,
): Engine {
  const hls = new Hls(options === null ? broadcastConfig : videoConfig(options));
  let hasData = false;
  let recoveredAt = Number.NEGATIVE_INFINITY;
  // hls.js goes on using itself after it has told of an error; what destroys it must wait for that.
  const tell = (event: EngineEvent) => queueMicrotask(() => report(event));

  const recover = () => {
    const now = performance.now();
    if (now - recoveredAt < RECOVERY_MS) return tell('media');
    recoveredAt = now;
    hls.recoverMediaError();
  };
  const onError = (_event: Events.ERROR, error: ErrorData) => {
    if (PLAYLIST_ERRORS.has(error.details) && MISSING.has(error.response?.code ?? 0)) return tell('gone');
    if (error.details === ErrorDetails.LEVEL_EMPTY_ERROR && !hasData) return tell('empty');
    if (!error.fatal) return;
    if (UNSUPPORTED.has(error.details)) return tell('unsupported');
    if (error.type === ErrorTypes.NETWORK_ERROR) return tell('network');
    if (error.type === ErrorTypes.MEDIA_ERROR) return recover();
    tell('media');
  };

  hls.on(Events.ERROR, onError);
  hls.config.liveMaxLatencyDurationCount = FAR_BEHIND_SEGMENTS;
  hls.on(Events.LEVEL_LOADED, (_event, { details: { partHoldBack } }) => {
    if (partHoldBack > 0) hls.config.liveMaxLatencyDuration = partHoldBack + FAR_BEHIND_SEC;
  });
  hls.on(Events.FRAG_BUFFERED, () => {
    hasData = true;
  });
  // Its playlist was complete: the broadcast has stopped, and this was the rest. A video can be played again.
  const onEnded = () => tell('gone');
  if (options === null) video.addEventListener('ended', onEnded);
  const unwatch = watchProgress(video, report);
  const undo = options === null ? () => {} : prepareVideo(hls, video, options, tell);
  hls.loadSource(src);
  hls.attachMedia(video);
  return {
    opaque: false,
    destroy: () => {
      unwatch();
      video.removeEventListener('ended', onEnded);
      undo();
      hls.destroy();
    },
  };
}

function videoConfig({ startSec, isEager }: VideoOptions): Partial<HlsConfig> {
  return { ...common, startPosition: startSec(), autoStartLoad: isEager };
}

/** The choice of quality, and the wait for a viewer who wants to play. @returns what undoes it. */
function prepareVideo(
  hls: Hls,
  video: HTMLVideoElement,
  { startSec, isEager, renditions }: VideoOptions,
  tell: (event: EngineEvent) => void,
): () => void {
  const onPlay = () => hls.startLoad(startSec());
  if (!isEager) video.addEventListener('play', onPlay, { once: true });
  hls.on(Events.MANIFEST_PARSED, (_event, { levels }) => {
    renditions.onSelect = (index) => {
      hls.nextLevel = index;
    };
    renditions.replace(
      levels.map(({ width, height, bitrate }, index) => ({ id: String(index), width, height, bitrate })),
    );
    // There is no picture until somebody wants to play; the poster stands for it.
    if (!isEager) tell('ready');
  });
  return () => {
    video.removeEventListener('play', onPlay);
    renditions.onSelect = () => {};
  };
}
