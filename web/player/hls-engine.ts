import Hls, { type ErrorData, ErrorDetails, ErrorTypes, Events, type HlsConfig } from 'hls.js';
import type { Engine, EngineEvent } from './playback.ts';
import { watchProgress } from './progress.ts';

const config: Partial<HlsConfig> = {
  // Our segments are fMP4, which needs no transmuxing worth a worker.
  enableWorker: false,
  liveSyncDurationCount: 3,
  liveMaxLatencyDurationCount: 10,
  // Catches up by playing 5 % faster, which nobody hears.
  maxLiveSyncPlaybackRate: 1.05,
  backBufferLength: 60,
  liveDurationInfinity: true,
  capLevelToPlayerSize: true,
};

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

/** Plays through Media Source Extensions. */
export function attachHls(
  video: HTMLVideoElement,
  src: string,
  report: (event: EngineEvent) => void,
): Engine {
  const hls = new Hls(config);
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
  hls.on(Events.FRAG_BUFFERED, () => {
    hasData = true;
  });
  const unwatch = watchProgress(video, report);
  hls.loadSource(src);
  hls.attachMedia(video);
  return {
    opaque: false,
    destroy: () => {
      unwatch();
      hls.destroy();
    },
  };
}
